/**
 * The structure of a workflow as data: it is stored, hashed, sent and drawn. It contains no functions; a
 * worker finds the code of a node by name.
 *
 * A graph is a *block*: nodes with one input and one output. Units (a named pipeline, a flow, a member of a
 * group, the step of `each`) are nested blocks: a dependency of a unit precedes all its nodes, and a
 * dependent of a unit follows all its nodes.
 */
import { type Binding, type Json, nodesRead } from './graph-binding.ts';

/** How a group decides whether it finishes. */
export type JoinPolicy =
  /** It finishes if all members finish. */
  | { readonly kind: 'strict' }
  /** It finishes when all members have ended, in any state. */
  | { readonly kind: 'bestEffort' }
  /** It finishes if at least `count` members finish. */
  | { readonly kind: 'atLeast'; readonly count: number }
  /** It finishes if these members finish; the others may fail. */
  | { readonly kind: 'critical'; readonly members: readonly string[] }
  /** A function decides, which workers register under this name. */
  | { readonly kind: 'registered'; readonly name: string };

/** Nodes with one input and one output. */
export interface GraphBlock {
  /** Nodes, sorted by id. Ids are unique in the whole graph. */
  readonly nodes: readonly GraphNode[];
  /** Output of the block, built of outputs of its nodes. */
  readonly output: Binding;
}

/** A whole workflow. Frozen; equal graphs have equal text and hash. */
export interface TaskGraph extends GraphBlock {
  /** Version of this format. */
  readonly format: 1;
  /** Name of the pipeline. */
  readonly name: string;
  /**
   * Start: a node of the outermost level that gets the run's input. Runs execute it and its
   * successors and leave out the rest. Absent: runs execute everything.
   */
  readonly start?: string;
}

/** Fields of every node. */
export interface NodeBase {
  /** Unique in the graph: a name, or `~…` for a group without one. */
  readonly id: string;
  /** Binding of its input. */
  readonly input: Binding;
  /** Further dependencies in the same block, whose outputs it does not read. */
  readonly after: readonly string[];
}

/** One task. */
export interface TaskNode extends NodeBase {
  /** Type tag. */
  readonly kind: 'task';
  /** Name of the task; it selects the handler. */
  readonly task: string;
  /** Version of the definition; it is part of the graph's hash. */
  readonly version?: string;
  /** Runs with the newest version that a worker has; absent: with `version`. */
  readonly versioning?: 'latest';
  /** Options of the definition, without code; durations in ms. */
  readonly options: Readonly<Record<string, Json>>;
  /** Its handler may choose the next step. */
  readonly dynamic?: {
    /** How often it may run in one run. */
    readonly maxCycles: number;
  };
}

/** A named pipeline or flow. */
export interface BlockNode extends NodeBase {
  /** Type tag. */
  readonly kind: 'block';
  /** Its content. */
  readonly block: GraphBlock;
}

/** Fields of groups of both kinds. */
export interface GroupBase extends NodeBase {
  /** How it decides whether it finishes. */
  readonly policy: JoinPolicy;
  /** The first failure that decides ends the other members. */
  readonly failFast: boolean;
  /** Number of members that run at once; absent: all. */
  readonly concurrency?: number;
  /** It fails this long after its start, in ms; absent: never. */
  readonly timeoutMs?: number;
}

/** A member of a group; it gets the group's input. */
export interface GraphMember {
  /** Its key in the group's output; a position in a tuple. */
  readonly key: string;
  /** Its content. */
  readonly block: GraphBlock;
}

/** Members that run side by side on the same input; the output is a record or a tuple. */
export interface ParallelNode extends GroupBase {
  /** Type tag. */
  readonly kind: 'parallel';
  /** Form of its output. */
  readonly shape: 'record' | 'tuple';
  /** Members, sorted by key in a record, by position in a tuple. */
  readonly members: readonly GraphMember[];
}

/** A block that runs once for each element of an array; the output is an array. */
export interface EachNode extends GroupBase {
  /** Type tag. */
  readonly kind: 'each';
  /** The block; its input is one element. */
  readonly block: GraphBlock;
}

/** A node of a block. */
export type GraphNode = TaskNode | BlockNode | ParallelNode | EachNode;

/** Ids of its dependencies in the same block: nodes that it reads, then `after`. */
export function dependenciesOf(node: GraphNode): readonly string[] {
  return [...new Set([...nodesRead(node.input), ...node.after])];
}

/** Nodes of a block without dependencies. */
export function entriesOf(block: GraphBlock): readonly string[] {
  return block.nodes.filter((node) => dependenciesOf(node).length === 0).map(({ id }) => id);
}

/** Nodes of a block without dependents. The block ends when they have ended. */
export function exitsOf(block: GraphBlock): readonly string[] {
  const awaited = new Set(block.nodes.flatMap(dependenciesOf));
  return block.nodes.filter(({ id }) => !awaited.has(id)).map(({ id }) => id);
}

/** Blocks directly inside a node, with their path suffixes. */
export function blocksOf(node: GraphNode): readonly (readonly [string, GraphBlock])[] {
  switch (node.kind) {
    case 'task':
      return [];
    case 'block':
      return [['', node.block]];
    case 'each':
      return [['[*]', node.block]];
    case 'parallel':
      return node.members.map(({ key, block }) => [`.${key}`, block]);
  }
}

/** Every node of a graph, outer ones before nested ones. */
export function* allNodes(graph: GraphBlock): Generator<GraphNode> {
  const left: GraphBlock[] = [graph];
  for (let block = left.pop(); block !== undefined; block = left.pop()) {
    for (const node of block.nodes) {
      yield node;
      for (const [, inner] of blocksOf(node)) left.push(inner);
    }
  }
}

/** The node of a block with one node. */
export function onlyNodeOf({ nodes }: GraphBlock): GraphNode | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

/** Whether a node has the key of its member as its name, as most do. */
export function isCalled({ id }: GraphNode, key: string): boolean {
  return `.${id}`.endsWith(`.${key}`);
}

/** Keys of members that consist of one node with another name, by that node; at any depth. */
export function memberKeys(graph: GraphBlock): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const node of allNodes(graph)) {
    if (node.kind !== 'parallel') continue;
    for (const { key, block } of node.members) {
      const only = onlyNodeOf(block);
      if (only !== undefined && !isCalled(only, key)) found.set(only.id, key);
    }
  }
  return found;
}
