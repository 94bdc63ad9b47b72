/**
 * A worker process of `npm run chaos -- --runs n`: the built package with the handlers of the
 * workflows in `run-shapes.ts`, and the ledger of `ledger.ts`. Every result carries a mark of its
 * own, and every start names the marks that it was given: so the ledger tells which result of
 * which start was taken, whatever the backend says.
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { dynamic, each, event, Fairloom, groupPolicy, parallel, signal, task } from 'fairloom';
import { file } from 'fairloom/file';
import { redis } from 'fairloom/redis';

const setup = JSON.parse(process.argv[2] ?? '{}');
/** Task → fencing token of its newest start here. */
const fences = new Map();

function note(event, taskId = '', more = {}) {
  const fence = fences.get(taskId) ?? 0;
  const line = { event, at: Date.now(), worker: setup.id, task: taskId, attempt: 0, fence };
  appendFileSync(setup.ledger, `${JSON.stringify({ ...line, ...more })}\n`);
}

/** Waits; rejects when the signal aborts. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Every `{ v, mark }` in a value. */
function tokensIn(value) {
  if (typeof value !== 'object' || value === null) return [];
  if (typeof value.mark === 'string') return [value];
  return Object.values(value).flatMap(tokensIn);
}

/** Writes the start down, works for a while, gives the sum of what it got, and writes that down. */
async function work(input, ctx, { ms = 50 + Math.random() * 400, middle = undefined } = {}) {
  const tokens = tokensIn(input);
  const fence = ctx.fencingToken;
  fences.set(ctx.taskId, fence);
  note('start', ctx.taskId, { run: ctx.runId, took: tokens.map(({ mark }) => mark) });
  await pause(ms, ctx.signal);
  const sum = (await middle?.()) ?? tokens.reduce((all, { v }) => all + v, 0);
  const mark = randomBytes(6).toString('hex');
  note('end', ctx.taskId, { run: ctx.runId, fence, mark, under: ctx.fencingToken });
  return { v: sum + 1, mark };
}

const backoff = { kind: 'fixed', base: 50, jitter: 'none' };

/** One in twelve first attempts fails. */
const add = task('add', { retries: 4, backoff }, async (input, ctx) => {
  if (ctx.attempt === 1 && Math.random() < 1 / 12) throw new Error('it was to fail');
  return work(input, ctx);
});

const split = task('split', { retries: 4, backoff }, async (input, ctx) => {
  const { v, mark } = await work(input, ctx);
  return [v - 1, v].map((one) => ({ v: one, mark }));
});

const hopeless = task('hopeless', { retries: 0 }, async (input, ctx) => {
  await work(input, ctx);
  throw new Error('it was to fail');
});

const slow = task('slow', { retries: 0 }, async (input, ctx) => work(input, ctx, { ms: 4_000 }));

/** Fails once per run: its run is retried. */
const flaky = task('flaky', { retries: 0 }, async (input, ctx) => {
  const flag = `${setup.ledger}.${ctx.runId}`;
  if (!existsSync(flag)) {
    writeFileSync(flag, '');
    throw new Error('it was to fail once');
  }
  return work(input, ctx);
});

/** Runs again so many times, then a group. */
const walk = dynamic('walk', { retries: 4, backoff }, async (input, ctx) => {
  const { left } = input;
  const { v, mark } = await work(input, ctx);
  if (left > 0) return ctx.again({ v, mark, left: left - 1 });
  return ctx.next(parallel({ x: add.as('x'), y: add.as('y') }), { v: v - 1, mark });
});

/** Runs a task and a group of its own. */
const sub = task('sub', { retries: 4, backoff }, async (input, ctx) =>
  work(input, ctx, {
    middle: async () => {
      const one = await ctx.run(add, input);
      const two = await ctx.run(each(add), [one, one]);
      return two.reduce((all, { v }) => all + v, 0);
    },
  }),
);

const go = signal('go');

/** Sleeps, waits for a signal, and adds what came with it. */
const hear = task('hear', { retries: 4, backoff }, async (input, ctx) =>
  work(input, ctx, {
    ms: 20,
    middle: async () => {
      await ctx.sleep(300);
      const { v } = await ctx.waitFor(go);
      return tokensIn(input).reduce((all, one) => all + one.v, v);
    },
  }),
);

/** Waits for the event of its run; one that came before will do. */
const listen = task('listen', { retries: 4, backoff }, async (input, ctx) =>
  work(input, ctx, {
    ms: 20,
    middle: async () => {
      const { v } = await ctx.waitFor(event('news', ctx.runId), { within: '10m' });
      return tokensIn(input).reduce((all, one) => all + one.v, v);
    },
  }),
);

const WORTH = { one: 1_000, two: 2_000 };
const UNANSWERED = 5_000;

/** Asks people of its run's name; what they answer is worth something, and so is silence. */
function asking(name, timeout) {
  return task(name, { retries: 4, backoff }, async (input, ctx) =>
    work(input, ctx, {
      ms: 20,
      middle: async () => {
        const answer = await ctx.ask({
          title: 'Go on?',
          choices: Object.keys(WORTH),
          for: [ctx.runId],
          timeout,
          onTimeout: { value: UNANSWERED },
        });
        const worth = answer.answered ? WORTH[answer.choice] : answer.value;
        return tokensIn(input).reduce((all, one) => all + one.v, worth);
      },
    }),
  );
}
const decide = asking('decide', '10m');
const doubt = asking('doubt', 700);

/** Tells half, sleeps, and tells the rest. */
const speak = task('speak', { retries: 4, backoff }, async (input, ctx) =>
  work(input, ctx, {
    ms: 20,
    middle: async () => {
      const words = ctx.stream('words');
      for (let n = 0; n < 20; n++) {
        if (n === 10) await ctx.sleep(300);
        await words.write(n);
        await pause(10, ctx.signal);
      }
      await words.close();
      return tokensIn(input).reduce((all, one) => all + one.v, 0);
    },
  }),
);

const most = groupPolicy(
  'most',
  (all) => all.filter(({ state }) => state === 'finished').length > 1,
);
const withPolicy = parallel({ add }, { policy: most });

const loom = new Fairloom({
  backend: setup.data === undefined ? redis(setup.url, { prefix: setup.prefix }) : file(setup.data),
  tasks: [
    ...[add, split, hopeless, slow, flaky, walk, sub, hear, withPolicy],
    ...[listen, decide, doubt, speak],
  ],
});
const worker = loom.worker({
  id: setup.id,
  concurrency: setup.concurrency,
  lease: setup.leaseMs,
  grace: setup.graceMs,
});
for (const [event, line] of [
  ['task.finished', 'finished'],
  ['task.failed', 'failed'],
  ['task.retried', 'retried'],
  ['task.canceled', 'canceled'],
  ['task.released', 'released'],
  ['lease.lost', 'lost'],
]) {
  worker.on(event, ({ taskId }) => note(line, taskId));
}

let signals = 0;
async function leave() {
  signals += 1;
  const { unfinished } = await worker.stop(signals > 1 ? { grace: 0 } : {});
  await loom.close();
  note('down');
  process.exit(unfinished.length > 0 ? 1 : 0);
}
process.on('SIGTERM', leave);
process.on('SIGINT', leave);

await worker.start();
note('up');
