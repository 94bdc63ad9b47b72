// npm run example:deploy
// npm run example:deploy -- --redis redis://localhost:6379
//
// A rolling deploy. An order of the first release waits for its payment while workers of the second start.
// The code that it began with finishes it, new orders run on new code, and `loom.versions` tells when
// old workers can be stopped. Here both releases are in one file; in practice they are two commits.
import { setTimeout as pause } from 'node:timers/promises';
import { Fairloom, signal, task } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const paid = signal('paid');

/** The tasks of a release: both have its version. */
function release(version, ship) {
  const order = task('order', async (item, ctx) => {
    await ctx.waitFor(paid);
    return item;
  });
  return order.pipe(task('ship', async (item) => ship(item))).as('sale', { version });
}

const first = release('1', (item) => `${item} by post`);
const second = release('2', (item) => `${item} by courier`);

const { redis } = optionsOf();
const backend = backendOf(redis);
const old = new Fairloom({ backend, tasks: [first] });
const fresh = new Fairloom({ backend, tasks: [second] });

/** How many tasks still need a version. */
async function neededBy(version) {
  const { versions } = await fresh.versions();
  const own = versions.filter((one) => one.version === version);
  return own.reduce((sum, { needed }) => sum + needed, 0);
}

async function waiting(run) {
  while ((await fresh.tasks.get(run.id))?.state !== 'deferred') await pause(20);
}

const oldWorker = old.worker();
await oldWorker.start();
const before = await old.enqueue(first, 'a chair', { form: 'driven' });
await waiting(before);
console.log('release 1: an order of a chair waits for its payment');

await fresh.worker().start();
const after = await fresh.enqueue(second, 'a lamp', { form: 'driven' });
await waiting(after);
console.log('release 2: its workers are there, and an order of a lamp waits too');
console.log(`old workers may go: ${(await neededBy('1')) === 0 ? 'yes' : 'no'}`);

for (const run of [before, after]) await fresh.signal(run.id, paid);
console.log(`shipped: ${await before.result({ timeout: PATIENCE })}`);
console.log(`shipped: ${await after.result({ timeout: PATIENCE })}`);
console.log(`old workers may go: ${(await neededBy('1')) === 0 ? 'yes' : 'no'}`);
await oldWorker.stop();
await old.close();
await fresh.close();
