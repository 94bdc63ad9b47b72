/** From a graph to tasks and joins, and from outcomes to values. */
import { describe, expect, it } from 'vitest';
import {
  DependencyCycleError,
  DuplicateNodeError,
  InvalidOptionError,
} from '../../src/domain/errors/errors.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { EachNode, GraphNode, TaskGraph } from '../../src/graph/graph.ts';
import { entriesOf, exitsOf } from '../../src/graph/graph.ts';
import { checkGraph } from '../../src/graph/graph-check.ts';
import { flatten, type PlanNode, plan } from '../../src/graph/graph-plan.ts';
import { groupOutput, type NodeOutcome, PlanValues } from '../../src/graph/graph-values.ts';
import { compile } from '../../src/workflow/compile.ts';
import { type Flow, flow } from '../../src/workflow/flow.ts';
import { groupPolicy } from '../../src/workflow/group-policy.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import type { AnyStep } from '../../src/workflow/step.ts';
import { dynamic, task } from '../../src/workflow/task-definition.ts';
import { a, b, c, d, hashOf, nodeOf, step } from './kit.ts';

function tasks(count: number, prefix = 't'): readonly AnyStep[] {
  return Array.from({ length: count }, (_, at) => step(`${prefix}${at}`));
}

function wide(count: number): AnyStep {
  return parallel(Object.fromEntries(tasks(count).map((one) => [one.name, one])));
}

describe('plan', () => {
  it('gives tasks and joins in order, with what they wait for', () => {
    const made = plan(compile(a.pipe(parallel({ b, c })).pipe(d)));
    expect(made).toMatchObject({
      form: 'dispatched',
      nodes: [
        { kind: 'task', id: 'a', dependsOn: [] },
        { kind: 'task', id: 'b', dependsOn: ['a'] },
        { kind: 'task', id: 'c', dependsOn: ['a'] },
        {
          kind: 'group',
          id: '~group.b',
          dependsOn: ['b', 'c'],
          group: { policy: { kind: 'strict' }, failFast: false },
          members: [
            { key: 'b', ends: ['b'] },
            { key: 'c', ends: ['c'] },
          ],
        },
        { kind: 'task', id: 'd', dependsOn: ['~group.b'] },
      ],
      ends: ['d'],
    });
  });

  it.each<[string, AnyStep, string, string]>([
    ['a dynamic task', a.pipe(dynamic('choose', async (n: unknown) => n)), 'choose', 'dynamic'],
    ['each()', each(a), '~group.a', 'each'],
    [
      'a policy of one’s own',
      parallel({ a, b }, { policy: { name: 'quorum' } }),
      '~group.a',
      'registered-policy',
    ],
    ['a concurrency', parallel({ a, b }, { concurrency: 1 }), '~group.a', 'concurrency'],
    ['a timeout', parallel({ a, b }, { timeout: '5s' }), '~group.a', 'timeout'],
    ['failing fast', parallel({ a, b }, { failFast: true }), '~group.a', 'fail-fast'],
    [
      'any of these inside',
      parallel({ x: a, y: each(b).as('all').pipe(c).as('in') }),
      'in.all',
      'each',
    ],
  ])('drives %s', (_, drawn, node, reason) => {
    expect(plan(compile(drawn))).toEqual({ form: 'driven', reasons: [{ node, reason }] });
  });

  it.each([
    ['strict', undefined],
    ['bestEffort', 'bestEffort'],
    ['atLeast', { atLeast: 1 }],
    ['critical', { critical: ['a'] }],
  ] as const)('dispatches %s', (kind, policy) => {
    const options = policy === undefined ? {} : { policy };
    const made = plan(compile(parallel({ a, b }, options as object)));
    expect(made).toMatchObject({
      form: 'dispatched',
      nodes: [{}, {}, { kind: 'group', group: { policy: { kind } } }],
    });
  });
});

describe('joins', () => {
  const most = LIMITS.dependencies;

  function widest(nodes: readonly PlanNode[]): number {
    return Math.max(...nodes.map(({ dependsOn }) => dependsOn.length));
  }

  function edges(nodes: readonly PlanNode[]): number {
    return nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
  }

  it('stand between a group and its members when these are many', () => {
    const { nodes } = flatten(compile(wide(most + 1)));
    const group = nodes.at(-1);
    expect(group).toMatchObject({
      kind: 'group',
      dependsOn: ['~join1.group.t0', '~join2.group.t0'],
    });
    expect(nodes.filter(({ kind }) => kind === 'join')).toMatchObject([
      { rule: 'settled', dependsOn: { length: most } },
      { rule: 'settled', dependsOn: ['t99'] },
    ]);
    expect(flatten(compile(wide(most))).nodes.some(({ kind }) => kind === 'join')).toBe(false);
  });

  it('stand in levels when there are very many', () => {
    const { nodes } = flatten(compile(wide(most * most + 1)));
    expect(widest(nodes)).toBeLessThanOrEqual(most);
    const joins = nodes.filter(({ kind }) => kind === 'join');
    expect(joins).toHaveLength(most + 1 + 2);
    expect(nodes.at(-1)?.dependsOn).toHaveLength(2);
  });

  it('stand before a step that waits for many', () => {
    const fan = flow('fan', (f: Flow<unknown>) => {
      const refs = tasks(most + 5).map((one) => f.step(one as typeof a, f.input));
      return f.step(d, refs);
    });
    const { nodes } = flatten(compile(fan));
    expect(nodes.at(-1)).toMatchObject({ id: 'd', dependsOn: ['~join1.d', '~join2.d'] });
    expect(nodes.filter(({ kind }) => kind === 'join')).toMatchObject([
      { rule: 'all' },
      { rule: 'all' },
    ]);
  });

  it('save the edges from many steps to many', () => {
    const side = (name: string, count: number): AnyStep =>
      flow(name, (f: Flow<unknown>) => {
        const [first, ...rest] = tasks(count, name).map((one) => f.step(one as typeof a, f.input));
        return first ?? rest[0] ?? f.step(a, f.input);
      });
    const both = (side('left', 1_000) as typeof a).pipe(side('right', 1_000) as typeof a);
    const { nodes } = flatten(compile(both));
    expect(widest(nodes)).toBeLessThanOrEqual(most);
    expect(edges(nodes)).toBeLessThan(3_000);
    const last = nodes.at(-1);
    expect(last?.dependsOn).toEqual(['~end.left']);
    const small = (side('left', 3) as typeof a).pipe(side('right', 3) as typeof a);
    expect(edges(flatten(compile(small)).nodes)).toBe(9);
  });

  it('stand between a flow of many ends and many readers', () => {
    const read = flow('read', (f: Flow<unknown>) => {
      const many = flow('many', (g: Flow<unknown>) => {
        const [first, ...rest] = tasks(150).map((one) => g.step(one as typeof a, g.input));
        return first ?? rest[0] ?? g.step(a, g.input);
      });
      const ref = f.step(many, f.input);
      f.step(a, ref);
      return f.step(b, ref);
    });
    const { nodes } = flatten(compile(read));
    expect(nodes.at(-1)?.dependsOn).toEqual(['~end.many']);
  });
});

describe('values', () => {
  function values(drawn: AnyStep, outcomes: Readonly<Record<string, NodeOutcome>>): unknown {
    const flat = flatten(compile(drawn));
    const built = new PlanValues(flat);
    const asked: string[] = [];
    const outcome = (id: string): NodeOutcome => {
      asked.push(id);
      return outcomes[id] ?? { ok: false, error: new Error(`nothing of ${id}`) };
    };
    const value = built.build(flat.output, { input: 'in', outcome });
    expect([...new Set(asked)].sort()).toEqual([...built.reads(flat.output)].sort());
    return value;
  }

  const error = new Error('boom');
  const half = { a: { ok: true, value: 1 }, b: { ok: false, error } } as const;
  const failed = { ok: false, error } as const;

  it('show failures where the policy lets them pass', () => {
    const lenient = parallel({ a, b }, { policy: 'bestEffort' });
    expect(values(lenient, half)).toEqual({ a: { ok: true, value: 1 }, b: failed });
    const critical = parallel({ a, b }, { policy: { critical: ['a'] } });
    expect(values(critical, half)).toEqual({ a: 1, b: failed });
    const own = parallel({ a, b }, { policy: groupPolicy('any', () => true) });
    expect(values(own, half)).toEqual({ a: { ok: true, value: 1 }, b: failed });
  });

  it('throw the error of a member that must finish', () => {
    expect(() => values(parallel({ a, b }), half)).toThrow(error);
    expect(() => values(parallel({ a, b }, { policy: { critical: ['b'] } }), half)).toThrow(error);
  });

  it('are records, tuples, and nothing of an empty group', () => {
    const both = { a: half.a, b: { ok: true, value: 2 } } as const;
    expect(values(parallel({ y: a, x: b }), both)).toEqual({ x: 2, y: 1 });
    expect(values(parallel(b, a), both)).toEqual([2, 1]);
    expect(values(parallel({}), {})).toEqual({});
  });

  it('are arrays of each()', () => {
    const finished = { ok: true, value: 'x' } as const;
    const node = (options: object): EachNode =>
      nodeOf(compile(each(a, { name: 'all', ...options })), 'all') as EachNode;
    const elements = [
      ['0', finished],
      ['1', failed],
    ] as const;
    expect(groupOutput(node({ policy: 'bestEffort' }), elements)).toEqual([finished, failed]);
    expect(groupOutput(node({}), elements.slice(0, 1))).toEqual(['x']);
    expect(() => groupOutput(node({}), elements)).toThrow(error);
    expect(groupOutput(node({}), [])).toEqual([]);
  });

  it('take the failure of a member from any of its ends', () => {
    const inner = flow('inner', (f: Flow<unknown>) => {
      f.step(b, f.input);
      return f.step(a, f.input);
    });
    const lenient = parallel({ x: inner }, { policy: 'bestEffort' });
    const outcomes = { 'inner.a': half.a, 'inner.b': half.b };
    expect(values(lenient, outcomes)).toEqual({ x: failed });
  });
});

describe('a graph', () => {
  it('knows its entries and exits', () => {
    const graph = compile(parallel(a.pipe(b), c).pipe(d));
    expect(entriesOf(graph)).toEqual(['~group.a']);
    expect(exitsOf(graph)).toEqual(['d']);
  });

  it('holds options as data, and a version', () => {
    const rich = task(
      'rich',
      {
        retries: 2,
        backoff: { base: '2s' },
        timeout: 'none',
        queue: 'q',
        priority: 'high',
        cost: 2,
        expiresIn: '1m',
        version: 'v2',
        decider: () => ({ kind: 'finish' }) as never,
      },
      async () => 1,
    );
    expect(nodeOf(compile(rich), 'rich')).toMatchObject({
      version: 'v2',
      options: {
        retries: 2,
        backoff: { kind: 'exponential', baseMs: 2_000, jitter: 'full' },
        timeoutMs: 0,
        queue: 'q',
        level: 4,
        cost: 2,
        expiresInMs: 60_000,
      },
    });
    const usual = task('t', async () => 1);
    const versioned = task('t', { version: '2' }, async () => 1);
    expect(hashOf(compile(versioned))).not.toBe(hashOf(compile(usual)));
    expect(hashOf(compile(task('t', async () => 2)))).toBe(hashOf(compile(usual)));
  });

  it('says which nodes are dynamic', () => {
    const choose = dynamic('choose', { maxCycles: 20, retries: 1 }, async (n: number) => n);
    expect(nodeOf(compile(choose), 'choose')).toMatchObject({
      dynamic: { maxCycles: 20 },
      options: { retries: 1 },
    });
    for (const maxCycles of [-1, 0]) {
      expect(() => dynamic('x', { maxCycles }, async () => 1)).toThrow(InvalidOptionError);
    }
  });
});

describe('checkGraph', () => {
  function graph(...nodes: readonly GraphNode[]): TaskGraph {
    return { format: 1, name: 'g', nodes, output: { from: 'input' } };
  }

  function node(id: string, ...after: readonly string[]): GraphNode {
    return { kind: 'task', id, task: 'x', options: {}, input: { from: 'input' }, after };
  }

  // O64
  it('names the nodes along a cycle', () => {
    expect(() => checkGraph(graph(node('a', 'b'), node('b', 'c'), node('c', 'a')))).toThrow(
      DependencyCycleError,
    );
    expect(() => checkGraph(graph(node('a', 'a')))).toThrow(
      expect.objectContaining({ path: ['a', 'a'] }),
    );
    const block: GraphNode = { ...node('x'), kind: 'block', block: graph(node('a', 'a')) } as never;
    expect(() => checkGraph(graph(block))).toThrow(DependencyCycleError);
  });

  // O66
  it('refuses an id that is there twice, also in another block', () => {
    expect(() => checkGraph(graph(node('a'), node('a')))).toThrow(DuplicateNodeError);
    const block: GraphNode = { ...node('x'), kind: 'block', block: graph(node('a')) } as never;
    expect(() => checkGraph(graph(node('a'), block))).toThrow(
      expect.objectContaining({ node: 'a', paths: ['g', 'g/x'] }),
    );
  });

  // O66
  it('refuses a dependency on what is not in the block', () => {
    expect(() => checkGraph(graph(node('a', 'b')))).toThrow(InvalidOptionError);
    const output = { from: 'node', node: 'b' } as const;
    expect(() => checkGraph({ ...graph(node('a')), output })).toThrow(InvalidOptionError);
    expect(() => checkGraph(graph({ ...node('a'), input: output } as GraphNode))).toThrow(
      InvalidOptionError,
    );
  });

  it('refuses what is no name', () => {
    expect(() => checkGraph(graph(node('no name')))).toThrow(InvalidOptionError);
    expect(() => checkGraph({ ...graph(node('a')), name: '' })).toThrow(InvalidOptionError);
    expect(() => checkGraph(graph({ ...node('a'), task: '' } as GraphNode))).toThrow(
      InvalidOptionError,
    );
  });

  // O65
  it('walks a chain of 100,000 without a deep stack', () => {
    const chain = Array.from({ length: 100_000 }, (_, at) =>
      node(`n${at}`, ...(at === 0 ? [] : [`n${at - 1}`])),
    );
    expect(() => checkGraph(graph(...chain))).not.toThrow();
  });
});
