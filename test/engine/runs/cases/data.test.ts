/** What Graflow's data and graphs get wrong, each row as a test in the other direction. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { RedisClient } from '../../../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../../../src/backends/redis/manual-time.ts';
import { Fairloom } from '../../../../src/client/client.ts';
import { GraphCorruptError } from '../../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { silentLogger } from '../../../../src/logging/logger.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { type Flow, flow } from '../../../../src/workflow/flow.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';
import { FORMS, replaced, turn } from './kit.ts';

type Form = (typeof FORMS)[number];

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);

eachBackend((open) => {
  const harness = opened(open);

  async function working(steps: readonly unknown[], concurrency = 10): Promise<Fairloom> {
    const loom = harness.loom(steps as never);
    await loom.worker({ concurrency }).start();
    return loom;
  }

  const start = (loom: Fairloom, step: unknown, input: unknown, form: Form) =>
    loom.enqueue(step as never, input as never, { form }) as Promise<RunHandle<unknown>>;

  describe('data', () => {
    // B-W30
    it('comes back as it was given, or the task fails; results go with their records', async () => {
      const value = {
        list: [1, [2, null]],
        text: 'é\u0000😀',
        1: 'a',
        deep: { yes: true, n: -0.5 },
      };
      const give = task('give', () => value);
      const same = task('same', (got: unknown) => got);
      const whole = give.pipe(parallel({ same, again: same.as('again') }));
      const retention = { finished: '1m', failed: '1m', canceled: '1m' } as const;
      const loom = harness.loom([whole], { retention });
      await loom.worker().start();
      for (const form of FORMS) {
        const run = await start(loom, whole, undefined, form);
        expect(await settled(harness, run.result())).toEqual({ same: value, again: value });
      }
      const noJson = [new Set([1]), new Date(0), new Uint8Array(1), new Error('x'), 1n];
      const odd = noJson.map((one, at) => task(`odd${at}`, { retries: 0 }, () => one as never));
      await harness.loom(odd, { retention }).worker().start();
      for (const one of odd) {
        const failed = { failureType: 'invalid-result' };
        const run = await start(loom, one.pipe(same), undefined, 'dispatched');
        await expect(settled(harness, run.result())).rejects.toMatchObject(failed);
      }
      // The last of a run goes once all that read it have gone.
      for (let step = 0; step < 10; step++) {
        await harness.jump(60_000 + LIMITS.resendMs);
        while ((await harness.backend.tasks.tick()).more) await turn();
      }
      const { counts } = await loom.stats();
      expect(counts.finished + counts.failed + counts.canceled).toBe(0);
    });

    // B-W15
    it('no code is stored, and a name that is not registered runs nothing', async () => {
      const ran: string[] = [];
      const secret = task('secret', () => ran.push('the source of this handler'));
      const show = task('show', (value: unknown) => value);
      const whole = secret.pipe(show as never);
      const loom = harness.loom([whole]);
      const run = await start(loom, whole, 1, 'dispatched');
      const { graph } = await loom.runs.graph(run.id);
      const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
      const ids = nodes.map(({ taskId = '' }) => taskId);
      const stored = JSON.stringify([graph, await harness.backend.inspect.get([run.id, ...ids])]);
      expect(stored).toContain('secret');
      expect(stored).not.toMatch(/=>|function|source/);
      // A program that may write to the store can choose among registered names, and nothing else.
      const others = ['process.exit', '../secret', 'constructor', '__proto__', 'toString'];
      const outsiders = await Promise.all(
        others.map((name) =>
          loom.enqueue({ name, type: 'task' } as never, 1 as never).catch(String),
        ),
      );
      expect(outsiders.every((one) => typeof one === 'string')).toBe(true);
      const reader = harness.loom([show]).worker();
      await reader.start();
      await harness.clock.advance('2s');
      expect(ran).toEqual([]);
      await settled(harness, reader.stop());
      await loom.worker().start();
      expect(await settled(harness, run.result())).toBe(1);
    });

    // B-W35
    it('a part of an output is handed on by its name, as the type says', async () => {
      const fetchUsers = task('fetch-users', async (_: undefined) => ({ users: 3, day: 'monday' }));
      const greet = task('greet', (input: { users: number }) => `${input.users + 1} users`);
      const quickStart = flow('quick-start', (f: Flow<undefined>) => {
        const found = f.step(fetchUsers, f.input);
        return f.step(greet, { users: found.get('users') });
      });
      const loom = await working([quickStart]);
      expect(await loom.run(quickStart)).toBe('4 users');
      const run = await loom.enqueue(quickStart);
      expect(await settled(harness, run.result())).toBe('4 users');
    });

    // B-W13
    it('a graph is the same in every process, checked when it is read, and kept by its use', async () => {
      const script = `
        import { compile } from './src/workflow/compile.ts';
        import { graphText } from './src/graph/graph-text.ts';
        import { parallel } from './src/workflow/parallel.ts';
        import { task } from './src/workflow/task-definition.ts';
        import { createHash } from 'node:crypto';
        const seen = new Set(['b', 'a', 'c', String(process.pid)]);
        const inc = task('inc', (n) => n + seen.size);
        const double = task('double', (n) => n * 2);
        const text = graphText(compile(parallel({ y: double, x: inc }).pipe(task('sum', () => 1))));
        console.log(createHash('sha256').update(text).digest('hex'));`;
      const args = ['--import', 'tsx', '--input-type=module', '-e', script];
      const { stdout } = await promisify(execFile)(process.execPath, ['--hash-seed=7', ...args]);
      const whole = parallel({ x: inc, y: double }).pipe(task('sum', () => 1));
      const loom = harness.loom([whole]);
      const run = await loom.enqueue(whole, 1);
      const hash = (await loom.runs.get(run.id))?.graph ?? '';
      expect(stdout.trim()).toBe(hash);
      const graph = await loom.graphs.get(hash);
      expect([Object.isFrozen(graph), Object.isFrozen(graph.nodes)]).toEqual([true, true]);
      const { saves } = loom.graphs.stats();
      await harness.jump(LIMITS.graphTtlMs / 4);
      await loom.graphs.get(hash);
      expect(loom.graphs.stats()).toMatchObject({ saves: saves + 1, touches: 1 });
      const body = 'pfairloom-graph\n{}';
      const bent = replaced(harness.backend, 'graphs', {
        load: async () => ({ kind: 'found', body }),
      });
      const other = harness.loom([], { backend: bent });
      await expect(other.graphs.get(hash)).rejects.toBeInstanceOf(GraphCorruptError);
    });
  });
});

describe('redis', () => {
  // B-W12
  it('stores and loads graphs by the client that it was given, and makes none of its parts', async () => {
    const client = new Redis(inject('redisUrl'), { lazyConnect: true });
    await client.connect();
    const given = { prefix: `given-${process.pid}` };
    const { backend, setTime, dispose } = redisForTests(client as unknown as RedisClient, given);
    await setTime(Date.UTC(2026, 0, 5));
    const loom = new Fairloom({ backend, tasks: [inc, double], log: silentLogger });
    const run = await loom.enqueue(inc.pipe(double), 1);
    const hash = (await loom.runs.get(run.id))?.graph ?? '';
    expect(await client.exists(`${given.prefix}:graph:${hash}`)).toBe(1);
    expect(await backend.graphs.load(hash)).toMatchObject({ kind: 'found' });
    await loom.close();
    await dispose();
    expect(client.status).toBe('ready');
    client.disconnect();
  });
});
