import { InvalidPayloadError } from '../domain/errors/errors.ts';
import { shownNode } from '../domain/task/node-name.ts';
import { dependenciesOf, type GraphBlock, type GraphNode, type TaskGraph } from './graph.ts';
import { fill } from './graph-binding.ts';

interface FrameParts {
  /** The graph that contains the block. */
  readonly graph: TaskGraph;
  readonly block: GraphBlock;
  readonly input: unknown;
  /** Its output ends the run. */
  readonly isExit: boolean;
}

/** A block under way: its finished nodes and its ready ones. One node runs at a time. */
export class WalkFrame {
  readonly graph: TaskGraph;
  readonly isExit: boolean;
  readonly #block: GraphBlock;
  readonly #input: unknown;
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #readers = new Map<string, string[]>();
  /** Number of open dependencies of each node. */
  readonly #waits = new Map<string, number>();
  /** Outputs of finished nodes; skipped nodes have none. */
  readonly #outputs = new Map<string, unknown>();
  readonly #done = new Set<string>();
  /** Inputs that a control set, instead of the node's binding. */
  readonly #given = new Map<string, unknown>();
  /** Nodes that runs leave out; they count as finished. */
  #leftOut: ReadonlySet<string> = new Set();
  /** Ready nodes in order; those before `#at` were taken. */
  #ready: string[] = [];
  #at = 0;
  /** Output of the latest finished node. */
  #latest: unknown = undefined;
  /** The current node, or the latest one. */
  current = '';

  constructor({ graph, block, input, isExit }: FrameParts) {
    this.graph = graph;
    this.isExit = isExit;
    this.#block = block;
    this.#input = input;
    this.#nodes = new Map(block.nodes.map((node) => [node.id, node]));
    for (const node of block.nodes) {
      const dependsOn = dependenciesOf(node);
      this.#waits.set(node.id, dependsOn.length);
      if (dependsOn.length === 0) this.#ready.push(node.id);
      for (const id of dependsOn) {
        const readers = this.#readers.get(id);
        if (readers === undefined) this.#readers.set(id, [node.id]);
        else readers.push(node.id);
      }
    }
  }

  /** Takes the next ready node; `undefined` when the block is complete. */
  take(): GraphNode | undefined {
    const id = this.#ready[this.#at];
    if (id === undefined) return undefined;
    this.#at++;
    this.current = id;
    return this.#nodes.get(id);
  }

  /** Starts at a node; nodes that do not follow it are left out. */
  begin(id: string, input: unknown): void {
    for (const one of this.#nodes.keys()) this.#done.add(one);
    this.jump(id, id, input);
    this.#leftOut = new Set(this.#done);
  }

  /** Records the output of a node. */
  finish(id: string, value: unknown): void {
    this.#latest = value;
    this.#outputs.set(id, value);
    this.#done.add(id);
    this.#given.delete(id);
    for (const reader of this.#readers.get(id) ?? []) {
      const left = (this.#waits.get(reader) ?? 0) - 1;
      this.#waits.set(reader, left);
      if (left === 0 && !this.#done.has(reader)) this.#ready.push(reader);
    }
  }

  /** Makes the current node run again, before any other. */
  repeat(id: string, input: unknown): void {
    this.#given.set(id, input);
    this.#at--;
  }

  /** The node with this name in this block; a pipeline's name may prefix it. */
  find(name: string): string | undefined {
    if (this.#nodes.has(name)) return name;
    return this.#block.nodes.find(({ id }) => id.endsWith(`.${name}`))?.id;
  }

  /** Jumps to `to`: it and its successors run (again); other successors of `from` are skipped. */
  jump(from: string, to: string, input: unknown): void {
    const anew = this.#following(to);
    for (const id of this.#following(from)) this.#done.add(id);
    for (const id of anew) {
      this.#done.delete(id);
      this.#outputs.delete(id);
      this.#given.delete(id);
    }
    this.#given.set(to, input);
    for (const node of this.#block.nodes) {
      const open = dependenciesOf(node).filter((id) => !this.#done.has(id)).length;
      this.#waits.set(node.id, node.id === to ? 0 : open);
    }
    const others = this.#block.nodes.map(({ id }) => id).filter((id) => id !== to);
    this.#ready = [to, ...others.filter((id) => !this.#done.has(id) && this.#waits.get(id) === 0)];
    this.#at = 0;
  }

  inputOf(node: GraphNode): unknown {
    if (this.#given.has(node.id)) return this.#given.get(node.id);
    const output = (id: string): unknown => this.#outputOf(id);
    return fill(node.input, { input: () => this.#input, output });
  }

  /** After a jump a node may read one that did not run. */
  #outputOf(id: string): unknown {
    if (this.#leftOut.has(id) && !this.#outputs.has(id)) {
      throw new InvalidPayloadError(
        '$',
        `the run began after node "${shownNode(id)}", which has no output`,
      );
    }
    return this.#outputs.get(id);
  }

  /** Output of the block; if a jump skipped its node, the output of the latest node. */
  output(): unknown {
    const output = (id: string): unknown =>
      this.#outputs.has(id) ? this.#outputs.get(id) : this.#latest;
    return fill(this.#block.output, { input: () => this.#input, output });
  }

  /** Unfinished nodes. */
  left(): readonly string[] {
    return this.#block.nodes.map(({ id }) => id).filter((id) => !this.#done.has(id));
  }

  /** A node and all its direct and indirect dependents. */
  #following(id: string): ReadonlySet<string> {
    const all = new Set([id]);
    // The loop extends the set.
    for (const one of all) for (const reader of this.#readers.get(one) ?? []) all.add(reader);
    return all;
  }
}
