/** Operations on the whole store: what it is, what is in it, workers, versions, series, the audit. */
import { coreOf, type Fairloom } from '../client/client.ts';
import { backendFacts } from '../client/health.ts';
import type { Overview } from './answers.ts';
import { auditPage } from './audit.ts';
import { ownUser } from './enqueue.ts';
import { choice, integer, moment, text } from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { packageVersion } from './package.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import { ownRows } from './users.ts';
import type { View } from './view.ts';

/** What there is beside the routes of every version. */
const FEATURES: readonly string[] = ['search', 'errors', 'series', 'history', 'bulk'];

/** Those that belong to nothing smaller. */
export const STORE_OPERATIONS: readonly Operation[] = [
  operation('about', {
    http: 'GET /',
    help: 'What this API is, and what the caller may do.',
    users: 'none',
    run: async ({ loom, view, api }) => {
      const { connection } = coreOf(loom);
      const { description } = await connection.info();
      // Problems tell of the store as a whole.
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
  operation('overview', {
    http: 'GET /overview',
    help: 'Counts, queues and workers of the store at one moment.',
    users: 'rows',
    run: async ({ loom, view, now }) => overview(loom, view, now),
  }),
  operation('series', {
    http: 'GET /series',
    command: 'series',
    help: 'What happened by the minute or hour: tasks, how long they waited and ran.',
    users: 'rows',
    input: {
      step: choice(
        'By minutes, which are kept for a day, or hours, for 31 days; default: minute.',
        ['minute', 'hour'],
        'step',
      ),
      from: moment('Where it begins; default: the last hour, or day.'),
      to: moment('Where it ends; default: now.'),
      queue: text('Of this queue alone.', 'name'),
      user: text('Of this user alone.', 'id'),
    },
    run: async ({ loom, view, input }) =>
      loom.series.read({ ...input, step: input.step ?? 'minute', user: ownUser(view, input.user) }),
  }),
  operation('versions', {
    http: 'GET /versions',
    command: 'versions [name]',
    help: 'What each version of each task still holds, so that a deploy knows when old workers may go.',
    input: {
      limit: integer('How many tasks are looked at; default: 100000.', { least: 1, most: 100_000 }),
    },
    run: async ({ loom, input }) => loom.versions(input),
  }),
  operation('audit.list', {
    http: 'GET /audit',
    help: 'Changes that were asked for over HTTP, the newest first.',
    input: PAGE_FIELDS,
    run: async ({ loom, input }) => auditPage(loom, pageOf(input)),
  }),
  operation('workers.list', {
    http: 'GET /workers',
    command: 'workers list',
    help: 'Every live worker, wherever it runs.',
    run: async ({ loom }) => ({ items: await loom.workers.list() }),
  }),
];

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
