/** Pipelines as tasks of the queue: order, values, failures. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  GroupFailedError,
  InvalidOptionError,
  InvalidPayloadError,
  RunFailedError,
} from '../../../src/domain/errors/errors.ts';
import { type Flow, flow } from '../../../src/workflow/flow.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';
import { anyRecipe, build, seriesParallel, workOf } from '../../workflow/random-steps.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const add = task('add', ([a, b]: readonly [number, number]) => a + b);
const fail = task('fail', { retries: 0 }, (n: number): number => {
  throw new RangeError(`no ${n}`);
});
const after = task('after', (n: number) => n);
const show = task('show', (value: unknown) => JSON.stringify(value));

eachBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  /** A client with a worker of all that is given. */
  async function working(
    ...steps: Parameters<Harness['loom']>[0] & readonly unknown[]
  ): Promise<Fairloom> {
    const loom = harness.loom(steps);
    await loom.worker({ concurrency: 10 }).start();
    return loom;
  }

  describe('a dispatched pipeline', () => {
    it('gives what its steps give', async () => {
      const whole = inc
        .pipe(parallel(double, inc.as('more')))
        .pipe(add)
        .pipe(double.as('again'));
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 3);
      expect(await settled(harness, run.result())).toBe((8 + 5) * 2);
      expect(run).toMatchObject({ created: true, runId: run.id });
    });

    it.each([
      ['a chain', inc.pipe(double).pipe(show), 3, '8'],
      ['a fan-out and a fan-in', parallel({ x: inc, y: double }).pipe(show), 3, '{"x":4,"y":6}'],
      [
        'a diamond',
        inc.pipe(parallel({ x: double, y: inc.as('more') })).pipe(show),
        1,
        '{"x":4,"y":3}',
      ],
    ] as const)('runs the example of the seed: %s', async (_, step, input, output) => {
      const loom = await working(inc, double, show);
      const run = await loom.enqueue(step, input);
      expect(await settled(harness, run.result())).toBe(output);
    });

    it('runs the example of the seed: extract, transform, load', async () => {
      const log: string[] = [];
      const note = (name: string) =>
        task(name, (rows: readonly number[]) => {
          log.push(name);
          return rows.map((n) => n + 1);
        });
      const extract = task('extract', (day: number) => {
        log.push('extract');
        return [day, day * 10];
      });
      const load = task('load', ([left, right]: readonly (readonly number[])[]) => {
        log.push('load');
        return [...(left ?? []), ...(right ?? [])];
      });
      const etl = extract.pipe(parallel(note('transform'), note('validate'))).pipe(load);
      const loom = await working(etl.as('etl'));
      const run = await loom.enqueue(etl, 4);
      expect(await settled(harness, run.result())).toEqual([5, 41, 5, 41]);
      expect([log[0], log.slice(1, 3).sort(), log[3]]).toEqual([
        'extract',
        ['transform', 'validate'],
        'load',
      ]);
    });

    it('wires flows by hand: parts, constants, the run input, order without reading', async () => {
      const order: string[] = [];
      const first = task('first', (input: { readonly day: number }) => {
        order.push('first');
        return { rows: [input.day, 7], done: true };
      });
      const last = task('last', (value: unknown) => {
        order.push('last');
        return value;
      });
      const report = flow('report', (f: Flow<{ day: number }>) => {
        const rows = f.step(first, f.input);
        const shown = f.step(last, { day: f.input.get('day'), kind: 'short' }, { after: [rows] });
        return f.step(show, { one: rows.get('rows').get(1), shown });
      });
      const loom = await working(report);
      const run = await loom.enqueue(report, { day: 3 });
      expect(await settled(harness, run.result())).toBe(
        '{"one":7,"shown":{"day":3,"kind":"short"}}',
      );
      expect(order).toEqual(['first', 'last']);
    });

    it('reads what came long before, in named pipelines inside of each other', async () => {
      const outer = task('outer', (n: number) => n * 100);
      const inner = flow('inner', (f: Flow<number>) => {
        const b = f.step(inc, 1);
        return f.step(add, [f.input, b] as never);
      });
      const whole = outer.pipe(inner).pipe(show);
      const loom = await working(whole);
      expect(await settled(harness, (await loom.enqueue(whole, 2)).result())).toBe('202');
    });

    it('says to handlers which run they work for', async () => {
      const seen: unknown[] = [];
      const look = task('look', (_: number, ctx: TaskContext) => {
        seen.push(ctx.runId);
        return 1;
      });
      const pair = look.pipe(look.as('again'));
      const loom = await working(pair);
      const run = await loom.enqueue(pair, 1);
      await settled(harness, run.result());
      const alone = await loom.enqueue(look, 1);
      await settled(harness, alone.result());
      expect(seen).toEqual([run.id, run.id, undefined]);
    });

    it('keeps runs apart that are under way at once', async () => {
      const whole = inc.pipe(parallel(double, inc.as('more'))).pipe(add);
      const loom = await working(whole);
      const runs = await Promise.all([1, 2, 3, 4, 5].map((n) => loom.enqueue(whole, n)));
      const all = Promise.all(runs.map((run) => run.result()));
      expect(await settled(harness, all)).toEqual([1, 2, 3, 4, 5].map((n) => (n + 1) * 3 + 1));
    });

    it('gives the empty group, and null and undefined as they are', async () => {
      const nothing = task('nothing', () => undefined);
      const none = task('none', () => null);
      const kind = task('kind', (value: unknown) => (value === null ? 'null' : typeof value));
      const whole = parallel({
        a: nothing.pipe(kind.as('of-nothing')),
        b: none.pipe(kind.as('of-null')),
        c: parallel({}, {}).pipe(show),
      });
      const loom = await working(whole);
      const run = await loom.enqueue(whole as never);
      expect(await settled(harness, run.result())).toEqual({ a: 'undefined', b: 'null', c: '{}' });
    });

    it('is as wide as it likes', async () => {
      const members = Array.from({ length: 450 }, (_, at) => inc.as(`n${at}`));
      const whole = parallel(...(members as [typeof inc, typeof inc])).pipe(
        task('sum', (all: readonly number[]) => all.reduce((a, b) => a + b, 0)),
      );
      const loom = await working(whole);
      const run = await loom.enqueue(whole as never, 1 as never);
      expect(await settled(harness, run.result())).toBe(900);
    });

    it('waits for what the enqueue says, and not before its time', async () => {
      const loom = await working(inc, double);
      const gate = await loom.enqueue(inc, 1, { delay: '1m' });
      const run = await loom.enqueue(inc.pipe(double), 1, { dependsOn: [gate], delay: '2m' });
      await harness.clock.advance(90_000);
      expect((await loom.tasks.get(gate.id))?.state).toBe('finished');
      expect((await loom.runs.get(run.id))?.nodes.map(({ state }) => state)).toEqual([
        'scheduled',
        'deferred',
      ]);
      expect(await settled(harness, run.result())).toBe(4);
    });
  });

  describe('random graphs', () => {
    it.each([
      ['series and parallel parts', seriesParallel],
      ['flows with any edges', anyRecipe],
    ])(
      // O48
      '%s end in an order that the truth accepts, with the right values',
      async (_, recipe) => {
        await fc.assert(
          fc.asyncProperty(recipe, async (made) => {
            const sample = build(made);
            const ended: string[] = [];
            const handlers = sample.tasks.map((name) =>
              task(name, async (input: unknown) => {
                ended.push(name);
                return workOf(name, input);
              }),
            );
            const loom = await working(...handlers);
            const run = await loom.enqueue(sample.step as never, { n: 1 } as never);
            expect(await settled(harness, run.result())).toEqual(sample.run({ n: 1 }));
            expect([...ended].sort()).toEqual([...sample.tasks].sort());
            for (const [at, name] of ended.entries()) {
              for (const later of ended.slice(at + 1))
                expect(sample.order.has(`${later}<${name}`)).toBe(false);
            }
            await loom.runs.cancel(run.id);
            await harness.close();
            harness = await open();
          }),
          { numRuns: 25 },
        );
      },
    );
  });

  describe('a node that fails', () => {
    it('fails the run with its own error and name; what follows does not start', async () => {
      const started: string[] = [];
      const spy = task('spy', (n: number) => {
        started.push('spy');
        return n;
      });
      const whole = inc
        .pipe(parallel({ bad: fail, good: double }))
        .pipe(show)
        .pipe(spy as never);
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 1);
      const error = await settled(harness, refusal(run.result()));
      expect(error).toBeInstanceOf(RunFailedError);
      expect(error).toMatchObject({
        runId: run.id,
        node: 'fail',
        failureType: 'error',
        errorName: 'RangeError',
        message: expect.stringContaining('no 2'),
      });
      expect(started).toEqual([]);
    });

    it.each([
      [
        'bestEffort',
        'bestEffort',
        '{"bad":{"ok":false,"error":{"name":"RangeError","message":"no 1"}},"good":{"ok":true,"value":2}}',
      ],
      [
        'atLeast',
        { atLeast: 1 },
        '{"bad":{"ok":false,"error":{"name":"RangeError","message":"no 1"}},"good":{"ok":true,"value":2}}',
      ],
      [
        'critical',
        { critical: ['good'] },
        '{"bad":{"ok":false,"error":{"name":"RangeError","message":"no 1"}},"good":2}',
      ],
    ] as const)('is absorbed by %s', async (_, policy, output) => {
      const whole = parallel(
        { bad: fail.pipe(after), good: double },
        { policy: policy as 'bestEffort' },
      ).pipe(show);
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 1);
      expect(await settled(harness, run.result())).toBe(output);
    });

    it.each([
      ['strict', 'strict', 'fail', 'RangeError'],
      ['atLeast', { atLeast: 2 }, '~group.double', 'GroupFailedError'],
      ['critical', { critical: ['bad'] }, '~group.double', 'GroupFailedError'],
    ] as const)('is not absorbed by %s', async (_, policy, node, errorName) => {
      const whole = parallel({ bad: fail, good: double }, { policy: policy as 'strict' }).pipe(
        show,
      );
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 1);
      const error = await settled(harness, refusal(run.result()));
      expect(error).toMatchObject({ code: 'RUN_FAILED', node, errorName });
      expect(String(error)).toContain('no 1');
      expect(GroupFailedError.name).toBe('GroupFailedError');
    });

    it('before a lenient group fails the run, not the members', async () => {
      const whole = fail.pipe(parallel({ a: inc, b: double }, { policy: 'bestEffort' })).pipe(show);
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 1);
      const error = await settled(harness, refusal(run.result()));
      expect(error).toMatchObject({ code: 'RUN_FAILED', node: 'fail', errorName: 'RangeError' });
    });

    it('is retried before that', async () => {
      let tries = 0;
      const shaky = task('shaky', { retries: 2, backoff: { base: '1s' } }, (n: number) => {
        tries++;
        if (tries < 3) throw new Error('not yet');
        return n;
      });
      const whole = inc.pipe(shaky).pipe(double);
      const loom = await working(whole);
      const run = await loom.enqueue(whole, 1);
      expect(await settled(harness, run.result())).toBe(4);
      expect(tries).toBe(3);
    });

    it('in a group of more than a join holds fails the run', async () => {
      const members = Array.from({ length: 230 }, (_, at) => (at === 7 ? fail : inc.as(`n${at}`)));
      const whole = parallel(...(members as [typeof inc, typeof inc])).pipe(show);
      const loom = await working(whole);
      const run = await loom.enqueue(whole as never, 1 as never);
      const error = await settled(harness, refusal(run.result()));
      expect(error).toMatchObject({ code: 'RUN_FAILED', node: 'fail' });
    });
  });

  describe('refuses', () => {
    const text: StandardSchemaV1<string, string> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          typeof value === 'string' ? { value } : { issues: [{ message: 'not a text' }] },
      },
    };
    const checked = task('checked', { input: text }, (value: string) => value.length);

    it('an input that the first step would refuse, before anything is stored', async () => {
      const loom = harness.loom([checked, inc]);
      const whole = checked.pipe(inc);
      const wrong = loom.enqueue(whole, 3 as never);
      await expect(wrong).rejects.toBeInstanceOf(InvalidPayloadError);
      await expect(loom.enqueue(whole, new Date() as never)).rejects.toBeInstanceOf(
        InvalidPayloadError,
      );
      expect((await loom.stats()).totals.enqueued).toBe(0);
    });

    it('to dispatch what has to be driven, and options that mean nothing for a run', async () => {
      const loom = harness.loom([inc, double]);
      const fast = parallel({ inc, double }, { failFast: true });
      await expect(loom.enqueue(fast, 1, { form: 'dispatched' })).rejects.toThrow(
        /group of double: fail-fast/,
      );
      const key = { idempotencyKey: 'k', idempotency: { policy: 'run-once-more' } } as const;
      await expect(loom.enqueue(inc.pipe(double), 1, key)).rejects.toBeInstanceOf(
        InvalidOptionError,
      );
      await expect(
        loom.enqueue(inc.pipe(double), 1, { form: 'x' as never }),
      ).rejects.toBeInstanceOf(InvalidOptionError);
    });
  });
});
