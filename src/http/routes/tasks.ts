/** Routes of tasks. */
import type { Fairloom } from '../../client/client.ts';
import { errorGroupOption } from '../../client/facades/error-groups.ts';
import { InvalidOptionError, TaskNotFoundError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import type { TaskDetails } from '../../shapes/shapes.ts';
import type { ErrorGroupPage } from '../calls/answers.ts';
import { choice, integer, text } from '../calls/fields.ts';
import { demandGroups, demandShownError, demandShownWhere } from '../calls/hidden-words.ts';
import { narrowAttempts, narrowExplanation, narrowTasks } from '../calls/narrow.ts';
import { ownDependentFacts, ownDependents } from '../calls/own-dependents.ts';
import { ownGroups } from '../calls/own-groups.ts';
import { searchSeen } from '../calls/own-search.ts';
import { demandSeen, pageSeen } from '../calls/owned.ts';
import { PAGE_FIELDS, pageOf } from '../calls/paging.ts';
import { type RawCall, type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';

const NAME = text('With this name, as `resize`, or `resize@2` for those that keep a version.');

const FROM = integer('The first that is wanted; what a page before gave as `next`.', {
  least: 0,
  most: Number.MAX_SAFE_INTEGER,
});

/** Lines or chunks that one page has at most. */
const ITEMS = LIMITS.pageMax;

/** `/tasks` and `/dead` */
export const TASK_ROUTES: readonly Route[] = [
  route('GET /tasks', {
    summary: 'Tasks that a filter means; or those in one state, in the order of that state.',
    users: 'rows',
    query: {
      where: text('The filter, as `state:failed age:>1h`. Not beside the others.'),
      state: choice('Where they stand; needed without `where`.', TASK_STATES),
      queue: text('Of this queue.'),
      user: text('Of this user; needed for `queued`.'),
      name: NAME,
      ...PAGE_FIELDS,
    },
    answer: async (call) => {
      const { loom, view, query } = call;
      const { where, state, queue, name, user: asked } = query;
      if (where !== undefined) {
        const beside = state ?? queue ?? name ?? asked;
        if (beside !== undefined) throw new InvalidOptionError('where', 'the filter alone', beside);
        demandShownWhere(call.api, where);
        const found = await searchSeen(call, where, pageOf(query));
        return { ...found, items: await narrowTasks(loom, view, found.items) };
      }
      if (state === undefined) throw new InvalidOptionError('where', 'a filter, or a state', where);
      const page = await pageSeen(call, asked, pageOf(query), (user, part) =>
        loom.tasks.list({ state, queue, name, user, ...part }),
      );
      return { ...page, items: await narrowTasks(loom, view, page.items) };
    },
  }),
  route('GET /tasks/{id}', {
    summary: 'Everything that is known about one task, with its attempts.',
    users: 'subject',
    answer: async (call) => details(call, call.path.get('id')),
  }),
  route('GET /tasks/{id}/attempts', {
    summary: 'Attempts of one task.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandStored(loom, view, id);
      return { items: narrowAttempts(view, await loom.tasks.attempts(id)) };
    },
  }),
  route('GET /tasks/{id}/logs', {
    summary: 'Lines of the log of one task.',
    users: 'subject',
    query: { from: FROM },
    answer: async ({ loom, view, path, query }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { from = 0 } = query;
      return rowsFrom(from, loom.tasks.logs(id, { from }));
    },
  }),
  route('GET /tasks/{id}/explain', {
    summary: 'Why a task does not run now, or what became of it.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      return narrowExplanation(view, await loom.tasks.explain(id));
    },
  }),
  route('GET /tasks/{id}/dependents', {
    summary: 'Who waits for a task.',
    users: 'subject',
    query: PAGE_FIELDS,
    answer: async (call) => {
      const { loom, view, path, query } = call;
      const id = path.get('id');
      await demandStored(loom, view, id);
      if (view.users !== undefined) return ownDependents(call, id, pageOf(query));
      const { items, count, cursor } = await loom.tasks.dependents(id, pageOf(query));
      return { items, count, ...(cursor === undefined ? {} : { cursor }) };
    },
  }),
  route('GET /tasks/{id}/streams', {
    summary: 'The streams of one task.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandStored(loom, view, id);
      return { items: await loom.streams.list(id) };
    },
  }),
  route('GET /tasks/{id}/streams/{name}', {
    summary: 'What a task has written to one of its streams.',
    users: 'subject',
    query: { from: FROM },
    answer: async ({ loom, view, path, query }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { from = 0 } = query;
      return rowsFrom(from, loom.streams.read(id, path.get('name'), { from, follow: false }));
    },
  }),
  route('GET /dead', {
    summary: 'Failed tasks, the oldest failure first, without those that only followed another.',
    users: 'rows',
    query: {
      queue: text('Of this queue.'),
      user: text('Of this user.'),
      name: NAME,
      error: text(
        'Of the error group with this id; a `where` of `GET /tasks` finds the name of an error.',
      ),
      ...PAGE_FIELDS,
    },
    answer: async (call) => {
      const { loom, view, query } = call;
      const { queue, name, error, user: asked } = query;
      demandShownError(call.api, error);
      if (error !== undefined) errorGroupOption(error);
      const page = await pageSeen(call, asked, pageOf(query), (user, part) =>
        loom.dead.list({ queue, name, error, user, ...part }),
      );
      return { ...page, items: await narrowTasks(loom, view, page.items) };
    },
  }),
  route('GET /dead/groups', {
    summary:
      'What tasks failed with: errors that differ in nothing but ids and numbers are one group.',
    users: 'rows',
    query: { group: text('This one alone, wherever it stands.'), ...PAGE_FIELDS },
    answer: async ({ loom, view, look, query, api }) => {
      demandGroups(api);
      const { group } = query;
      if (group !== undefined) errorGroupOption(group, 'group');
      if (view.users !== undefined) {
        return ownGroups({ loom, users: view.users, look, group }, pageOf(query));
      }
      return group === undefined ? loom.dead.groups(pageOf(query)) : groupNamed(loom, group);
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
  caller: Pick<RawCall, 'loom' | 'view' | 'look'>,
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
