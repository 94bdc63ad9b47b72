// npm run example:etl
// npm run example:etl -- --redis redis://localhost:6379
// npm run example:etl -- --kill-producer --redis redis://localhost:6379
//
// Extract, clean, transform each row, load; then how often each node was executed. With
// --kill-producer the process that walks the pipeline and made the group is killed (kill -9) when
// half of the group has started. Another process continues from the stored results, so that no node
// runs twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Fairloom } from 'fairloom';
import { etl } from './etl-steps.mjs';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const HALF = 6;
const options = optionsOf({ 'kill-producer': { type: 'boolean' } });
const kills = options['kill-producer'] === true;
// Other processes see only the data in Redis.
const shared = process.env.REDIS_URL ?? 'redis://localhost:6379';
const url = options.redis ?? (kills ? shared : undefined);
const prefix = `example-${process.pid}`;

const folder = await mkdtemp(join(tmpdir(), 'etl-'));
const log = join(folder, 'executions.log');
process.env.ETL_LOG = log;
await writeFile(log, '');

const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [etl] });
const children = [];
try {
  const run = await loom.enqueue(etl, '2026-03-01', { user: 'acme' });
  if (kills) await killProducer();
  else await loom.worker({ queues: ['default', 'rows'] }).start();

  const { rows, cents } = await run.result({ timeout: PATIENCE });
  const counts = await executions();
  for (const [node, pids] of counts) {
    const where = kills ? ` (process ${pids.join(', ')})` : '';
    console.log(`${node}: ${pids.length}${where}`);
  }
  const most = Math.max(...[...counts.values()].map((pids) => pids.length));
  const verdict = most === 1 ? 'all 1' : `up to ${most}`;
  console.log(`loaded ${rows} rows, ${cents} cents; executions per node: ${verdict}`);
  if (most !== 1) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
  );
  await loom.close();
  await rm(folder, { recursive: true });
}

/** A producer, a worker for the rows, a kill, and another producer. */
async function killProducer() {
  const producer = start('default');
  start('rows');
  const rows = await started(HALF);
  producer.kill('SIGKILL');
  await once(producer, 'exit');
  console.log(`killed process ${producer.pid}, which walked the run, at row ${rows}`);
  start('default');
}

function start(queue) {
  const file = new URL('etl-worker.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, url, prefix, queue], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

/** Waits until that many rows have been started. */
async function started(least) {
  for (let looks = 0; looks < 2_000; looks += 1) {
    const rows = [...(await executions()).keys()].filter((node) => node.startsWith('transform'));
    if (rows.length >= least) return rows.length;
    await pause(20);
  }
  throw new Error('the rows were not transformed in time');
}

/** The processes that executed each node, in order of their lines. */
async function executions() {
  const lines = (await readFile(log, 'utf8')).trim().split('\n').filter(Boolean);
  const byNode = new Map();
  for (const [node, pid] of lines.map((line) => line.split(' '))) {
    byNode.set(node, [...(byNode.get(node) ?? []), pid]);
  }
  return byNode;
}
