/** Plans: a graph as tasks of a queue, one per node, with their dependencies. */
import { inChunks } from '../base/chunks.ts';
import { LIMITS } from '../domain/limits.ts';
import {
  allNodes,
  dependenciesOf,
  type EachNode,
  entriesOf,
  exitsOf,
  type GraphBlock,
  type GraphNode,
  type ParallelNode,
  type TaskGraph,
  type TaskNode,
} from './graph.ts';
import type { Binding } from './graph-binding.ts';
import { executedGraph } from './graph-start.ts';

/** The input of a block, as a binding in the block around it; `undefined` is the run's input. */
export interface PlanScope {
  readonly input: Binding;
  readonly outer: PlanScope | undefined;
}

/** A binding, and the scope of its `input`. Its nodes have their ids of the whole graph. */
export interface PlanValue {
  readonly binding: Binding;
  readonly scope: PlanScope | undefined;
}

/** A task of the queue. */
export interface PlanTask {
  readonly kind: 'task';
  readonly id: string;
  /** At most `LIMITS.dependencies`, as in every node of a plan. */
  readonly dependsOn: readonly string[];
  readonly task: TaskNode;
  readonly input: PlanValue;
}

/**
 * Combines many dependencies into one; it has no handler and no output. `all`: fails when one of
 * its dependencies does not finish. `settled`: finishes when all have ended, in any state.
 */
export interface PlanJoin {
  readonly kind: 'join';
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly rule: 'all' | 'settled';
}

/** One member of a group. */
export interface PlanMember {
  readonly key: string;
  /** Nodes of the plan: the member ends when all have ended, and finishes if all finish. */
  readonly ends: readonly string[];
  readonly value: PlanValue;
}

/**
 * The end of a group: runs once, when its dependencies have ended. Its policy decides on `members`
 * whether it finishes. It depends on the ends of its members, or on `settled` joins of them.
 */
export interface PlanGroup {
  readonly kind: 'group';
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly group: ParallelNode | EachNode;
  readonly members: readonly PlanMember[];
  /** Nodes that all of its members depend on. */
  readonly before: readonly string[];
}

/** A node of a plan. */
export type PlanNode = PlanTask | PlanJoin | PlanGroup;

/** A graph without nesting. */
export interface FlatGraph {
  /** Every node after its dependencies. */
  readonly nodes: readonly PlanNode[];
  /** Outputs of the named pipelines and flows inside, by id. */
  readonly blocks: ReadonlyMap<string, PlanValue>;
  /** Output of the run. */
  readonly output: PlanValue;
  /** Nodes on which no other depends. The run ends when they have ended. */
  readonly ends: readonly string[];
}

/** Why a worker must drive runs of a graph. */
export type DriveReason =
  | 'dynamic'
  | 'each'
  | 'registered-policy'
  | 'fail-fast'
  | 'concurrency'
  | 'timeout';

/** The plan of a dispatched run, or why runs must be driven. */
export type Plan =
  | ({ readonly form: 'dispatched' } & FlatGraph)
  | {
      readonly form: 'driven';
      /** The nodes that cannot be dispatched, with reasons. */
      readonly reasons: readonly { readonly node: string; readonly reason: DriveReason }[];
    };

/** Plans the part of a graph that its runs execute: tasks, joins and groups, if it is static. */
export function plan(graph: TaskGraph): Plan {
  const reasons: { readonly node: string; readonly reason: DriveReason }[] = [];
  const runs = executedGraph(graph);
  for (const node of allNodes(runs)) {
    const reason = driveReason(node);
    if (reason !== undefined) reasons.push({ node: node.id, reason });
  }
  if (reasons.length > 0) return { form: 'driven', reasons };
  return { form: 'dispatched', ...flatten(runs) };
}

/** A graph of either form without nesting, including parts that runs leave out; `each` has one member, `*`. */
export function flatten(graph: TaskGraph): FlatGraph {
  const flattener = new Flattener();
  const ends = flattener.block(graph, undefined, []);
  const output = { binding: graph.output, scope: undefined };
  return { nodes: flattener.nodes, blocks: flattener.blocks, output, ends };
}

function driveReason(node: GraphNode): DriveReason | undefined {
  if (node.kind === 'task') return node.dynamic === undefined ? undefined : 'dynamic';
  if (node.kind === 'block') return undefined;
  if (node.kind === 'each') return 'each';
  if (node.policy.kind === 'registered') return 'registered-policy';
  if (node.failFast) return 'fail-fast';
  if (node.concurrency !== undefined) return 'concurrency';
  return node.timeoutMs === undefined ? undefined : 'timeout';
}

class Flattener {
  readonly nodes: PlanNode[] = [];
  readonly blocks = new Map<string, PlanValue>();

  /** Adds all nodes of a block after `before`. @returns the nodes that end the block. */
  block(
    block: GraphBlock,
    scope: PlanScope | undefined,
    before: readonly string[],
  ): readonly string[] {
    const readers = readersOf(block);
    const ends = new Map<string, readonly string[]>();
    for (const node of sorted(block.nodes)) {
      const waits = dependenciesOf(node).flatMap((id) => ends.get(id) ?? []);
      const own = this.#node(node, scope, waits.length === 0 ? before : unique(waits));
      ends.set(node.id, this.#gather(`~end.${node.id}`, own, readers.get(node.id) ?? 0));
    }
    return unique(exitsOf(block).flatMap((id) => ends.get(id) ?? []));
  }

  /** Adds one node. @returns the nodes that end it. */
  #node(
    node: GraphNode,
    scope: PlanScope | undefined,
    waits: readonly string[],
  ): readonly string[] {
    switch (node.kind) {
      case 'task': {
        const dependsOn = this.#fanIn(node.id, waits, 'all');
        const input = { binding: node.input, scope };
        this.nodes.push({ kind: 'task', id: node.id, dependsOn, task: node, input });
        return [node.id];
      }
      case 'block': {
        const inner = { input: node.input, outer: scope };
        this.blocks.set(node.id, { binding: node.block.output, scope: inner });
        const entries = entriesOf(node.block).length;
        return this.block(node.block, inner, this.#gather(`~join.${node.id}`, waits, entries));
      }
      default:
        return this.#group(node, scope, waits);
    }
  }

  #group(
    group: ParallelNode | EachNode,
    scope: PlanScope | undefined,
    waits: readonly string[],
  ): readonly string[] {
    const parts = group.kind === 'each' ? [{ key: '*', block: group.block }] : [...group.members];
    const entries = parts.reduce((sum, { block }) => sum + entriesOf(block).length, 0);
    const before = this.#gather(`~join.${group.id}`, waits, entries);
    // One scope for all members: they share the group's input.
    const inner = { input: group.input, outer: scope };
    const members = parts.map(({ key, block }): PlanMember => {
      const ends = this.block(block, inner, before);
      return { key, ends, value: { binding: block.output, scope: inner } };
    });
    const ends = members.length === 0 ? before : unique(members.flatMap((member) => member.ends));
    const dependsOn = this.#fanIn(group.id, ends, members.length === 0 ? 'all' : 'settled');
    this.nodes.push({ kind: 'group', id: group.id, dependsOn, group, members, before });
    return [group.id];
  }

  /** Combines many nodes with many readers into one join, if that saves edges. */
  #gather(id: string, nodes: readonly string[], readers: number): readonly string[] {
    if (nodes.length < 2 || nodes.length * readers <= LIMITS.dependencies) return nodes;
    const dependsOn = this.#fanIn(id, nodes, 'all');
    this.nodes.push({ kind: 'join', id, dependsOn, rule: 'all' });
    return [id];
  }

  /** The dependencies of a node, at most `LIMITS.dependencies`: joins of joins replace more. */
  #fanIn(id: string, nodes: readonly string[], rule: PlanJoin['rule']): readonly string[] {
    const owner = id.replace(/^~/, '');
    let level = nodes;
    for (let made = 0; level.length > LIMITS.dependencies; ) {
      const joins: string[] = [];
      for (const dependsOn of inChunks(level, LIMITS.dependencies)) {
        made += 1;
        const join = `~join${made}.${owner}`;
        this.nodes.push({ kind: 'join', id: join, dependsOn, rule });
        joins.push(join);
      }
      level = joins;
    }
    return level;
  }
}

/** Number of nodes of a block that depend on each node. */
function readersOf(block: GraphBlock): ReadonlyMap<string, number> {
  const readers = new Map<string, number>();
  for (const node of block.nodes) {
    for (const id of dependenciesOf(node)) readers.set(id, (readers.get(id) ?? 0) + 1);
  }
  return readers;
}

/** Nodes of a block, each after its dependencies; otherwise ordered by id. */
export function sorted(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const waits = new Map<string, number>();
  const readers = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    const dependsOn = dependenciesOf(node).filter((id) => byId.has(id));
    waits.set(node.id, dependsOn.length);
    for (const id of dependsOn) {
      const known = readers.get(id);
      if (known === undefined) readers.set(id, [node]);
      else known.push(node);
    }
  }
  const order = nodes.filter(({ id }) => waits.get(id) === 0);
  // The loop extends the array.
  for (const { id } of order) {
    for (const reader of readers.get(id) ?? []) {
      const left = (waits.get(reader.id) ?? 0) - 1;
      waits.set(reader.id, left);
      if (left === 0) order.push(reader);
    }
  }
  return order;
}

function unique(ids: readonly string[]): readonly string[] {
  return ids.length < 2 ? ids : [...new Set(ids)];
}
