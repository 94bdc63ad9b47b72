/** How a graph becomes tasks of a queue: one per node, with what each waits for. */
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
import { begun } from './graph-start.ts';

/** The input of a block, said in terms of the block around it; `undefined` is the run's input. */
export interface PlanScope {
  readonly input: Binding;
  readonly outer: PlanScope | undefined;
}

/** A binding, and the scope that its `input` means. Its nodes are named as in the whole graph. */
export interface PlanValue {
  readonly binding: Binding;
  readonly scope: PlanScope | undefined;
}

/** A task of the queue. */
export interface PlanTask {
  readonly kind: 'task';
  readonly id: string;
  /** At most `LIMITS.dependencies`, as for every node of a plan. */
  readonly dependsOn: readonly string[];
  readonly task: TaskNode;
  readonly input: PlanValue;
}

/**
 * Stands between many nodes; runs no handler and gives nothing. `all`: fails when one of those that
 * it waits for does not finish. `settled`: finishes when all have ended, however.
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
  /** Nodes of the plan: the member has ended when they have, and finished when all of them have. */
  readonly ends: readonly string[];
  readonly value: PlanValue;
}

/**
 * Where a group ends: once, when all that it waits for have ended. Its policy decides on `members`
 * whether it finishes. Waits for the ends of its members, or for `settled` joins of these.
 */
export interface PlanGroup {
  readonly kind: 'group';
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly group: ParallelNode | EachNode;
  readonly members: readonly PlanMember[];
  /** Nodes that all of its members wait for. */
  readonly before: readonly string[];
}

/** A node of a plan. */
export type PlanNode = PlanTask | PlanJoin | PlanGroup;

/** A graph without levels. */
export interface FlatGraph {
  /** Every node after those that it waits for. */
  readonly nodes: readonly PlanNode[];
  /** What the named pipelines and flows inside give, by their ids. */
  readonly blocks: ReadonlyMap<string, PlanValue>;
  /** What the run gives. */
  readonly output: PlanValue;
  /** Nodes that no other waits for. The run has ended when they have. */
  readonly ends: readonly string[];
}

/** Why a graph needs a worker that walks it. */
export type DriveReason =
  | 'dynamic'
  | 'each'
  | 'registered-policy'
  | 'fail-fast'
  | 'concurrency'
  | 'timeout';

/** What dispatch needs, or why there can be none. */
export type Plan =
  | ({ readonly form: 'dispatched' } & FlatGraph)
  | {
      readonly form: 'driven';
      /** Every node that cannot be dispatched, with the reason. */
      readonly reasons: readonly { readonly node: string; readonly reason: DriveReason }[];
    };

/** Turns a static graph into tasks and joins: those that its runs come to. */
export function plan(graph: TaskGraph): Plan {
  const reasons: { readonly node: string; readonly reason: DriveReason }[] = [];
  const runs = begun(graph);
  for (const node of allNodes(runs)) {
    const reason = driveReason(node);
    if (reason !== undefined) reasons.push({ node: node.id, reason });
  }
  if (reasons.length > 0) return { form: 'driven', reasons };
  return { form: 'dispatched', ...flatten(runs) };
}

/** A graph of either form without levels, with what its runs leave out: `each` appears with one member, `*`. */
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

  /** Adds all nodes of a block after `before`. @returns the nodes that end it. */
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

  /** @returns the nodes that end it. */
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
    // One scope for all members: they get the same input.
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

  /** One join for many nodes that are awaited by many, when that saves edges. */
  #gather(id: string, nodes: readonly string[], readers: number): readonly string[] {
    if (nodes.length < 2 || nodes.length * readers <= LIMITS.dependencies) return nodes;
    const dependsOn = this.#fanIn(id, nodes, 'all');
    this.nodes.push({ kind: 'join', id, dependsOn, rule: 'all' });
    return [id];
  }

  /** What a node waits for, at most `LIMITS.dependencies`: joins of joins when there are more. */
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

/** How many nodes of a block wait for each. */
function readersOf(block: GraphBlock): ReadonlyMap<string, number> {
  const readers = new Map<string, number>();
  for (const node of block.nodes) {
    for (const id of dependenciesOf(node)) readers.set(id, (readers.get(id) ?? 0) + 1);
  }
  return readers;
}

/** Nodes of a block, each after those that it waits for; otherwise in order of their ids. */
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
  // Grows while it is walked.
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
