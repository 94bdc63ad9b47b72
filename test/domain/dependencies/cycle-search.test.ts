import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cycleRefusal,
  cycleThrough,
  type EdgeQuestion,
} from '../../../src/domain/task/cycle-search.ts';
import { awaitedFrom, mayDependOn } from '../../../src/domain/task/dependency-edge.ts';

/** Edges by the id that waits. */
type Graph = Readonly<Record<string, readonly string[]>>;

function edgesOf(graph: Graph, { side, id }: EdgeQuestion): readonly string[] {
  if (side === 'upstreams') return graph[id] ?? [];
  return Object.keys(graph).filter((other) => graph[other]?.includes(id));
}

function search(graph: Graph, id: string, most = 1_000): ReturnType<typeof cycleThrough> {
  return cycleThrough(id, most, (question) => edgesOf(graph, question));
}

/** Whether the task waits for itself: by looking at everything that it waits for. */
function waitsForItself(graph: Graph, id: string): boolean {
  const seen = new Set<string>();
  const open = [...(graph[id] ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === id) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(graph[at] ?? []));
  }
  return false;
}

function chain(length: number): Graph {
  return Object.fromEntries(Array.from({ length }, (_, i) => [`c${i}`, [`c${i + 1}`]]));
}

describe('the search for a cycle', () => {
  // F67
  it('finds exactly what waits for itself, and tells a path of edges', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const graphs = fc.dictionary(fc.constantFrom(...ids), fc.uniqueArray(fc.constantFrom(...ids)), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(graphs, (graph) => {
        const verdict = search(graph, 'a');
        expect(verdict.kind).toBe(waitsForItself(graph, 'a') ? 'cycle' : 'none');
        if (verdict.kind !== 'cycle') return;
        const { path } = verdict;
        expect([path[0], path.at(-1)]).toEqual(['a', 'a']);
        for (const [i, id] of path.slice(0, -1).entries()) {
          expect(graph[id]).toContain(path[i + 1]);
        }
        expect(new Set(path).size).toBe(path.length - 1);
      }),
      { numRuns: 3_000 },
    );
  });

  // F67
  it('costs no more than twice the direction that tells first', () => {
    for (const graph of [
      { ...chain(10_000), w: ['c0'] },
      { ...chain(10_000), c5000: ['c5001', 'x'] },
    ]) {
      const id = 'w' in graph ? 'c0' : 'x';
      let asked = 0;
      const verdict = cycleThrough(id, 100_000, (question) => {
        asked++;
        return edgesOf(graph, question);
      });
      expect(verdict).toEqual({ kind: 'none' });
      expect(asked).toBeLessThan(6);
    }
  });

  // F67
  it('says so when both directions lead too far', () => {
    const far = Object.fromEntries([
      ...Object.entries(chain(50)),
      ...Array.from({ length: 50 }, (_, i) => [`w${i}`, [i === 0 ? 'c0' : `w${i - 1}`]]),
    ]);
    expect(search(far, 'c0', 40)).toEqual({ kind: 'limit' });
    expect(search(far, 'c0', 50)).toEqual({ kind: 'none' });
    // Of one direction too many wait; the other one tells all the same.
    const crowded = (question: EdgeQuestion): readonly string[] | undefined =>
      question.side === 'dependents' ? undefined : edgesOf(far, question);
    expect(cycleThrough('c0', 40, crowded)).toEqual({ kind: 'limit' });
    expect(cycleThrough('c0', 50, crowded)).toEqual({ kind: 'none' });
    expect(cycleRefusal({ kind: 'limit' }, 40)).toEqual({ type: 'dependency-limit', limit: 40 });
    expect(cycleRefusal({ kind: 'none' }, 40)).toBeUndefined();
    const path = ['a', 'b', 'a'];
    expect(cycleRefusal({ kind: 'cycle', path }, 40)).toEqual({ type: 'cycle', path });
  });
});

describe('whose tasks a task may depend on', () => {
  // F60
  it('its own user’s, and others’ where that was said', () => {
    const usual = { user: 'ann', edges: { allowCrossUser: false } };
    const open = { user: 'ann', edges: { allowCrossUser: true } };
    expect(mayDependOn(usual, 'ann')).toBe(true);
    expect(mayDependOn(usual, 'bob')).toBe(false);
    expect(mayDependOn(open, 'bob')).toBe(true);
    expect([awaitedFrom(usual), awaitedFrom(open)]).toEqual(['ann', '']);
  });
});
