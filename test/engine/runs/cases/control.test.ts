/** Control flow: what Graflow gets wrong, and what its own tests ask for, on both backends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { flow } from '../../../../src/workflow/flow.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import type { Task } from '../../../../src/workflow/step.ts';
import { dynamic, task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';
import { aborted } from '../../../support/workers.ts';
import { FORMS, replaced } from './kit.ts';

const never = new Promise<never>(() => undefined);

eachBackend((open) => {
  let harness: Harness;
  let log: string[];
  beforeEach(async () => {
    log = [];
    harness = await open();
  });
  afterEach(() => harness.close());

  /** A task that says that it ran. */
  const note = (name: string) =>
    task(name, { retries: 0 }, async (value: unknown) => {
      log.push(name);
      return value;
    });

  interface Ended {
    readonly id: string;
    readonly value?: unknown;
    readonly error?: unknown;
  }

  /** Runs a step to its end, by a worker that is gone then, so that names may be used again. */
  async function outcome(
    step: unknown,
    input: unknown,
    {
      tasks = [],
      ...options
    }: { readonly tasks?: readonly unknown[]; [name: string]: unknown } = {},
  ): Promise<Ended> {
    const loom = harness.loom([step, ...others, ...tasks] as never);
    const worker = loom.worker();
    await worker.start();
    const run = (await loom.enqueue(
      step as never,
      input as never,
      options as never,
    )) as RunHandle<unknown>;
    const end = await settled(harness, run.result()).then(
      (value): Ended => ({ id: run.id, value }),
      (error: unknown): Ended => ({ id: run.id, error }),
    );
    await settled(harness, worker.stop({ grace: 0 }));
    return end;
  }

  const ended = async (step: unknown, input: unknown, options = {}): Promise<unknown> => {
    const { value, error } = await outcome(step, input, options);
    if (error !== undefined) throw error;
    return value;
  };

  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(note) as [
    ReturnType<typeof note>,
    ReturnType<typeof note>,
    ReturnType<typeof note>,
    ReturnType<typeof note>,
    ReturnType<typeof note>,
  ];
  const others = [a, b, c, d, e];

  describe('joins', () => {
    it.each(FORMS)(
      // B-W17 C2.1
      'a diamond runs its end once, after both sides, however it is drawn (%s)',
      async (form) => {
        const drawn = flow('drawn', (f) => {
          const top = f.step(a, f.input);
          return f.step(d, { left: f.step(b, top), right: f.step(c, top) });
        });
        for (const step of [drawn, a.pipe(parallel({ b, c })).pipe(d)]) {
          log = [];
          await ended(step, 1, { form });
          expect([log[0], log.slice(1, 3).toSorted(), log.slice(3)]).toEqual([
            'a',
            ['b', 'c'],
            ['d'],
          ]);
        }
      },
    );

    it.each(FORMS)(
      // B-W18 B-W19
      'a group in a group runs each member once, also after a step (%s)',
      async (form) => {
        await ended(parallel({ a, inner: parallel({ b, c }) }), 1, { form });
        expect(log.toSorted()).toEqual(['a', 'b', 'c']);
        log = [];
        expect(await ended(a.pipe(parallel(b, c)), 1, { form })).toEqual([1, 1]);
        expect([log[0], log.slice(1).toSorted()]).toEqual(['a', ['b', 'c']]);
      },
    );

    it.each(FORMS)(
      // C2.2
      'stages follow each other: start, group, middle, group, end (%s)',
      async (form) => {
        const [f, g] = [note('f'), note('g')];
        await ended(a.pipe(parallel(b, c)).pipe(d).pipe(parallel(e, f)).pipe(g), 1, { form });
        expect([log[0], log.slice(1, 3).toSorted(), log[3]]).toEqual(['a', ['b', 'c'], 'd']);
        expect([log.slice(4, 6).toSorted(), log.slice(6)]).toEqual([['e', 'f'], ['g']]);
      },
    );
  });

  describe('what a dynamic task returns', () => {
    // C2.5
    it('goto skips what follows; a new step ends the run; next goes on with what follows', async () => {
      const jump = dynamic('jump', (n: number, ctx) => ctx.goto(c, n));
      await ended(jump.pipe(a).pipe(b).pipe(c).pipe(d), 1);
      expect(log).toEqual(['c', 'd']);
      log = [];
      const away = dynamic('away', (n: number, ctx) => ctx.goto(e, n));
      expect(await ended(away.pipe(a).pipe(b), 1)).toBe(1);
      expect(log).toEqual(['e']);
      log = [];
      const more = dynamic('more', (n: number, ctx) => ctx.next(e, n));
      await ended(more.pipe(a).pipe(b), 1);
      expect(log).toEqual(['e', 'a', 'b']);
    });

    // C2.6
    it('cancel goes before terminate, goto and next; a node that terminates has finished', async () => {
      for (const returns of ['terminate', 'goto', 'next', 'value'] as const) {
        const quit = dynamic('quit', (n: number, ctx) => {
          try {
            ctx.cancelRun('enough');
          } catch {
            // What it returns now does not count any more.
          }
          if (returns === 'terminate') return ctx.terminate(n);
          if (returns === 'goto') return ctx.goto(a, n);
          return returns === 'next' ? ctx.next(a, n) : n;
        });
        const run = await outcome(quit.pipe(b as never), 1);
        expect(run.error).toMatchObject({ code: 'RUN_CANCELED' });
        expect([returns, log]).toEqual([returns, []]);
        const nodes = (await harness.loom(others).runs.get(run.id))?.nodes ?? [];
        expect(nodes.find(({ node }) => node === 'quit')?.state).not.toBe('finished');
      }
      const stop = dynamic('stop', (n: number, ctx) => ctx.terminate(n));
      const run = await outcome(stop.pipe(b as never), 7);
      expect(run.value).toBe(7);
      const nodes = (await harness.loom(others).runs.get(run.id))?.nodes ?? [];
      expect(nodes.find(({ node }) => node === 'stop')?.state).toBe('finished');
      expect(log).toEqual([]);
    });

    // B-W20 C2.7
    it('an early end ends all of the run, also from a member of a lenient group', async () => {
      const hit = dynamic('hit', (n: number, ctx) => ctx.terminate(`cached ${n}`));
      const invalid = dynamic('invalid', (_: number, ctx) => ctx.cancelRun('not valid'));
      const wait = task('wait', async (_: unknown, ctx) => {
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      });
      const options = { policy: 'bestEffort' } as const;
      expect(await ended(hit.pipe(a as never), 1)).toBe('cached 1');
      expect(await ended(parallel({ hit, wait }, options).pipe(a as never), 2)).toBe('cached 2');
      for (const step of [invalid, parallel({ invalid, wait }, { ...options, name: 'g' })]) {
        const { error } = await outcome((step as typeof invalid).pipe(a as never), 1);
        expect(error).toMatchObject({ code: 'RUN_CANCELED' });
        expect(String(error)).toContain('not valid');
      }
      expect(log).toEqual([]);
    });

    // C2.8
    it('an agent and its tool take turns until it is done', async () => {
      const agent: Task<number, number, number> = dynamic('agent', (n: number, ctx) => {
        log.push('agent');
        return n >= 3 ? ctx.terminate(n) : ctx.next(tool, n);
      });
      const tool: Task<number, number, number> = dynamic('tool', (n: number, ctx) => {
        log.push('tool');
        return ctx.goto(agent, n + 1);
      });
      expect(await ended(agent.pipe(a as never), 0, { tasks: [tool] })).toBe(3);
      expect(log.join(' ')).toBe('agent tool agent tool agent tool agent');
    });
  });

  describe('cycles', () => {
    // B-W22 C2.9 C2.10 F142
    it('maxCycles is the number of runs of a node, on every way back, and one more is an error', async () => {
      for (const most of [1, 2, 5]) {
        for (const wanted of [most - 1, most]) {
          const may: boolean[] = [];
          const self = dynamic('self', { maxCycles: most }, (n: number, ctx) => {
            may.push(ctx.canIterate);
            return ctx.cycle < wanted ? ctx.again(n) : n;
          });
          const ping: Task<number, number, number> = dynamic(
            'ping',
            { maxCycles: most },
            (n: number, ctx) => {
              may.push(ctx.canIterate);
              return ctx.cycle < wanted ? ctx.next(pong, n) : n;
            },
          );
          const pong: Task<number, number, number> = dynamic(
            'pong',
            { maxCycles: 99 },
            (n: number, ctx) => ctx.goto(ping, n),
          );
          for (const step of [self, ping]) {
            may.length = 0;
            const tasks = [pong, ...(step === self ? [ping] : [])];
            const end = await outcome(step.pipe(a as never), 1, { tasks });
            const visits = Math.min(wanted + 1, most);
            const expected = Array.from({ length: visits }, (_, at) => at < most - 1);
            expect([step.name, most, wanted, may]).toEqual([step.name, most, wanted, expected]);
            if (wanted < most) expect(end.value).toBe(1);
            else expect(String(end.error)).toContain(`${step.name} exceeded maxCycles (${most})`);
          }
        }
      }
    });

    // C2.10
    it('a task that asks whether it may go on ends well at the limit', async () => {
      const careful = dynamic('careful', { maxCycles: 5 }, (n: number, ctx) =>
        ctx.canIterate ? ctx.again(n + 1) : n,
      );
      expect(await ended(careful, 0)).toBe(4);
    });

    // B-W22 C2.11
    it('every visit has all of its retries, and a retry is no cycle', async () => {
      const attempts: string[] = [];
      const options = { maxCycles: 4, retries: 1, backoff: { base: 0 } };
      const shaky = dynamic('shaky', options, (n: number, ctx) => {
        attempts.push(`${ctx.cycle}.${ctx.attempt}`);
        if (ctx.attempt === 1) throw new Error('once per visit');
        return ctx.cycle < 3 ? ctx.again(n + 1) : n;
      });
      expect(await ended(shaky, 0)).toBe(3);
      expect(attempts).toEqual(['0.1', '0.2', '1.1', '1.2', '2.1', '2.2', '3.1', '3.2']);
    });

    // B-W21
    it('a run of too many steps fails, and names what was left', async () => {
      const endless = dynamic('endless', { maxCycles: 2 * LIMITS.runSteps }, (n: number, ctx) =>
        ctx.again(n),
      );
      const run = await outcome(endless.pipe(b as never), 1, { checkpoint: 'group' });
      const error = String(run.error);
      expect(error).toContain(`${LIMITS.runSteps}`);
      expect(error).toMatch(/\bb, endless\b/);
      expect(log).toEqual([]);
    });
  });

  describe('going on after a crash', () => {
    /** A client whose worker dies when the handler says so. */
    function mortal(): { readonly backend: Harness['backend']; die(): Promise<never> } {
      let isDead = false;
      const backend = flakyBackend(harness.backend, () =>
        isDead ? { holdUntil: never } : undefined,
      );
      return {
        backend,
        die: () => {
          isDead = true;
          return never;
        },
      };
    }

    // C2.22
    it('loses no successors, also when the run was to end early', async () => {
      for (const early of [false, true]) {
        log = [];
        const { backend, die } = mortal();
        let calls = 0;
        const fragile = dynamic('fragile', async (n: number, ctx) => {
          if (++calls === 1) await die();
          return early ? ctx.terminate(n) : n;
        });
        const step = a.pipe(fragile as never).pipe(b as never);
        const tasks = [a, b, fragile];
        await harness.loom(tasks, { backend }).worker().start();
        const loom = harness.loom(tasks);
        const run = (await loom.enqueue(step as never, 1 as never)) as RunHandle<unknown>;
        await harness.until(() => calls === 1);
        const worker = loom.worker();
        await worker.start();
        await harness.clock.advance(2 * LIMITS.leaseMs);
        expect(await settled(harness, run.result())).toBe(1);
        expect(log).toEqual(early ? ['a'] : ['a', 'b']);
        await settled(harness, worker.stop());
      }
    });

    // B-W27
    it('in a branch loses nothing of the rest, and needs no checkpoint by hand', async () => {
      const { backend, die } = mortal();
      let calls = 0;
      const fragile = task('fragile', async (value: unknown) => {
        if (++calls === 1) await die();
        return value;
      });
      const branch = b.pipe(fragile).pipe(c);
      const step = a.pipe(parallel({ branch, e })).pipe(d);
      const tasks = [...others, fragile];
      await harness.loom(tasks, { backend }).worker({ concurrency: 1 }).start();
      const loom = harness.loom(tasks);
      const run = await loom.enqueue(step, 1, { form: 'driven' });
      await harness.until(() => calls === 1);
      await loom.worker().start();
      await harness.clock.advance(2 * LIMITS.leaseMs);
      expect(await settled(harness, run.result())).toEqual({ branch: 1, e: 1 });
      expect(log.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(log.at(-1)).toBe('d');
    });

    // C2.23
    it('keeps cycles and new nodes, and does not go on with what it cannot read', async () => {
      const { backend, die } = mortal();
      const seen: string[] = [];
      let isFirst = true;
      const loop = dynamic('loop', { maxCycles: 4 }, async (n: number, ctx) => {
        seen.push(`${ctx.cycle}`);
        if (ctx.cycle === 2 && isFirst) {
          isFirst = false;
          await die();
        }
        return ctx.canIterate ? ctx.again(n + 1) : ctx.next(c.pipe(d), n);
      });
      const tasks = [loop, ...others];
      await harness.loom(tasks, { backend }).worker().start();
      const loom = harness.loom(tasks);
      const run = await loom.enqueue(loop.pipe(b as never), 0);
      await harness.until(() => !isFirst);
      const worker = loom.worker();
      await worker.start();
      await harness.clock.advance(2 * LIMITS.leaseMs);
      expect(await settled(harness, run.result())).toBe(3);
      expect(seen).toEqual(['0', '1', '2', '2', '3']);
      expect(log).toEqual(['c', 'd', 'b']);
      await settled(harness, worker.stop());

      const bent = replaced(harness.backend, 'runs', { load: async () => ({ 'n:a#1': 'c{' }) });
      await harness.loom(others, { backend: bent }).worker().start();
      const torn = (await harness
        .loom(others)
        .enqueue(
          a.pipe(b) as never,
          1 as never,
          { form: 'driven', id: 'torn' } as never,
        )) as RunHandle<unknown>;
      await expect(settled(harness, torn.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
      expect(log).toEqual(['c', 'd', 'b']);
    });
  });
});
