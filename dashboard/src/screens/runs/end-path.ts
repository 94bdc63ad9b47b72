/**
 * What the end of a run waited for: back from what ended last, each time to what ended last of what that had
 * to wait for. A node outside of this chain could have been slower without the run being later.
 */
import {
  blocksOf,
  dependenciesOf,
  type GraphBlock,
  type GraphNode,
} from '../../../../src/graph/graph.ts';
import type { RunNodeInfo, Timeline, TimelineSpan } from '../../api/shapes.ts';

/** One node of the chain, over the time for which the end waited for it. */
export interface PathStep {
  readonly node: string;
  readonly taskId: string;
  /** When nothing but the node itself was waited for, in ms since the epoch. */
  readonly from: number;
  /** When it ended; absent while it has not. */
  readonly to?: number;
  /** How long it ran in that time, over all of its attempts, in ms. */
  readonly ranMs: number;
}

/** A node that is a task of the run, and has been come to. */
interface Leaf {
  readonly taskId: string;
  readonly to: number | undefined;
  /** When its attempts began and ended. */
  readonly runs: readonly (readonly [from: number, to: number | undefined])[];
}

/** Nodes that were never to run take no time. */
const NEVER = new Set<RunNodeInfo['state']>(['gone', 'pending', 'skipped']);

/**
 * From the first to the last; empty when no node is a task. Of a run under way: to the open node that is
 * waited for longest. `nodes` are in the order of the graph; `now` ends what goes on.
 */
export function endPath(
  graph: GraphBlock,
  nodes: readonly RunNodeInfo[],
  timeline: Timeline,
  now: number,
): readonly PathStep[] {
  const places = new Places(graph, leavesOf(nodes, timeline));
  const steps: PathStep[] = [];
  for (let at = places.last(nodes, timeline); at !== undefined; ) {
    const before = places.latest(places.before(at));
    const [node, { taskId, to, runs }] = [at, places.leaf(at)];
    const from = before === undefined ? timeline.from : (places.leaf(before).to ?? timeline.from);
    const ranMs = runs.reduce(
      (sum, [began, ended = now]) => sum + Math.max(0, ended - Math.max(began, from)),
      0,
    );
    steps.push({ node, taskId, from, ...(to === undefined ? {} : { to }), ranMs });
    at = before;
  }
  return steps.toReversed();
}

/** In the order in which they came. */
export function spansByNode({ spans }: Timeline): ReadonlyMap<string, readonly TimelineSpan[]> {
  const found = new Map<string, TimelineSpan[]>();
  for (const span of spans) {
    const own = found.get(span.node);
    if (own === undefined) found.set(span.node, [span]);
    else own.push(span);
  }
  return found;
}

function leavesOf(nodes: readonly RunNodeInfo[], timeline: Timeline): ReadonlyMap<string, Leaf> {
  const spans = spansByNode(timeline);
  return new Map(
    nodes.flatMap(({ node, state }): [string, Leaf][] => {
      const own = spans.get(node) ?? [];
      const whole = own.find(({ kind }) => kind === 'task');
      // What another run has done before was there already.
      const isOld = whole?.to !== undefined && whole.to <= timeline.from;
      if (whole === undefined || isOld || NEVER.has(state)) return [];
      const runs = own.filter(({ kind }) => kind !== 'task');
      return [
        [
          node,
          {
            taskId: whole.taskId,
            to: whole.to,
            runs: runs.map(({ from, to }) => [from, to] as const),
          },
        ],
      ];
    }),
  );
}

/** Where each node stands, also inside of groups and parts. */
class Places {
  readonly #leaves: ReadonlyMap<string, Leaf>;
  /** By node: those of its block, and the node around that. */
  readonly #around = new Map<string, readonly [ReadonlyMap<string, GraphNode>, string?]>();

  constructor(graph: GraphBlock, leaves: ReadonlyMap<string, Leaf>) {
    this.#leaves = leaves;
    this.#visit(graph, undefined);
  }

  #visit(block: GraphBlock, owner: string | undefined): void {
    const siblings = new Map(block.nodes.map((node) => [node.id, node]));
    for (const node of block.nodes) {
      this.#around.set(node.id, owner === undefined ? [siblings] : [siblings, owner]);
      for (const [, inner] of blocksOf(node)) this.#visit(inner, node.id);
    }
  }

  leaf(node: string): Leaf {
    return this.#leaves.get(node) ?? { taskId: '', to: undefined, runs: [] };
  }

  /** That with which the chain ends. */
  last(nodes: readonly RunNodeInfo[], { to }: Timeline): string | undefined {
    const leaves = nodes.map(({ node }) => node).filter((node) => this.#isTask(node));
    if (to !== undefined) {
      // What is still being stopped was not waited for.
      return this.latest(leaves.filter((node) => (this.leaf(node).to ?? to + 1) <= to));
    }
    const open = leaves
      .filter((node) => this.leaf(node).to === undefined)
      .map((node) => ({ node, before: this.before(node) }))
      .filter(({ before }) => before.every((one) => this.leaf(one).to !== undefined))
      .map(({ node, before }) => ({ node, since: this.leaf(this.latest(before) ?? '').to ?? 0 }));
    const started = open.filter(({ node }) => this.leaf(node).runs.length > 0);
    const first = (started.length > 0 ? started : open).reduce<(typeof open)[number] | undefined>(
      (found, one) => (found === undefined || one.since < found.since ? one : found),
      undefined,
    );
    return first?.node ?? this.latest(leaves);
  }

  /** Of some leaves that which ended last; of several at one moment the last that is named. */
  latest(leaves: readonly string[]): string | undefined {
    const end = (node: string): number => this.leaf(node).to ?? Number.POSITIVE_INFINITY;
    return leaves.reduce<string | undefined>(
      (found, node) => (found === undefined || end(node) >= end(found) ? node : found),
      undefined,
    );
  }

  /** The leaves that a node had to wait for directly; what did not run is looked through. */
  before(id: string): readonly string[] {
    const found = new Set<string>();
    const seen = new Set<string>();
    const left = [id];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      const [siblings, owner] = this.#around.get(next) ?? [new Map<string, GraphNode>()];
      const node = siblings.get(next);
      const waits = node === undefined ? [] : dependenciesOf(node);
      if (waits.length === 0 && owner !== undefined) left.push(owner);
      for (const wait of waits) {
        const leaves = this.#inside(siblings.get(wait));
        for (const leaf of leaves) found.add(leaf);
        if (leaves.length === 0) left.push(wait);
      }
    }
    return [...found];
  }

  /** A node that waits for a group or a part waits for all in it. */
  #inside(node: GraphNode | undefined): readonly string[] {
    if (node === undefined) return [];
    if (this.#isTask(node.id)) return [node.id];
    return blocksOf(node).flatMap(([, block]) => block.nodes.flatMap((one) => this.#inside(one)));
  }

  /** Groups are tasks of the queue too, which run nothing. */
  #isTask(id: string): boolean {
    const [siblings] = this.#around.get(id) ?? [];
    return siblings?.get(id)?.kind === 'task' && this.#leaves.has(id);
  }
}
