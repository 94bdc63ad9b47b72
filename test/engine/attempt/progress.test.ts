/** How far a task has come: what is shown of it, how often it is stored, and what it costs the task. */
import { describe, expect, it } from 'vitest';
import type { TaskProgress } from '../../../src/client/facades/task-progress.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

function shown(progress: TaskProgress | undefined): string | undefined {
  if (progress === undefined) return undefined;
  const { fraction, message = '', attempt } = progress;
  return `${fraction} ${message} #${attempt}`;
}

eachBackend((open) => {
  const harness = opened(open);

  describe('progress', () => {
    it('is seen at once, then once a second, and whole when the attempt has ended', async () => {
      const calls: string[] = [];
      const backend = flakyBackend(harness.backend, ({ operation }) => {
        if (operation === 'streams.append') calls.push(operation);
        return undefined;
      });
      const [more, done] = [gate(), gate()];
      const resize = task('resize', async (_: undefined, ctx) => {
        ctx.progress(0);
        await more.passed;
        for (let n = 1; n <= 50; n++) ctx.progress(n / 100, `${n} of 100`);
        await done.passed;
        ctx.progress(1, 'done');
      });
      const loom = harness.loom([resize], { backend });
      await loom.worker().start();
      const { id } = await loom.enqueue(resize);
      const now = async (): Promise<string | undefined> =>
        shown((await harness.loom([]).tasks.get(id))?.progress);
      await harness.until(async () => (await now()) !== undefined);
      expect(await now()).toBe('0  #1');
      expect((await loom.tasks.get(id))?.progress?.at).toBe(harness.clock.now());
      more.open();
      await harness.quiet();
      expect(await now()).toBe('0  #1');
      await harness.clock.advance(LIMITS.reportMs);
      expect(await now()).toBe('0.5 50 of 100 #1');
      done.open();
      await harness.until(async () => (await loom.tasks.get(id))?.state === 'finished');
      expect(await now()).toBe('1 done #1');
      expect(calls).toHaveLength(3);
      expect(await loom.streams.list(id)).toEqual([]);
    });

    it('is that of the newest attempt that has said something', async () => {
      const again = gate();
      const flaky = task(
        'flaky',
        { retries: 1, backoff: { base: 0 } },
        async (_: undefined, ctx) => {
          if (ctx.attempt === 1) {
            ctx.progress(0.9);
            throw new Error('again');
          }
          ctx.progress(0.1);
          await again.passed;
        },
      );
      const loom = harness.loom([flaky]);
      await loom.worker().start();
      const handle = await loom.enqueue(flaky);
      await harness.until(async () => (await loom.tasks.get(handle.id))?.progress?.attempt === 2);
      expect(shown((await loom.tasks.get(handle.id))?.progress)).toBe('0.1  #2');
      again.open();
      await settled(harness, handle.result());
    });

    it('stands while the task waits, and names the nodes of a driven run', async () => {
      const step = task('step', async (n: number, ctx) => {
        ctx.progress(n / 10, `at ${n}`);
        if (n === 1) await ctx.sleep('30s');
        return n + 1;
      });
      const line = step.as('one').pipe(step.as('two')).as('line');
      const loom = harness.loom([line]);
      await loom.worker().start();
      const handle = await loom.enqueue(line, 1, { form: 'driven' });
      await waitingFor(harness, loom, 'time');
      const nodes = async (): Promise<unknown> => {
        const { progress, nodeProgress = {} } = (await loom.tasks.get(handle.id)) ?? {};
        expect(progress).toBeUndefined();
        return Object.fromEntries(Object.entries(nodeProgress).map(([k, v]) => [k, shown(v)]));
      };
      expect(await nodes()).toEqual({ one: '0.1 at 1 #1' });
      await harness.clock.advance(30_000);
      await settled(harness, handle.result());
      expect(await nodes()).toEqual({ one: '0.1 at 1 #1', two: '0.2 at 2 #1' });
    });

    it('that is none fails the handler that says it, here too', async () => {
      const wrong: unknown[] = [-0.1, 1.1, Number.NaN, '0.5', undefined, null];
      const problems: unknown[] = [];
      const odd = task('odd', async (_: undefined, ctx) => {
        const say = ctx.progress.bind(ctx) as (...args: readonly unknown[]) => void;
        for (const fraction of wrong) problems.push(await refusal(run(() => say(fraction))));
        problems.push(await refusal(run(() => say(0.5, 7))));
        say(0.5, 'x'.repeat(5_000));
      });
      const run = async (act: () => void): Promise<void> => act();
      const loom = harness.loom([odd]);
      await loom.worker().start();
      const handle = await loom.enqueue(odd);
      await handle.result();
      const options = problems.map((problem) => Reflect.get(Object(problem), 'option'));
      expect(options).toEqual([...wrong.map(() => 'fraction'), 'message']);
      const { progress } = (await loom.tasks.get(handle.id)) ?? {};
      expect(progress?.message).toHaveLength(LIMITS.logMessageChars + 1);
      await loom.run(odd);
      expect(problems).toHaveLength(2 * options.length);
    });

    it('that cannot be stored costs the task nothing', async () => {
      const said: string[] = [];
      const warn = (_text: string, fields?: object): void =>
        void said.push(String(Reflect.get(fields ?? {}, 'event')));
      const nothing = (): void => undefined;
      const log = { debug: nothing, info: nothing, error: nothing, warn };
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'streams.append' ? { throw: new Error('no room') } : undefined,
      );
      const half = task('half', async (_: undefined, ctx) => {
        ctx.progress(0.5);
        return 1;
      });
      const loom = harness.loom([half], { backend, log });
      await loom.worker().start();
      expect(await (await loom.enqueue(half)).result()).toBe(1);
      expect(said.filter((event) => event === 'progress.not-kept')).toHaveLength(1);
    });

    it('is shown to clients that have the key', async () => {
      const half = task('half', async (_: undefined, ctx) => ctx.progress(0.5, 'secret'));
      const codec = encrypted({ keys: [{ id: 'k', key: new Uint8Array(32).fill(7) }] });
      const loom = harness.loom([half], { codec });
      await loom.worker().start();
      const handle = await loom.enqueue(half);
      await handle.result();
      expect(shown((await loom.tasks.get(handle.id))?.progress)).toBe('0.5 secret #1');
      expect((await harness.loom([]).tasks.get(handle.id))?.progress).toBeUndefined();
      const stored = await harness.backend.streams.read(handle.id, '~progress', 0, 16);
      expect(JSON.stringify(stored)).not.toContain('secret');
    });
  });
});
