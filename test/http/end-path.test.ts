/** What the end of a run waited for, as the page finds it out. */
import { describe, expect, it } from 'vitest';
import type { RunNodeInfo } from '../../dashboard/src/api/shapes.ts';
import { endPath } from '../../dashboard/src/screens/runs/end-path.ts';
import type { GraphBlock, GraphNode } from '../../src/graph/graph.ts';
import type { Timeline, TimelineSpan } from '../../src/operations/answers.ts';

/** A node that waits for others of its block. */
function job(id: string, ...after: readonly string[]): GraphNode {
  return { kind: 'task', id, task: id, options: {}, input: { from: 'input' }, after };
}

function block(...nodes: readonly GraphNode[]): GraphBlock {
  return { nodes, output: { from: 'input' } };
}

function group(id: string, after: readonly string[], ...blocks: readonly GraphBlock[]): GraphNode {
  const members = blocks.map((one, at) => ({ key: String(at), block: one }));
  const base = { id, input: { from: 'input' }, after, policy: { kind: 'strict' } } as const;
  return { ...base, kind: 'parallel', failFast: false, shape: 'tuple', members };
}

/** When a node was enqueued, and each stretch in which it ran; the last number is its end. */
type Times = readonly [createdAt: number, ...moments: readonly number[]];

function spansOf(node: string, [from, ...moments]: Times): readonly TimelineSpan[] {
  const place = { node, taskId: `task ${node}` };
  const to = moments.at(-1);
  const runs = moments.slice(0, moments.length - (moments.length % 2));
  return [
    { ...place, kind: 'task', from, ...(to === undefined ? {} : { to }) },
    ...runs.flatMap((began, at): readonly TimelineSpan[] =>
      at % 2 === 1
        ? []
        : [{ ...place, kind: 'attempt', from: began, ...endOf(runs[at + 1]), attempt: at / 2 + 1 }],
    ),
  ];
}

function endOf(to: number | undefined): { readonly to?: number } {
  return to === undefined ? {} : { to };
}

interface Given {
  readonly graph: GraphBlock;
  readonly times: Readonly<Record<string, Times>>;
  readonly to?: number;
  readonly states?: Readonly<Record<string, RunNodeInfo['state']>>;
  readonly open?: readonly TimelineSpan[];
}

/** Each step as `node from-to, ran`. */
function pathOf({ graph, times, to, states = {}, open = [] }: Given): readonly string[] {
  const names = new Set([...Object.keys(times), ...open.map(({ node }) => node)]);
  const nodes = [...names].map((node) => ({ node, state: states[node] ?? 'finished' }) as const);
  const spans = [...Object.entries(times).flatMap(([node, own]) => spansOf(node, own)), ...open];
  const timeline: Timeline = { id: 'run', from: 0, ...endOf(to), spans, isCut: false };
  return endPath(graph, nodes, timeline, 1_000).map(
    (step) => `${step.node} ${step.from}-${step.to ?? ''}, ${step.ranMs}`,
  );
}

describe('the end waits for', () => {
  it('every node of a chain, each from the end of the one before', () => {
    const graph = block(job('a'), job('b', 'a'), job('c', 'b'));
    const times = { a: [0, 5, 20], b: [20, 30, 70], c: [70, 71, 80] } as const;
    expect(pathOf({ graph, times, to: 80 })).toEqual(['a 0-20, 15', 'b 20-70, 40', 'c 70-80, 9']);
  });

  it('the slower side, and what that waited for', () => {
    const graph = block(job('a'), job('b'), job('c', 'a'), job('d', 'b', 'c'));
    const times = { a: [0, 0, 10], b: [0, 0, 60], c: [10, 10, 40], d: [60, 60, 90] } as const;
    expect(pathOf({ graph, times, to: 90 })).toEqual(['b 0-60, 60', 'd 60-90, 30']);
  });

  it('all attempts of a node, with the waits between them', () => {
    const graph = block(job('a'), job('b', 'a'));
    const times = { a: [0, 0, 10], b: [10, 20, 30, 60, 80] } as const;
    expect(pathOf({ graph, times, to: 80 })).toEqual(['a 0-10, 10', 'b 10-80, 30']);
  });

  it('the last member of a group, and of that the part that ended last', () => {
    const graph = block(
      job('a'),
      group('g', ['a'], block(job('b')), block(job('c'), job('d', 'c'))),
      job('e', 'g'),
    );
    const times = {
      a: [0, 0, 10],
      b: [10, 10, 50],
      c: [10, 10, 20],
      d: [20, 20, 70],
      g: [0, 70],
      e: [70, 70, 75],
    } as const;
    expect(pathOf({ graph, times, to: 75 })).toEqual([
      'a 0-10, 10',
      'c 10-20, 10',
      'd 20-70, 50',
      'e 70-75, 5',
    ]);
  });

  it('what ended last of a run that failed, through what never ran', () => {
    const graph = block(job('a'), job('b', 'a'), job('c', 'a'), job('d', 'b', 'c'), job('e', 'd'));
    const times = {
      a: [0, 0, 10],
      b: [10, 10, 15],
      c: [10, 10, 40],
      d: [0, 40],
      e: [0, 40],
    } as const;
    const states = { b: 'failed', d: 'skipped', e: 'skipped' } as const;
    expect(pathOf({ graph, times, states, to: 40 })).toEqual(['a 0-10, 10', 'c 10-40, 30']);
  });

  it('what came before a group of which nothing ran', () => {
    const graph = block(job('a'), group('g', ['a'], block(job('b'))), job('c', 'g'));
    const times = { a: [0, 0, 30], b: [0, 30], c: [30, 35, 50] } as const;
    const states = { b: 'skipped' } as const;
    expect(pathOf({ graph, times, states, to: 50 })).toEqual(['a 0-30, 30', 'c 30-50, 15']);
  });

  it('nothing that another run has done before', () => {
    const graph = block(job('a'), job('b', 'a'));
    const times = { a: [-90, -80, -50], b: [0, 10, 20] } as const;
    expect(pathOf({ graph, times, to: 20 })).toEqual(['b 0-20, 10']);
  });

  it('nothing that was still being stopped', () => {
    const graph = block(job('a'), job('b'));
    const times = { a: [0, 0, 20], b: [0, 0, 90] } as const;
    const states = { b: 'canceled' } as const;
    expect(pathOf({ graph, times, states, to: 20 })).toEqual(['a 0-20, 20']);
  });

  it('nothing, where no node is a task', () => {
    expect(pathOf({ graph: block(job('a')), times: {}, to: 9 })).toEqual([]);
  });
});

describe('a run under way waits for', () => {
  const running = (node: string, from: number): readonly TimelineSpan[] => [
    { node, taskId: `task ${node}`, kind: 'task', from: 0 },
    { node, taskId: `task ${node}`, kind: 'running', attempt: 1, from },
  ];
  const graph = block(job('a'), job('b', 'a'), job('c', 'a'), job('d'), job('e', 'b'));

  it('the open node that runs and was ready first', () => {
    const open = [...running('b', 500), ...running('c', 300), ...running('d', 100)];
    expect(pathOf({ graph, times: { a: [0, 0, 90] }, open })).toEqual(['d 0-, 900']);
    expect(pathOf({ graph, times: { a: [0, 0, 90] }, open: running('b', 500) })).toEqual([
      'a 0-90, 90',
      'b 90-, 500',
    ]);
  });

  it('one that sleeps or is in line, where none runs, and never for one that waits for others', () => {
    const waits = (node: string): TimelineSpan => ({
      node,
      taskId: `task ${node}`,
      kind: 'task',
      from: 0,
    });
    const states = { b: 'scheduled', e: 'deferred' } as const;
    const open = [waits('e'), waits('b')];
    expect(pathOf({ graph, times: { a: [0, 0, 90] }, states, open })).toEqual([
      'a 0-90, 90',
      'b 90-, 0',
    ]);
  });
});
