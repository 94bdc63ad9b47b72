/** Where members run in turn, none starts behind one that has failed a `failFast` group. */
import { expect, it } from 'vitest';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { Step } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../../support/backends.ts';
import { refusal, settled } from '../../../support/runs.ts';

embedded((open) => {
  const harness = opened(open);

  // F84
  it.each([
    ['strict', 'strict'],
    ['an atLeast of all', { atLeast: 6 }],
  ] as const)('%s: stored or here and now, the one behind does not start', async (_, policy) => {
    const log: number[] = [];
    const step = task('step', { retries: 0 }, async (n: number) => {
      log.push(n);
      if (n === 2) throw new Error('no 2');
      return n;
    });
    const inTurn = each(step, { concurrency: 1, failFast: true, policy }).as('in-turn');
    const loom = harness.loom([inTurn]);
    await loom.worker({ concurrency: 5 }).start();
    await refusal(loom.run(inTurn, [0, 1, 2, 3, 4, 5]));
    expect(log).toEqual([0, 1, 2]);
    log.length = 0;
    const run = await loom.enqueue(inTurn, [0, 1, 2, 3, 4, 5]);
    expect(await refusal(settled(harness, run.result()))).toMatchObject({ code: 'RUN_FAILED' });
    await harness.quiet();
    expect(log).toEqual([0, 1, 2]);
  });

  // F84
  it.each(['parallel', 'in a group', 'chains'] as const)(
    '%s: stored or here and now, nothing starts behind the one that fails',
    async (shape) => {
      const log: string[] = [];
      const named = (name: string) =>
        task(name, { retries: 0 }, async (n: number) => {
          log.push(name);
          if (name === 'b') throw new Error('no b');
          return n;
        });
      const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')];
      const options = { concurrency: 1, failFast: true } as const;
      const inner = parallel({ a, b, c }, options);
      const shapes = {
        parallel: inner,
        'in a group': parallel({ inner, d }, options),
        chains: parallel({ ab: a.pipe(b).pipe(c), d }, options),
      };
      const inTurn: Step<number, unknown> = shapes[shape].as('shaped');
      const loom = harness.loom([inTurn]);
      await loom.worker({ concurrency: 5 }).start();
      await refusal(loom.run(inTurn, 1));
      expect(log).toContain('b');
      expect(log.slice(log.indexOf('b'))).toEqual(['b']);
      log.length = 0;
      const run = await loom.enqueue(inTurn, 1);
      expect(await refusal(settled(harness, run.result()))).toMatchObject({ code: 'RUN_FAILED' });
      await harness.quiet();
      expect(log.slice(log.indexOf('b'))).toEqual(['b']);
    },
  );

  // F84
  it.each([
    ['that all members are in', ['a', 'b', 'c'], ['a', 'b']],
    ['that some members are not in', ['a', 'c'], ['a', 'b', 'c']],
  ])('a critical list %s decides whether the one behind starts', async (_, critical, ran) => {
    const log: string[] = [];
    const named = (name: string) =>
      task(name, { retries: 0 }, async (n: number) => {
        log.push(name);
        if (name === 'b') throw new Error('no b');
        return n;
      });
    const members = { a: named('a'), b: named('b'), c: named('c') };
    const options = { concurrency: 1, failFast: true, policy: { critical } } as const;
    const inTurn = parallel(members, options as never).as('listed');
    const loom = harness.loom([inTurn]);
    await loom.worker({ concurrency: 5 }).start();
    const run = await loom.enqueue(inTurn, 1);
    await settled(
      harness,
      run.result().catch(() => undefined),
    );
    await harness.quiet();
    expect(log).toEqual(ran);
  });
});
