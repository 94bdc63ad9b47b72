import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type DependencyNode, findCycle } from '../../../src/domain/task/dependency-cycle.ts';

function node(id: string, ...dependsOn: readonly string[]): DependencyNode {
  return { id, dependsOn };
}

// O63
it('a diamond is no cycle', () => {
  expect(
    findCycle([node('d', 'b', 'c'), node('b', 'a'), node('c', 'a'), node('a')]),
  ).toBeUndefined();
});

// O64
it('finds cycles of every length, and names the way', () => {
  expect(findCycle([node('a', 'a')])).toEqual(['a', 'a']);
  expect(findCycle([node('a', 'b'), node('b', 'a')])).toEqual(['a', 'b', 'a']);
  const ring = Array.from({ length: 1_000 }, (_, at) => node(`${at}`, `${(at + 1) % 1_000}`));
  expect(findCycle(ring)).toHaveLength(1_001);
  expect(findCycle([node('x', 'a'), node('a', 'b'), node('b', 'a')])).toEqual(['a', 'b', 'a']);
});

// O65
it('a chain of 200,000 is walked without a deep stack', () => {
  const chain = Array.from({ length: 200_000 }, (_, at) => node(`${at}`, `${at + 1}`));
  expect(findCycle(chain)).toBeUndefined();
  const cycle = findCycle([...chain, node('200000', '0')]);
  expect(cycle?.length).toBe(200_002);
});

it('ignores what is not in the batch, and ids that come twice', () => {
  expect(findCycle([node('a', 'elsewhere'), node('a')])).toBeUndefined();
  expect(findCycle([node('a'), node('a', 'b'), node('b', 'a')])).toBeDefined();
});

it('agrees with removing what waits for nothing', () => {
  const graphs = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 16 });
  fc.assert(
    fc.property(graphs, (edges) => {
      const nodes = edges.map(([from, to]) => node(`${from}`, `${to}`));
      const left = new Map<string, Set<string>>();
      for (const [from, to] of edges) {
        left.set(`${from}`, (left.get(`${from}`) ?? new Set()).add(`${to}`));
      }
      for (let removed = true; removed; ) {
        removed = false;
        for (const [id, targets] of left) {
          for (const target of targets) if (!left.has(target)) targets.delete(target);
          if (targets.size > 0) continue;
          left.delete(id);
          removed = true;
        }
      }
      expect(findCycle(nodes) === undefined).toBe(left.size === 0);
    }),
  );
});
