/** Tasks by filters, page by page: no listing is ever held whole unless it is asked for. */
import type { Fairloom } from '../../client/client.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { Page, PageRequest } from '../../domain/port/inspection.ts';
import { TASK_STATES, type TaskState } from '../../domain/task/task.ts';
import { STATES_BY_INTEREST } from '../../search/search.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { Output, View } from '../terminal/output.ts';

/** What may be said about the tasks that are meant. */
export interface TaskFilterOptions {
  readonly state?: TaskState;
  readonly queue?: string;
  readonly user?: string;
  readonly name?: string;
  /** In the filter language, in place of the others. */
  readonly where?: string;
  /** With input and result. */
  readonly values?: boolean;
}

/** Rows of one trip to the backend. */
const PAGE = 200;

/** Tasks in the order of their state's index; without a state those of all, living ones first. */
export async function* selectTasks(
  loom: Fairloom,
  filter: TaskFilterOptions,
): AsyncGenerator<TaskInfo> {
  const { state, where, ...rest } = filter;
  if (where !== undefined) return yield* foundTasks(loom, { ...filter, where });
  const states =
    state === undefined ? STATES_BY_INTEREST : TASK_STATES.filter((one) => one === state);
  for (const one of states) {
    if (one === 'queued' && rest.user === undefined) yield* queuedTasks(loom, rest);
    else yield* rowsOf((page) => loom.tasks.list({ ...rest, ...page, state: one }));
  }
}

/** The same for a listing of so many rows, and what is to be told when not all of them were looked at. */
export function searched(
  loom: Fairloom,
  { where, ...filter }: TaskFilterOptions,
  limit: number,
): { readonly found: AsyncIterable<TaskInfo>; readonly note: (output: Output) => void } {
  let bound: number | undefined;
  const stop = (most: number): void => {
    bound = most;
  };
  const note = (output: Output): void => {
    if (bound === undefined) return;
    output.note(`only the first ${bound} tasks were searched; --limit all goes on to the end`);
  };
  if (where === undefined) return { found: selectTasks(loom, filter), note };
  const isAll = limit === Number.POSITIVE_INFINITY;
  return { found: foundTasks(loom, { where, ...filter }, isAll ? undefined : stop), note };
}

/**
 * What a filter finds, to the end; with `stop` no further than one search looks, and it is told of its bound
 * then.
 */
export async function* foundTasks(
  loom: Fairloom,
  { values, ...filter }: TaskFilterOptions & { readonly where: string },
  stop?: (bound: number) => void,
): AsyncGenerator<TaskInfo> {
  const others = Object.values(filter).filter((one) => one !== undefined);
  if (others.length > 1) {
    throw new CliError(EXIT.usage, '--where or other filters, not both: it has words for them');
  }
  const { where } = filter;
  for (let cursor: string | undefined; ; ) {
    const page = await loom.tasks.search({ where, limit: PAGE, cursor, values });
    yield* page.items;
    ({ cursor } = page);
    if (page.bound !== undefined && stop !== undefined) return stop(page.bound);
    if (cursor === undefined) return;
  }
}

/** Leaves out joins, groups and runs, which no caller enqueued as tasks: `fairloom runs` shows them. */
export async function* shownOf<T extends { readonly name: string }>(
  tasks: AsyncIterable<T>,
  all = false,
): AsyncGenerator<T> {
  for await (const task of tasks) if (all || !task.name.startsWith('~')) yield task;
}

/** The first so many, and whether there are more. */
export async function take<T>(
  items: AsyncIterable<T>,
  limit: number,
): Promise<{ readonly items: readonly T[]; readonly more: boolean }> {
  const taken: T[] = [];
  for await (const item of items) {
    if (taken.length === limit) return { items: taken, more: true };
    taken.push(item);
  }
  return { items: taken, more: false };
}

/** Writes the first so many rows of a listing, and says when there are more. */
export async function showFirst<Row>(
  output: Output,
  rows: AsyncIterable<Row>,
  { limit, view }: { readonly limit: number; readonly view: View<Row> },
): Promise<void> {
  const { items, more } = await take(rows, limit);
  output.rows(items, view);
  if (more) output.note('there are more; --limit <n> or --limit all shows them');
}

/** Every row of a listing, one page after the other. */
export async function* rowsOf<T>(read: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<T> {
  for await (const { items } of allPages(PAGE, read)) yield* items;
}

/** Queued tasks are listed per user, so the users of each queue come first. */
async function* queuedTasks(
  loom: Fairloom,
  filter: Omit<TaskFilterOptions, 'state' | 'user'>,
): AsyncGenerator<TaskInfo> {
  const queues = filter.queue === undefined ? await queueNames(loom) : [filter.queue];
  for (const queue of queues) {
    for await (const user of usersInLine(loom, queue)) {
      yield* rowsOf((page) =>
        loom.tasks.list({ ...filter, ...page, state: 'queued', queue, user }),
      );
    }
  }
}

/** Names of the users that have a task in line in a queue. */
export async function* usersInLine(loom: Fairloom, queue: string): AsyncGenerator<string> {
  const all = rowsOf((page) => loom.users.list({ ...page, queue, configured: false }));
  for await (const { user, queued } of all) if (queued > 0) yield user;
}

async function queueNames(loom: Fairloom): Promise<readonly string[]> {
  return (await loom.queues.list()).map(({ queue }) => queue);
}
