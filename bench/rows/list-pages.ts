import type { Fairloom, Page } from '../../src/index.ts';
import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { rounded } from '../kit/statistics.ts';
import { fillLine, fillStates, inQueues } from '../kit/stored-tasks.ts';
import { ERRORS } from '../sides/fairloom.ts';

/** 10⁶ tasks in all. */
const STORED = {
  scheduled: 150_000,
  deferred: 100_000,
  queued: 290_000,
  started: 50_000,
  finished: 150_000,
  failed: 100_000,
  canceled: 50_000,
  users: 100_000,
} as const;
/** In line of one user. */
const LINE = 100_000;
const RUNS = 10_000;
const SCHEDULES = 10_000;
const QUEUES = 200;
/** Pages of each list, each continuing where the one before ended. */
const PAGES = 20;
const WIDE = 500;
/** The goal of each page, in ms. */
const MOST_MS = 100;

const STATES = ['queued', 'scheduled', 'deferred', 'started', 'finished', 'failed', 'canceled'];
const OTHERS = ['dead', 'users', 'queues', 'schedules', 'runs'];
const WORST = ['noMatch', 'wide'];

export const listPages: Bench = {
  name: 'list-pages',
  about:
    '1,000,000 tasks in all states of 100,001 users, one of them with 100,000 in line, 10,000 of ' +
    'the tasks runs, 10,000 schedules and 200 queues: 20 pages of each list, 50 rows each, going ' +
    'on by the cursor; the slowest page. Where nothing matches a page looks at 500 tasks and ' +
    'shows none.',
  rounds: 1,
  sides: [{ name: 'fairloom', run: listRound }],
  rows: [
    row(`tasks: ${STATES.join(' / ')}`, STATES, 'slowestState'),
    row(OTHERS.join(' / '), OTHERS, 'slowestOther'),
    row('finished tasks, nothing matches / 500 rows', WORST, 'slowestWide'),
  ],
};

function row(what: string, metrics: readonly string[], slowest: string): Bench['rows'][number] {
  return {
    table: 'looking',
    measure: `slowest list page at 10⁶ tasks, ${what}`,
    metrics,
    unit: 'ms',
    better: 'less',
    goals: [{ kind: 'most', metric: slowest, value: MOST_MS, of: 'each' }],
  };
}

async function listRound(context: BenchContext): Promise<Figures> {
  const [server, { redis }] = await Promise.all([context.redis(), loadFairloomRedis()]);
  const [{ Fairloom, task }, backend] = [await loadFairloom(), redis(server.url)];
  const work = task('work', async () => undefined);
  const loom = new Fairloom({ backend, tasks: [work], log: ERRORS });
  try {
    await loom.stats();
    const run = work.as('first').pipe(work.as('second')).as('run');
    const options = { user: 'runs', executeAfter: Date.now() + 86_400_000 } as const;
    await inQueues(context.size(RUNS), async () => {
      await loom.enqueue(run, undefined, options);
    });
    await fillStates(backend, STORED, (full) => context.size(full));
    await fillLine(backend, 'many', context.size(LINE));
    await inQueues(context.size(SCHEDULES), async (at) => {
      await loom.schedules.set(`s${at}`, { every: '1d', task: work });
    });
    await inQueues(QUEUES, (at) => loom.queues.set(`queue-${at}`, { maxRunning: 10 }));
    return await measure(loom);
  } finally {
    await loom.close();
  }
}

async function measure(loom: Fairloom): Promise<Figures> {
  const figures: Record<string, number> = {};
  const slowest = (names: readonly string[]): number =>
    Math.max(...names.map((name) => figures[name] ?? Number.NaN));
  for (const [name, list] of Object.entries(listsOf(loom))) figures[name] = await pages(list);
  return {
    ...figures,
    slowestState: slowest(STATES),
    slowestOther: slowest(OTHERS),
    slowestWide: slowest(WORST),
  };
}

type List = (cursor: string | undefined) => Promise<Page<unknown>>;

function listsOf({ tasks, dead, users, queues, schedules, runs }: Fairloom) {
  return {
    queued: (cursor) => tasks.list({ state: 'queued', user: 'many', cursor }),
    scheduled: (cursor) => tasks.list({ state: 'scheduled', cursor }),
    deferred: (cursor) => tasks.list({ state: 'deferred', cursor }),
    started: (cursor) => tasks.list({ state: 'started', cursor }),
    finished: (cursor) => tasks.list({ state: 'finished', cursor }),
    failed: (cursor) => tasks.list({ state: 'failed', cursor }),
    canceled: (cursor) => tasks.list({ state: 'canceled', cursor }),
    dead: (cursor) => dead.list({ cursor }),
    users: (cursor) => users.list({ cursor }),
    queues: async () => ({ items: await queues.list() }),
    schedules: (cursor) => schedules.list({ cursor }),
    runs: (cursor) => runs.list({ state: 'scheduled', form: 'driven', cursor }),
    noMatch: (cursor) => tasks.list({ state: 'finished', name: 'nobody', cursor }),
    wide: (cursor) => tasks.list({ state: 'finished', limit: WIDE, cursor }),
  } satisfies Readonly<Record<string, List>>;
}

/** The slowest page, in ms. Each list is read once before: cold code is not meaningful. */
async function pages(list: List): Promise<number> {
  await list(undefined);
  let [slowest, cursor]: [number, string | undefined] = [0, undefined];
  for (let at = 0; at < PAGES; at++) {
    const started = performance.now();
    const page = await list(cursor);
    slowest = Math.max(slowest, performance.now() - started);
    cursor = page.cursor;
  }
  return rounded(slowest);
}
