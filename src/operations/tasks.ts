/** Operations that look at tasks, their logs and streams, and at failed tasks. */
import type { Fairloom } from '../client/client.ts';
import { errorGroupOption } from '../client/facades/error-groups.ts';
import { InvalidOptionError, TaskNotFoundError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { allPages } from '../domain/port/all-pages.ts';
import { TASK_STATES } from '../domain/task/task.ts';
import type { ErrorGroupPage, TaskDetails } from './answers.ts';
import { COUNT_OR_NONE, choice, integer, text } from './fields.ts';
import { demandGroups, demandShownError, demandShownWhere } from './hidden-words.ts';
import { narrowAttempts, narrowExplanation, narrowTasks } from './narrow.ts';
import { type Around, type Operation, operation } from './operation.ts';
import { ownDependentFacts, ownDependents } from './own-dependents.ts';
import { ownGroups } from './own-groups.ts';
import { searchSeen } from './own-search.ts';
import { demandSeen, pageSeen } from './owned.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import type { View } from './view.ts';

/** Which tasks of a queue, user or name. */
const FILTERS = {
  queue: text('Of this queue.', 'name'),
  user: text('Of this user.', 'id'),
  name: text('With this name, as `resize`, or `resize@2` for those that keep a version.', 'name'),
} as const;

const FROM = integer(
  'The first that is wanted; what a page before gave as `next`.',
  COUNT_OR_NONE,
  'offset',
);

/** Lines or chunks that one page has at most. */
const ITEMS = LIMITS.pageMax;

/** `tasks …`, `streams …`, `dead …` */
export const TASK_OPERATIONS: readonly Operation[] = [
  operation('tasks.list', {
    http: 'GET /tasks',
    command: 'tasks list',
    help: 'Tasks that match a filter, or those in one state, in the order of their turns, due times or ends.',
    users: 'rows',
    input: {
      where: text(
        'That match this filter, as `state:failed age:>1h`; in place of the others.',
        'filter',
      ),
      state: choice('In this state.', TASK_STATES, 'state'),
      ...FILTERS,
      ...PAGE_FIELDS,
    },
    run: async (call) => {
      const { loom, view, input } = call;
      const { where, state, queue, name, user: asked } = input;
      if (where !== undefined) {
        const beside = state ?? queue ?? name ?? asked;
        if (beside !== undefined) throw new InvalidOptionError('where', 'the filter alone', beside);
        demandShownWhere(call.api, where);
        const found = await searchSeen(call, where, pageOf(input));
        return { ...found, items: await narrowTasks(loom, view, found.items) };
      }
      if (state === undefined) throw new InvalidOptionError('where', 'a filter, or a state', where);
      const page = await pageSeen(call, asked, pageOf(input), (user, some) =>
        loom.tasks.list({ state, queue, name, user, ...some }),
      );
      return { ...page, items: await narrowTasks(loom, view, page.items) };
    },
  }),
  operation('tasks.get', {
    http: 'GET /tasks/{id}',
    command: 'tasks get <id>',
    help: 'Everything that is known about one task, and its attempts.',
    users: 'subject',
    run: async (call) => details(call, call.input.id),
  }),
  operation('tasks.attempts', {
    http: 'GET /tasks/{id}/attempts',
    help: 'The attempts of a task.',
    users: 'subject',
    run: async ({ loom, view, input: { id } }) => {
      await demandStored(loom, view, id);
      return { items: narrowAttempts(view, await loom.tasks.attempts(id)) };
    },
  }),
  operation('tasks.logs', {
    http: 'GET /tasks/{id}/logs',
    command: 'tasks logs <id>',
    help: 'The lines that handlers of a task have logged, as far as they are kept.',
    users: 'subject',
    input: { from: FROM },
    run: async ({ loom, view, input: { id, from = 0 } }) => {
      await demandSeen(loom, view, id);
      return rowsFrom(from, loom.tasks.logs(id, { from }));
    },
  }),
  operation('tasks.explain', {
    http: 'GET /tasks/{id}/explain',
    command: 'tasks explain <id>',
    help: 'Why a task does not run now, or how it ended, and what would help.',
    users: 'subject',
    run: async ({ loom, view, input: { id } }) => {
      await demandSeen(loom, view, id);
      return narrowExplanation(view, await loom.tasks.explain(id));
    },
  }),
  operation('tasks.dependents', {
    http: 'GET /tasks/{id}/dependents',
    command: 'tasks dependents <id>',
    help: 'The tasks that wait for a task; those held for a redrive last.',
    users: 'subject',
    input: PAGE_FIELDS,
    run: async (call) => {
      const { loom, view, input } = call;
      await demandStored(loom, view, input.id);
      if (view.users !== undefined) return ownDependents(call, input.id, pageOf(input));
      const { items, count, cursor } = await loom.tasks.dependents(input.id, pageOf(input));
      return { items, count, ...(cursor === undefined ? {} : { cursor }) };
    },
  }),
  operation('streams.list', {
    http: 'GET /tasks/{id}/streams',
    command: 'streams list <id>',
    help: 'The streams of a task or run.',
    users: 'subject',
    run: async ({ loom, view, input: { id } }) => {
      await demandStored(loom, view, id);
      return { items: await loom.streams.list(id) };
    },
  }),
  operation('streams.read', {
    http: 'GET /tasks/{id}/streams/{name}',
    command: 'streams read <id> <name>',
    help: 'What a task has written to one of its streams, chunk by chunk.',
    users: 'subject',
    input: { from: FROM },
    run: async ({ loom, view, input: { id, name, from = 0 } }) => {
      await demandSeen(loom, view, id);
      return rowsFrom(from, loom.streams.read(id, name, { from, follow: false }));
    },
  }),
  operation('dead.list', {
    http: 'GET /dead',
    command: 'dead list',
    help: 'Failed tasks, the oldest failure first, without those that only followed another.',
    users: 'rows',
    input: {
      ...FILTERS,
      error: text('Of this error group; `dead groups` and `GET /dead/groups` list them.', 'group'),
      ...PAGE_FIELDS,
    },
    run: async (call) => {
      const { loom, view, input } = call;
      const { queue, name, error, user: asked } = input;
      demandShownError(call.api, error);
      if (error !== undefined) errorGroupOption(error);
      const page = await pageSeen(call, asked, pageOf(input), (user, some) =>
        loom.dead.list({ queue, name, error, user, ...some }),
      );
      return { ...page, items: await narrowTasks(loom, view, page.items) };
    },
  }),
  operation('dead.groups', {
    http: 'GET /dead/groups',
    command: 'dead groups',
    help: 'What tasks failed with: errors that differ in nothing but ids and numbers are one group.',
    users: 'rows',
    input: { group: text('This group alone.', 'group'), ...PAGE_FIELDS },
    run: async ({ loom, view, look, input, api }) => {
      demandGroups(api);
      const { group } = input;
      if (group !== undefined) errorGroupOption(group, 'group');
      if (view.users !== undefined) {
        return ownGroups({ loom, users: view.users, look, group }, pageOf(input));
      }
      return group === undefined ? loom.dead.groups(pageOf(input)) : groupNamed(loom, group);
    },
  }),
];

/** One error group out of all of them; no index has them by name, and there are never many. */
async function groupNamed(loom: Fairloom, group: string): Promise<ErrorGroupPage> {
  const pages = allPages(LIMITS.pageMax, (page) => loom.dead.groups(page));
  for await (const { items } of pages) {
    const found = items.find(({ id }) => id === group);
    if (found !== undefined) return { items: [found] };
  }
  return { items: [] };
}

/** One task with its attempts. */
async function details(
  caller: Pick<Around, 'loom' | 'view' | 'look'>,
  id: string,
): Promise<TaskDetails> {
  const { loom, view } = caller;
  await demandSeen(loom, view, id);
  const [task, attempts] = await Promise.all([loom.tasks.get(id), loom.tasks.attempts(id)]);
  if (task === undefined) throw new TaskNotFoundError(id);
  const [narrow] = await narrowTasks(loom, view, [task]);
  const { dependents } = task;
  const own = view.users !== undefined && dependents !== undefined && dependents.count > 0;
  return {
    ...(narrow ?? task),
    ...(dependents && { dependents: own ? await ownDependentFacts(caller, id) : dependents }),
    attempts: narrowAttempts(view, attempts),
  };
}

/** Of what answers with nothing for an id that is not stored. */
async function demandStored(loom: Fairloom, view: View, id: string): Promise<void> {
  if (view.users !== undefined) return demandSeen(loom, view, id);
  if ((await loom.tasks.get(id)) === undefined) throw new TaskNotFoundError(id);
}

/** The first of what is read from a place on, and where to go on. */
async function rowsFrom<T extends { readonly next: number }>(
  from: number,
  rows: AsyncIterable<T>,
): Promise<{ readonly items: readonly T[]; readonly next: number }> {
  const items: T[] = [];
  for await (const row of rows) {
    items.push(row);
    if (items.length === ITEMS) break;
  }
  return { items, next: items.at(-1)?.next ?? from };
}
