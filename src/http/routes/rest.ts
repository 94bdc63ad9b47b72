/** Routes of the whole: what this is, the overview, schedules, questions, versions, workers. */
import type { Fairloom } from '../../client/client.ts';
import { coreOf } from '../../client/client.ts';
import type { AskInfo } from '../../client/facades/asks-facade.ts';
import { backendFacts } from '../../client/health.ts';
import { AskNotFoundError, ScheduleNotFoundError } from '../../domain/errors/errors.ts';
import type { Page, PageRequest } from '../../domain/port/backend.ts';
import type { ScheduleInfo } from '../../schedules/schedule-info.ts';
import type { Overview } from '../calls/answers.ts';
import { auditPage } from '../calls/audit.ts';
import { integer, text } from '../calls/fields.ts';
import { firingsOf } from '../calls/firings.ts';
import { pageOfOwn } from '../calls/own-pages.ts';
import { pageSeen } from '../calls/owned.ts';
import { packageVersion } from '../calls/package.ts';
import { PAGE_FIELDS, pageOf } from '../calls/paging.ts';
import { type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';
import { ownRows } from './users.ts';

/** What there is beside the routes of every version. */
const FEATURES: readonly string[] = ['search', 'errors', 'series', 'history', 'bulk'];

/** Slots that `next` tells unless asked otherwise, and at most. */
const NEXT = { usual: 5, most: 1_000 };

/** Slots that `history` tells unless asked otherwise, and at most. */
const PAST = { usual: 20, most: 100 };

/** Those that belong to nothing larger. */
export const REST_ROUTES: readonly Route[] = [
  route('GET /', {
    summary: 'What this API is, and what the caller may do.',
    users: 'none',
    answer: async ({ loom, view, api }) => {
      const { connection } = coreOf(loom);
      const { description } = await connection.info();
      // What is wrong there tells of the store as a whole.
      const { problems } = view.users === undefined ? await loom.health() : {};
      return {
        version: packageVersion(),
        backend: description,
        store: backendFacts(connection.backend),
        ...(problems === undefined ? {} : { problems }),
        ...(api.namespace === undefined ? {} : { namespace: api.namespace }),
        can: view.can,
        ...(view.users === undefined ? {} : { users: view.users }),
        hidesPayloads: api.hidesPayloads,
        features: FEATURES.filter((one) => one !== 'errors' || !api.hidesWords),
      };
    },
  }),
  route('GET /overview', {
    summary: 'The whole at a glance.',
    users: 'rows',
    answer: async ({ loom, view, now }) => overview(loom, view, now),
  }),
  route('GET /schedules', {
    summary: 'Schedules, by name.',
    users: 'rows',
    query: PAGE_FIELDS,
    answer: async ({ loom, view, look, query }) => {
      const read = (page: PageRequest): Promise<Page<ScheduleInfo>> => loom.schedules.list(page);
      if (view.users === undefined) return read(pageOf(query));
      const sees = ({ user }: ScheduleInfo): boolean => view.sees(user);
      return pageOfOwn([{ read, sees }], pageOf(query), look);
    },
  }),
  route('GET /schedules/{id}', {
    summary: 'One schedule.',
    users: 'subject',
    answer: async ({ loom, view, path }) => demandSchedule(loom, view, path.get('id')),
  }),
  route('GET /schedules/{id}/next', {
    summary: 'The slots of a schedule that come next.',
    users: 'subject',
    query: {
      count: integer(`How many; ${NEXT.usual} unless it is said.`, { least: 1, most: NEXT.most }),
    },
    answer: async ({ loom, view, path, query }) => {
      const { id } = await demandSchedule(loom, view, path.get('id'));
      const slots = await loom.schedules.next(id, query.count ?? NEXT.usual);
      return { id, slots: slots.map((slot) => slot.getTime()) };
    },
  }),
  route('GET /schedules/{id}/history', {
    summary: 'The slots of a schedule that came last, with what became of their tasks.',
    users: 'subject',
    query: {
      count: integer(`How many; ${PAST.usual} unless it is said.`, { least: 1, most: PAST.most }),
    },
    answer: async ({ loom, view, path, query, now }) => {
      const schedule = await demandSchedule(loom, view, path.get('id'));
      const { count = PAST.usual } = query;
      return { id: schedule.id, items: await firingsOf(loom, schedule, { count, now }) };
    },
  }),
  route('GET /asks', {
    summary: 'Open questions, the oldest first.',
    users: 'rows',
    query: {
      user: text('Of tasks of this user.'),
      for: text('That are for this name.'),
      ...PAGE_FIELDS,
    },
    answer: async (call) =>
      pageSeen(call, call.query.user, pageOf(call.query), (user, part) =>
        call.loom.asks.list({ user, for: call.query.for, ...part }),
      ),
  }),
  route('GET /asks/{id}', {
    summary: 'One question, open or closed.',
    users: 'subject',
    answer: async ({ loom, view, path }) => demandAsk(loom, view, path.get('id')),
  }),
  route('GET /versions', {
    summary:
      'What each version of each task still holds, so that a deploy knows when old workers may go.',
    users: 'whole',
    query: { limit: integer('Tasks that are looked at, at most.', { least: 1, most: 100_000 }) },
    answer: async ({ loom, query }) => loom.versions({ limit: query.limit }),
  }),
  route('GET /audit', {
    summary: 'Changes that were asked for over HTTP, the newest first.',
    users: 'whole',
    query: PAGE_FIELDS,
    answer: async ({ loom, query }) => auditPage(loom, pageOf(query)),
  }),
  route('GET /workers', {
    summary: 'Every live worker, wherever it runs.',
    users: 'whole',
    answer: async ({ loom }) => ({ items: await loom.workers.list() }),
  }),
];

/** @throws {@link ScheduleNotFoundError} also for one of another user. */
export async function demandSchedule(
  loom: Fairloom,
  view: View,
  id: string,
): Promise<ScheduleInfo> {
  const schedule = await loom.schedules.get(id);
  if (schedule === undefined || !view.sees(schedule.user)) throw new ScheduleNotFoundError(id);
  return schedule;
}

/** @throws {@link AskNotFoundError} also for one of another user. */
export async function demandAsk(loom: Fairloom, view: View, id: string): Promise<AskInfo> {
  const ask = await loom.asks.get(id);
  if (ask === undefined || !view.sees(ask.user)) throw new AskNotFoundError(id);
  return ask;
}

async function overview(loom: Fairloom, view: View, at: number): Promise<Overview> {
  if (view.users !== undefined) return { at, users: await ownRows(loom, view) };
  const queues = await loom.queues.list();
  const { inspect } = await coreOf(loom).connection.open();
  const [{ problems }, stats, waiting, workers, lagMs] = await Promise.all([
    inspect.ping(),
    loom.stats(),
    loom.tasks.waiting(),
    loom.workers.list(),
    loom.schedules.lag(),
  ]);
  return {
    at,
    ...stats,
    dead: queues.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    waiting,
    queues,
    workers: workers.length,
    slots: workers.reduce((sum, { concurrency }) => sum + concurrency, 0),
    lagMs,
    ...(problems === undefined ? {} : { problems }),
  };
}
