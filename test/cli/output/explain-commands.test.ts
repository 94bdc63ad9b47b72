/** Every command that `explain` suggests leads to what it promises: each is run as it is printed. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { Obstacle } from '../../../src/domain/explain/explain.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { fairloomHere } from '../../support/cli-here.ts';
import { BIN, ROOT, runProcess } from '../../support/processes/run-process.ts';

const prefix = `explain-commands-${process.pid}`;
const where = ['--redis', inject('redisUrl'), '--prefix', prefix];

interface World {
  close(options: { timeout: string }): Promise<void>;
}

let world: World;
let loom: Fairloom;

const shaky = task('shaky', { retries: 0 }, async (_: number): Promise<number> => {
  throw new RangeError('no such table');
});
const sound = task('sound', async (n: number) => n);
const pipeline = sound.pipe(parallel({ shaky, other: sound.as('other') })).as('pipeline');

beforeAll(async () => {
  const path = join(ROOT, 'test/fixtures/cli/on-redis.mjs');
  const { buildOnRedis } = await import(pathToFileURL(path).href);
  world = await buildOnRedis(inject('redisUrl'), prefix);
  const backend = redis(inject('redisUrl'), { prefix });
  loom = new Fairloom({ backend, tasks: [pipeline], log: silentLogger });
  const worker = loom.worker({ queues: ['runs'], concurrency: 3 });
  await worker.start();
  for (const [name, form] of [
    ['dispatched', 'dispatched'],
    ['driven', 'driven'],
    ['needed', 'driven'],
  ] as const) {
    const run = await loom.enqueue(pipeline, 1, { id: `run ${name}`, queue: 'runs', form });
    await run.result().catch(() => undefined);
  }
  await loom.enqueue(shaky, 1, { id: 'upstream', queue: 'runs' });
  await loom
    .handle(shaky, 'upstream')
    .result()
    .catch(() => undefined);
  await loom.enqueue(sound, 1, { id: 'held', queue: 'runs', dependsOn: ['upstream'] });
  await loom.enqueue(sound, 1, { id: 'after-run', queue: 'runs', dependsOn: ['run needed'] });
  await worker.stop();
});

afterAll(async () => {
  await loom?.close();
  await world?.close({ timeout: '1s' });
});

async function obstaclesOf(id: string): Promise<readonly Obstacle[]> {
  const { code, stdout } = await fairloomHere([
    'tasks',
    'explain',
    '-o',
    'json',
    ...where,
    '--',
    id,
  ]);
  expect(code).toBe(0);
  return JSON.parse(stdout).obstacles;
}

/** Runs a command as a shell reads it, and answers yes. */
async function follow(command: string): Promise<{ readonly code: number | null; stdout: string }> {
  const yes = /^fairloom tasks cancel /.test(command) ? ' --yes' : '';
  const place = where.map((word) => `'${word}'`).join(' ');
  const line = command.replace(/^fairloom (\S+ \S+)/, `"$NODE" "$BIN" $1 ${place}${yes}`);
  const env = { NODE: process.execPath, BIN, NO_COLOR: undefined };
  return runProcess('bash', ['-c', line], { env });
}

/** What each command does to the obstacle that suggests it: it goes, it changes, or it is shown. */
type Promised = 'gone' | 'shown' | readonly [state: string, ...others: string[]];

const ENDED_OR_GOING = ['queued', 'started', 'deferred', 'finished', 'failed'] as const;

const ROWS: readonly (readonly [id: string, kind: Obstacle['kind'], promised: Promised])[] = [
  ['blocked', 'blocked', 'shown'],
  ['delayed', 'delayed', 'gone'],
  ['user-paused', 'user-paused', 'gone'],
  ['user-at-limit', 'user-at-limit', 'gone'],
  ['user-rate', 'user-rate', 'shown'],
  ['queue-paused', 'queue-paused', 'gone'],
  ['queue-at-limit', 'queue-at-limit', 'gone'],
  ['queue-rate', 'queue-rate', 'shown'],
  ['no-worker', 'no-worker', 'shown'],
  ['unknown-name', 'no-worker', 'shown'],
  ['running', 'running', ['started', 'canceled']],
  ['held', 'blocked', 'gone'],
  ['after-run', 'blocked', 'shown'],
  ['failed', 'ended', ENDED_OR_GOING],
  ['run dispatched', 'ended', ENDED_OR_GOING],
];

// F23
it.each(ROWS)('the command for %s (%s) does what it says', async (id, kind, promised) => {
  const obstacle = (await obstaclesOf(id)).find((one) => one.kind === kind);
  expect(obstacle?.command, `${id} has no ${kind} with a command`).toMatch(/^fairloom /);
  const { code, stdout } = await follow(obstacle?.command ?? '');
  expect({ command: obstacle?.command, code }).toMatchObject({ code: 0 });
  if (promised === 'shown') {
    expect(stdout).not.toBe('');
    return;
  }
  if (promised === 'gone') {
    const texts = (await obstaclesOf(id)).map(({ kind: found, text }) => `${found}: ${text}`);
    expect(texts).not.toContain(`${kind}: ${obstacle?.text}`);
    return;
  }
  expect(promised).toContain((await loom.tasks.get(id))?.state);
});

// F23
it('runs explain and tasks explain of a part name the same command, and it resumes', async () => {
  const { stdout } = await fairloomHere([
    'runs',
    'explain',
    '-o',
    'json',
    ...where,
    '--',
    'run driven',
  ]);
  const { command, causes } = JSON.parse(stdout);
  expect(command).toBe("fairloom runs resume 'run driven'");
  const part = await obstaclesOf(causes[0].taskId);
  expect(part.map((one) => one.command)).toEqual([command]);
  const { code } = await follow(command);
  expect(code).toBe(0);
  expect(['queued', 'started']).toContain((await loom.tasks.get('run driven'))?.state);
});

// F22
it('runs explain shows people the culprit, what it threw, and the command', async () => {
  const worker = loom.worker({ queues: ['runs'] });
  const run = await loom.enqueue(pipeline, 1, { id: 'shown', queue: 'runs' });
  await worker.start();
  await run.result().catch(() => undefined);
  await worker.stop();
  const { stdout } = await fairloomHere(['runs', 'explain', 'shown', ...where]);
  expect(stdout).toMatch(/^shown is failed\nshaky, attempt 1: RangeError: no such table/);
  expect(stdout).toContain('\n  fairloom runs resume shown\n');
  const dead = await fairloomHere(['dead', 'list', '--queue', 'runs', ...where]);
  expect(dead.stdout).not.toContain('~run');
});
