/** Rows about composition that need no backend: what comes after what, and how it is built. */
import { expect, it } from 'vitest';
import { findCycle } from '../../src/domain/task/dependency-cycle.ts';
import { plan } from '../../src/graph/graph-plan.ts';
import { compile } from '../../src/workflow/compile.ts';
import { parseNotation } from '../../src/workflow/notation/notation.ts';
import { parallel } from '../../src/workflow/parallel.ts';
import type { Step } from '../../src/workflow/step.ts';
import { a, b, c, d, orderOf, step } from './kit.ts';

type Any = Step<unknown, unknown>;

const e = step('e');
const steps = { a, b, c, d, e };

/** The order of a workflow that is written as text, and of the same as calls. */
function order(text: string, calls: unknown): readonly string[] {
  const written = orderOf(parseNotation(text, steps));
  expect(orderOf(calls)).toEqual(written);
  return written;
}

// A-W26
it('nested composition loses no edge and adds none', () => {
  const inner = parallel({ x: a.pipe(b), y: c }) as unknown as Any;
  expect(order('((a >> b) | c) >> d', inner.pipe(d))).toEqual(['a<b', 'a<d', 'b<d', 'c<d']);
  const first = parallel(a, b) as unknown as Any;
  expect(order('(a | b) >> c', first.pipe(c))).toEqual(['a<c', 'b<c']);
});

// B-W18 B-W19 C2.4
it('groups in groups stay what they are, also with something before or after', () => {
  const pair = parallel(b, c) as unknown as Any;
  expect(order('a | (b | c)', parallel(a, pair))).toEqual([]);
  expect(order('a >> (b | c)', a.pipe(pair))).toEqual(['a<b', 'a<c']);
  // A group that already has a successor is one member of the other, not merged into it.
  const followed = pair.pipe(d);
  expect(order('((b | c) >> d) | a', parallel(followed, a))).toEqual(['b<d', 'c<d']);
  expect(
    order('(((b | c) >> d) | a) >> e', (parallel(followed, a) as unknown as Any).pipe(e)),
  ).toEqual(['a<e', 'b<d', 'b<e', 'c<d', 'c<e', 'd<e']);
});

// C2.3
it('chains in a group keep their own order, and what follows waits for the ends of all', () => {
  const chains = parallel(a.pipe(b), c.pipe(d));
  expect(order('(a >> b) | (c >> d)', chains)).toEqual(['a<b', 'c<d']);
  const nested = a.pipe(parallel(b.pipe(c), d) as unknown as Any).pipe(e);
  expect(order('a >> ((b >> c) | d) >> e', nested)).toEqual([
    'a<b',
    'a<c',
    'a<d',
    'a<e',
    'b<c',
    'b<e',
    'c<e',
    'd<e',
  ]);
});

// A-W27
it('a chain of 10,000 steps is built, compiled and planned in the time of one look at each', async ({
  annotate,
}) => {
  const time = (length: number): number => {
    const begun = performance.now();
    let chain: Any = step('s0');
    for (let at = 1; at < length; at++) chain = chain.pipe(step(`s${at}`));
    const made = plan(compile(chain));
    expect(made.form === 'dispatched' && made.nodes.length).toBe(length);
    return performance.now() - begun;
  };
  time(1_000);
  // Measured, not asserted: what is cubic takes hours, and the limit of the test is seconds.
  const measured = [1_000, 10_000].map((length) => `${length}: ${time(length).toFixed(0)} ms`);
  await annotate(`chain of ${measured.join(', ')}`);
});

// O65
it('a chain of 200,000 dependencies is checked without a deep stack', async ({ annotate }) => {
  const length = 200_000;
  const chain = Array.from({ length }, (_, at) => ({ id: `${at}`, dependsOn: [`${at + 1}`] }));
  const begun = performance.now();
  expect(findCycle(chain)).toBeUndefined();
  // Measured, not asserted: the recipe asks for less than 2 s.
  await annotate(`chain of ${length} checked in ${(performance.now() - begun).toFixed(0)} ms`);
});
