// npm run example:approval
// npm run example:approval -- --redis redis://localhost:6379
//
// Two expenses wait for a person, without a slot or a lease. One is approved and paid. The other
// times out without an answer: that is not an approval, and it is not paid. On Redis the workers are
// separate processes, all of them are killed (kill -9) while the expenses wait, and the answer comes
// from the command line.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Fairloom } from 'fairloom';
import { expense, hasty } from './approval-steps.mjs';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const { redis: url } = optionsOf({});
const prefix = `example-${process.pid}`;
const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [expense, hasty] });
const children = [];
try {
  const worker = await startWorker();
  const trip = await loom.enqueue(expense, { what: 'a trip to Rome', euros: 420 });
  const chair = await loom.enqueue(hasty, { what: 'a chair', euros: 90 });
  const questions = await asked(2);
  for (const { title } of questions) console.log(`asked: ${title}`);
  if (worker !== undefined) {
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    console.log(`killed process ${worker.pid}, the only worker`);
  }

  const question = questions.find(({ title }) => title.includes('Rome'));
  await answer(question.id);
  if (worker !== undefined) await startWorker();
  console.log(`trip: ${await trip.result({ timeout: PATIENCE })}`);
  console.log(`chair: ${await chair.result({ timeout: PATIENCE })}`);

  const { state, answer: given } = await loom.asks.get(question.id);
  console.log(`kept: ${state} by ${given.by}, "${given.comment}"`);
  const late = questions.find(({ title }) => title.includes('chair'));
  const refused = await loom.asks
    .answer(late.id, { choice: 'approve', by: 'late' })
    .catch((e) => e);
  console.log(`too late: ${refused.code}, ${refused.how}`);
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
  );
  await loom.close();
}

/** A worker: a process on Redis, otherwise in this process. */
async function startWorker() {
  if (url === undefined) return void (await loom.worker().start());
  const file = new URL('approval-worker.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, url, prefix], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

/** The questions for finance, once that many are open. */
async function asked(count) {
  for (let looks = 0; looks < 2_000; looks += 1) {
    const { items } = await loom.asks.list({ for: 'role:finance' });
    if (items.length === count) return items;
    await pause(20);
  }
  throw new Error('no question was asked in time');
}

/** Approves, from the command line. */
async function answer(id) {
  if (url === undefined) {
    return loom.asks.answer(id, { choice: 'approve', by: 'ann', comment: 'enjoy' });
  }
  const program = new URL('cli/main.js', import.meta.resolve('fairloom')).pathname;
  const words = ['asks', 'answer', id, 'approve', '--by', 'ann', '--comment', 'enjoy'];
  const where = ['--redis', url, '--prefix', prefix];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words, ...where]);
  console.log(`fairloom ${words.slice(0, 2).join(' ')}: ${stdout.trim()}`);
}
