/**
 * The shape of a workflow as data: what is stored, hashed, sent and drawn. Functions are never part of it; a
 * worker looks a node's task up by name.
 *
 * A graph is a *block*: nodes with one input and one output. Parts that belong together (a pipeline with a
 * name, a flow, a member of a group, what `each` runs) are blocks inside of it, so that all that leads into a
 * part precedes all of it, and all that follows it follows all of it.
 */
import { type Binding, type Json, nodesRead } from './graph-binding.ts';

/** How the members of a group decide what becomes of it. */
export type JoinPolicy =
  /** It finishes if all have. */
  | { readonly kind: 'strict' }
  /** It finishes once all have ended, however. */
  | { readonly kind: 'bestEffort' }
  /** It finishes if at least so many have. */
  | { readonly kind: 'atLeast'; readonly count: number }
  /** It finishes if these have; the others may fail. */
  | { readonly kind: 'critical'; readonly members: readonly string[] }
  /** Decided by a function that workers know by this name. */
  | { readonly kind: 'registered'; readonly name: string };

/** Nodes with one input and one output. */
export interface GraphBlock {
  /** Sorted by id. Ids are unique in the whole graph. */
  readonly nodes: readonly GraphNode[];
  /** What the block gives, built of outputs of its nodes. */
  readonly output: Binding;
}

/** A whole workflow. Frozen; equal content has equal text and hash. */
export interface TaskGraph extends GraphBlock {
  /** Version of this layout. */
  readonly format: 1;
  /** The pipeline's name. */
  readonly name: string;
  /**
   * A node of the outermost level at which its runs begin, with their input as its own: it and what
   * follows it runs, the others are left out. Absent: they begin at the beginning.
   */
  readonly start?: string;
}

/** What every node has. */
export interface NodeBase {
  /** Unique in the graph: a name, or `~…` for a group without one. */
  readonly id: string;
  /** Where its input comes from. */
  readonly input: Binding;
  /** Nodes of the same block that must have ended before, though none of their output is read. */
  readonly after: readonly string[];
}

/** One task. */
export interface TaskNode extends NodeBase {
  /** Tells it from other nodes. */
  readonly kind: 'task';
  /** Chooses the handler. */
  readonly task: string;
  /** Of the definition; another version makes another graph. */
  readonly version?: string;
  /** It goes on with the newest version that a worker has; absent: with its own. */
  readonly versioning?: 'latest';
  /** Options of the definition as far as they are data; durations in ms. */
  readonly options: Readonly<Record<string, Json>>;
  /** Its handler may choose what comes next. */
  readonly dynamic?: {
    /** How often it may choose itself again in one run. */
    readonly maxCycles: number;
  };
}

/** A pipeline or flow that has a name of its own. */
export interface BlockNode extends NodeBase {
  /** Tells it from other nodes. */
  readonly kind: 'block';
  /** What is inside. */
  readonly block: GraphBlock;
}

/** What groups of both kinds may be told. */
export interface GroupBase extends NodeBase {
  /** How it decides what becomes of it. */
  readonly policy: JoinPolicy;
  /** The first failure that decides ends the others. */
  readonly failFast: boolean;
  /** Members that run at once; all when absent. */
  readonly concurrency?: number;
  /** It fails this long after it began, in ms; never when absent. */
  readonly timeoutMs?: number;
}

/** One part of a group, which gets the group's input. */
export interface GraphMember {
  /** Its name in the group's output; a position in a tuple. */
  readonly key: string;
  /** What is inside. */
  readonly block: GraphBlock;
}

/** Parts that run side by side on the same input; gives a record or a tuple of their outputs. */
export interface ParallelNode extends GroupBase {
  /** Tells it from other nodes. */
  readonly kind: 'parallel';
  /** Of its output. */
  readonly shape: 'record' | 'tuple';
  /** Of a record sorted by key, of a tuple by position. */
  readonly members: readonly GraphMember[];
}

/** The same part once for each element of an array; gives the array of the outputs. */
export interface EachNode extends GroupBase {
  /** Tells it from other nodes. */
  readonly kind: 'each';
  /** Its input is one element. */
  readonly block: GraphBlock;
}

/** Anything that stands in a block. */
export type GraphNode = TaskNode | BlockNode | ParallelNode | EachNode;

/** Ids of the nodes of the same block that must end before this one: what it reads, then `after`. */
export function dependenciesOf(node: GraphNode): readonly string[] {
  return [...new Set([...nodesRead(node.input), ...node.after])];
}

/** Nodes of a block that wait for no other in it. */
export function entriesOf(block: GraphBlock): readonly string[] {
  return block.nodes.filter((node) => dependenciesOf(node).length === 0).map(({ id }) => id);
}

/** Nodes of a block that no other in it waits for. The block has ended when they have. */
export function exitsOf(block: GraphBlock): readonly string[] {
  const awaited = new Set(block.nodes.flatMap(dependenciesOf));
  return block.nodes.filter(({ id }) => !awaited.has(id)).map(({ id }) => id);
}

/** Blocks directly inside of a node, with the words that lead to each. */
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

/** Every node of a graph, outer ones before those inside of them. */
export function* allNodes(graph: GraphBlock): Generator<GraphNode> {
  const left: GraphBlock[] = [graph];
  for (let block = left.pop(); block !== undefined; block = left.pop()) {
    for (const node of block.nodes) {
      yield node;
      for (const [, inner] of blocksOf(node)) left.push(inner);
    }
  }
}

/** The node of a block of one. */
export function onlyNodeOf({ nodes }: GraphBlock): GraphNode | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

/** Whether a node has the name of the member that it is: most members are called as their task is. */
export function isCalled({ id }: GraphNode, key: string): boolean {
  return `.${id}`.endsWith(`.${key}`);
}

/** Keys of members that are one node of another name, by that node; at any depth. */
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
