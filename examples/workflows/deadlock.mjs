// npm run example:deadlock
// npm run example:deadlock -- --redis redis://localhost:6379
//
// Tasks that wait for tasks, four levels deep, with a single slot in all workers
// and a user with `maxRunning: 1`. A task that waits for its group holds neither, so
// this ends; if a wait took a slot, it would stop at the second level.
import { each, Fairloom, task } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const DEPTH = 4;
const WIDTH = 2;

/** Counts the tasks below it, and itself. */
const nest = task('nest', async (/** @type {number} */ depth, ctx) => {
  if (depth === 0) return 1;
  const below = await ctx.run(each(nest), new Array(WIDTH).fill(depth - 1));
  return below.reduce((sum, count) => sum + count, 1);
});

const loom = new Fairloom({ backend: backendOf(optionsOf().redis), tasks: [nest] });
await loom.users.set('acme', { maxRunning: 1 });
await loom.worker({ concurrency: 1 }).start();

const top = await loom.enqueue(nest, DEPTH, { user: 'acme' });
const tasks = await top.result({ timeout: PATIENCE });
console.log(`ended: ${tasks} tasks, ${DEPTH} levels of waiting, 1 slot`);
await loom.close();
