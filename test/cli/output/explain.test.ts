/** `fairloom tasks explain` for each obstacle, by the binary, on both backends. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, type ExpectStatic, expect, inject, it } from 'vitest';
import { fairloom, ROOT } from '../../support/processes/run-process.ts';

type Row = readonly [id: string, kinds: readonly string[], words: string];

/** The task of that id in the world, the kinds that explain must name, and a part of its text. */
const OBSTACLES: readonly Row[] = [
  // First: 30 s after the request the worker ends it.
  ['canceling', ['canceling', 'running'], 'a cancel was requested'],
  ['delayed', ['delayed'], 'fairloom tasks run-now delayed'],
  ['blocked', ['blocked'], 'it waits for delayed (scheduled)'],
  ['user-paused', ['user-paused'], 'fairloom users resume paused'],
  ['user-at-limit', ['user-at-limit'], '1/1 running'],
  ['user-rate', ['user-rate'], 'rate-limited until'],
  ['queue-paused', ['queue-paused'], 'fairloom queues resume closed'],
  ['queue-at-limit', ['queue-at-limit'], '1/1 running'],
  ['queue-rate', ['queue-rate'], 'rate-limited until'],
  ['in-line', ['in-line'], 'number 2 of its level, after 1 turn of its user patient'],
  ['no-worker', ['no-worker'], 'no live worker serves its queue nobody'],
  ['unknown-name', ['no-worker'], 'knows its name stranger'],
  ['running', ['running'], 'leased by world'],
  ['finished', ['ended'], 'ended as finished'],
  ['failed', ['ended'], 'fairloom tasks redrive failed'],
  ['canceled', ['ended'], 'not needed'],
];

interface World {
  buildOnRedis(
    url: string,
    prefix: string,
  ): Promise<{ close(options: { timeout: string }): Promise<void> }>;
}

interface Explained {
  readonly id: string;
  readonly state: string;
  readonly obstacles: readonly { readonly kind: string; readonly text: string }[];
}

async function check(
  [id, kinds, words]: Row,
  backend: readonly string[],
  expect: ExpectStatic,
): Promise<void> {
  const { code, stdout, stderr } = await fairloom(
    ['tasks', 'explain', id, '-o', 'json', ...backend],
    { timeoutMs: 30_000 },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const explained = JSON.parse(stdout) as Explained;
  expect(explained.id).toBe(id);
  expect(explained.obstacles.map(({ kind }) => kind)).toEqual(kinds);
  expect(JSON.stringify(explained)).toContain(words);
}

describe('on Redis', () => {
  let loom: Awaited<ReturnType<World['buildOnRedis']>>;
  const prefix = `explain-${process.pid}`;

  beforeAll(async () => {
    const path = join(ROOT, 'test/fixtures/cli/on-redis.mjs');
    const { buildOnRedis } = (await import(pathToFileURL(path).href)) as World;
    loom = await buildOnRedis(inject('redisUrl'), prefix);
  });

  afterAll(() => loom?.close({ timeout: '1s' }));

  it.for(OBSTACLES)('names the obstacle of %s', async (row, { expect }) => {
    await check(row, ['--redis', inject('redisUrl'), '--prefix', prefix], expect);
  });
});

describe('on the embedded backend', () => {
  const module = join(ROOT, 'test/fixtures/cli/embedded.mjs');

  // Each process ends half a second after its answer, for a handler that does not: they wait together.
  it.concurrent.for(OBSTACLES)('names the obstacle of %s', async (row, { expect }) => {
    await check(row, ['--module', module], expect);
  });

  it('shows it to people', async () => {
    const { code, stdout } = await fairloom(['tasks', 'explain', 'delayed', '--module', module]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^delayed is scheduled\ndelayed: it is delayed until .*\n {2}fairloom tasks run-now delayed\ndependents: 1 task waits for it: blocked\n {2}fairloom tasks dependents delayed\n$/,
    );
  });
});
