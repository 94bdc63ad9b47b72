/**
 * A worker process of the process tests and of chaos: the built package with tasks that do what
 * their input says and write a ledger (see `ledger.ts`). Started by `worker-fleet.ts` with its
 * setup as JSON in the first argument.
 */
import { appendFileSync } from 'node:fs';
import { Fairloom, task } from 'fairloom';
import { file } from 'fairloom/file';
import { redis } from 'fairloom/redis';
import { Cluster } from 'ioredis';

const setup = JSON.parse(process.argv[2] ?? '{}');
/** Task → fencing token of its newest start here. */
const fences = new Map();

function note(event, taskId = '', attempt = 0, fence = fences.get(taskId) ?? 0) {
  const at = Date.now();
  const line = { event, at, worker: setup.id, task: taskId, attempt, fence };
  appendFileSync(setup.ledger, `${JSON.stringify(line)}\n`);
}

/** Waits; rejects when the signal aborts. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function begin(ctx) {
  fences.set(ctx.taskId, ctx.fencingToken);
  note('start', ctx.taskId, ctx.attempt, ctx.fencingToken);
}

function done(ctx) {
  note('end', ctx.taskId, ctx.attempt, ctx.fencingToken);
  return { fence: ctx.fencingToken, attempt: ctx.attempt };
}

const tasks = [
  /** Works for `ms`; `fails` is how many attempts fail first. */
  task('work', { backoff: { kind: 'fixed', base: 50, jitter: 'none' } }, async (input, ctx) => {
    begin(ctx);
    await pause(input.ms, ctx.signal);
    if (ctx.attempt <= (input.fails ?? 0)) throw new Error('it was to fail');
    return done(ctx);
  }),
  /** Looks at no signal. */
  task('deaf', async (input, ctx) => {
    begin(ctx);
    await pause(input.ms, undefined);
    return done(ctx);
  }),
  /** Fails for good. */
  task('hopeless', { retries: 0 }, async (input, ctx) => {
    begin(ctx);
    await pause(input.ms, ctx.signal);
    throw new Error('it was to fail');
  }),
  /** Takes its process with it. */
  task('poison', async (input, ctx) => {
    begin(ctx);
    await pause(input.ms, ctx.signal);
    process.abort();
  }),
  /** Allocates until the process is out of memory. */
  task('hog', async (_input, ctx) => {
    begin(ctx);
    const heap = [];
    for (;;) heap.push(Array.from({ length: 100_000 }, (_, at) => ({ at })));
  }),
  /** Holds the event loop up. */
  task('spin', async (input, ctx) => {
    begin(ctx);
    const until = Date.now() + input.ms;
    while (Date.now() < until);
    return done(ctx);
  }),
];

const target = setup.nodes === undefined ? setup.url : new Cluster(setup.nodes);
if (setup.nodes !== undefined) target.on('error', () => undefined);
const backend =
  setup.data === undefined ? redis(target, { prefix: setup.prefix }) : file(setup.data);
const loom = new Fairloom({ backend, tasks });
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
  worker.on(event, ({ taskId, attempt }) => note(line, taskId, attempt));
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
