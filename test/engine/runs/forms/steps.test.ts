/** How many steps a run may come to, and how many of them run at once, in every form of runs. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { Pipeline } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';

type AnyPipeline = Pipeline<never, unknown>;

embedded((open) => {
  const harness = opened(open);
  let running: number;
  let most: number;
  let order: string[];
  beforeEach(async () => {
    [running, most, order] = [0, 0, []];
  });

  /** Says when it begins and ends; takes some turns of the event loop. */
  const named = (name: string) =>
    task(name, { retries: 0 }, async (given: unknown) => {
      order.push(`+${name}`);
      most = Math.max(most, ++running);
      for (let turns = 0; turns < 10; turns++) await new Promise((next) => setImmediate(next));
      running--;
      order.push(`-${name}`);
      return given;
    });
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')];
  const list = task('list', async (n: number) => [n, n, n]);
  const line = a.pipe(b).pipe(c).as('line');

  const runs = (step: AnyPipeline, name: string) =>
    task(name, { retries: 0 }, (given: never, ctx) => ctx.run(step, given));
  const runsLine = runs(line as never, 'runs-line')
    .pipe(d)
    .as('of-line');
  const runsLines = runs(each(line) as never, 'runs-lines')
    .pipe(d)
    .as('of-lines');
  const runsOne = runs(each(a) as never, 'runs-one')
    .pipe(d)
    .as('of-one');

  type Form = 'dispatched' | 'driven' | 'run';

  /** What a run gives, or the name of the error that it failed with. */
  async function outcome(step: AnyPipeline, input: unknown, form: Form, maxSteps?: number) {
    const loom: Fairloom = harness.loom([step, line, a]);
    const said = maxSteps === undefined ? {} : { maxSteps };
    if (form === 'run') return loom.run(step, input as never, said).catch(nameOf);
    await loom.worker({ concurrency: 10 }).start();
    const handle = await loom.enqueue(step, input as never, { form, ...said });
    return settled(harness, handle.result()).catch(nameOf);
  }

  const nameOf = (error: unknown): string => {
    const text = `${String(error)} ${String((error as Error).cause)}`;
    return text.includes('MaxSteps') || text.includes('the run made') ? 'too many' : text;
  };

  describe('maxSteps', () => {
    it.each(['dispatched', 'driven', 'run'] as const)(
      'counts a group as one, and no member of it that is one task (%s)',
      async (form) => {
        expect(await outcome(parallel({ a, b, c }).as('three'), 1, form, 1)).toEqual({
          a: 1,
          b: 1,
          c: 1,
        });
        expect(await outcome(runsOne, [1, 2, 3], form, 2)).toEqual([1, 2, 3]);
        if (form === 'dispatched') return;
        expect(await outcome(list.pipe(each(a)).as('listed'), 1, form, 2)).toEqual([1, 1, 1]);
      },
    );

    it.each(['dispatched', 'driven', 'run'] as const)(
      'holds for what a handler runs, by itself (%s)',
      async (form) => {
        expect(await outcome(runsLine, 1, form, 2)).toBe('too many');
        expect(order).toEqual(['+a', '-a', '+b', '-b']);
        expect(await outcome(runsLine, 1, form, 3)).toBe(1);
        expect(await outcome(runsLines, [1], form, 2)).toBe('too many');
        expect(await outcome(runsLines, [1], form, 3)).toEqual([1]);
      },
    );
  });

  describe('at once', () => {
    const one = { concurrency: 1 } as const;
    const inner = parallel({ a, b });
    /** Members of the outer group run one at a time; those of a group in a member are its own. */
    const SHAPES: Readonly<
      Record<string, readonly [AnyPipeline, unknown, readonly string[], number]>
    > = {
      'a group in a group': [parallel({ c, inner, d }, one), 1, ['c', 'd', 'a b'], 2],
      'a group of one at a time in one': [
        parallel({ c, inner: parallel({ a, b }, one), d }, one),
        1,
        ['c', 'd', 'a', 'b'],
        1,
      ],
      'a sequence in a group': [
        parallel({ c, inner: a.pipe(b), d }, one),
        1,
        ['c', 'd', 'a', 'b'],
        1,
      ],
      'a group that a member runs': [
        parallel({ c, inner: runs(inner as never, 'inner'), d }, one),
        1,
        ['c', 'd', 'a b'],
        2,
      ],
      'each in each': [each(each(a), one), [[1, 2], [3]], ['a a', 'a'], 2],
    };
    /** What has begun between two moments at which nothing runs. */
    const groups = (): readonly string[] => {
      const found: string[] = [];
      let now: string[] = [];
      let count = 0;
      for (const text of order) {
        count += text.startsWith('+') ? 1 : -1;
        if (text.startsWith('+')) now.push(text.slice(1));
        if (count > 0) continue;
        found.push(now.sort().join(' '));
        now = [];
      }
      return found;
    };

    for (const [name, [shape, input, expected, atMost]] of Object.entries(SHAPES)) {
      it.each(['driven', 'run'] as const)(
        `${name}: members take their turns (%s)`,
        async (form) => {
          await outcome(shape.as('p'), input, form);
          expect([...groups()].sort()).toEqual([...expected].sort());
          expect(most).toBe(atMost);
        },
      );
    }

    it.each(['dispatched', 'driven', 'run'] as const)(
      'what one handler runs by several calls comes one after the other (%s)',
      async (form) => {
        const asks = task('asks', { retries: 0 }, (n: number, ctx) =>
          Promise.all([ctx.run(a, n), ctx.run(inner, n), ctx.run(c, n)]),
        );
        expect(await outcome(asks.pipe(d).as('p'), 1, form)).toEqual([1, { a: 1, b: 1 }, 1]);
        expect(groups()).toEqual(['a', 'a b', 'c', 'd']);
      },
    );
  });
});
