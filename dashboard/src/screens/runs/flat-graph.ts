/** What of a graph is drawn: every task, or one box for the many of a group that is folded. */
import {
  blocksOf,
  dependenciesOf,
  entriesOf,
  exitsOf,
  type GraphBlock,
  type GraphNode,
  onlyNodeOf,
} from '../../../../src/graph/graph.ts';

/** How a box is drawn. */
export type BoxForm =
  /** One node. */
  | 'node'
  /** A group of which only counts are shown. */
  | 'folded'
  /** Many members that are one node each, in rows. */
  | 'grid';

/** A box of the picture. */
export interface Box {
  readonly id: string;
  readonly kind: GraphNode['kind'];
  readonly form: BoxForm;
  /** What is in it; nothing in one node. */
  readonly members: readonly string[];
}

/** A graph without levels. */
export interface FlatGraph {
  /** Frames around others, outer ones first. */
  readonly frames: readonly Box[];
  readonly boxes: readonly Box[];
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** By box or frame: the frame around it. */
  readonly parents: ReadonlyMap<string, string>;
  /** All groups that can be folded, by id: whether they are. */
  readonly folds: ReadonlyMap<string, boolean>;
}

/** More members are folded until they are opened, and then stand in rows. */
const MANY = 12;
/** More are not drawn, also of a group that is open: the table has them. */
export const MOST_CELLS = 1_000;

/** Members of an `each` are in no graph: they are given. */
export type Members = ReadonlyMap<string, readonly string[]>;

/** What differs from how it is at first is in `turned`. */
export function flatGraph(
  graph: GraphBlock,
  each: Members,
  turned: ReadonlySet<string>,
): FlatGraph {
  const flat = new Flattening(each, turned);
  flat.visit(graph, undefined);
  return flat;
}

class Flattening implements FlatGraph {
  readonly frames: Box[] = [];
  readonly boxes: Box[] = [];
  readonly edges: [from: string, to: string][] = [];
  readonly parents = new Map<string, string>();
  readonly folds = new Map<string, boolean>();
  readonly #each: Members;
  readonly #turned: ReadonlySet<string>;
  /** Groups that are one box. */
  readonly #closed = new Set<string>();

  constructor(each: Members, turned: ReadonlySet<string>) {
    this.#each = each;
    this.#turned = turned;
  }

  visit(block: GraphBlock, parent: string | undefined): void {
    for (const node of block.nodes) {
      if (parent !== undefined) this.parents.set(node.id, parent);
      const box = this.#boxOf(node);
      if (box !== undefined) {
        this.#closed.add(node.id);
        this.boxes.push(box);
        continue;
      }
      this.frames.push({ id: node.id, kind: node.kind, form: 'node', members: [] });
      for (const [, inner] of blocksOf(node)) this.visit(inner, node.id);
    }
    const byId = new Map(block.nodes.map((node) => [node.id, node]));
    for (const node of block.nodes) {
      for (const id of dependenciesOf(node)) {
        const before = byId.get(id);
        if (before !== undefined) {
          this.#join(this.#ends(before, exitsOf), this.#ends(node, entriesOf));
        }
      }
    }
  }

  /** `undefined`: it is a frame around others. */
  #boxOf(node: GraphNode): Box | undefined {
    const { id, kind } = node;
    if (kind === 'task') return { id, kind, form: 'node', members: [] };
    const members = this.#each.get(id) ?? tasksIn(node);
    if (kind === 'each' && !this.#each.has(id)) return { id, kind, form: 'node', members: [] };
    const isFolded = (kind === 'each' || members.length > MANY) !== this.#turned.has(id);
    this.folds.set(id, isFolded);
    if (isFolded) return { id, kind, form: 'folded', members };
    const isFlat = blocksOf(node).every(([, block]) => onlyNodeOf(block)?.kind === 'task');
    const isGrid = kind === 'each' || (kind === 'parallel' && isFlat && members.length > MANY);
    return isGrid ? { id, kind, form: 'grid', members } : undefined;
  }

  #join(from: readonly string[], to: readonly string[]): void {
    for (const one of from) for (const other of to) this.edges.push([one, other]);
  }

  /** The boxes at which a node begins or ends. */
  #ends(node: GraphNode, of: (block: GraphBlock) => readonly string[]): readonly string[] {
    if (this.#closed.has(node.id)) return [node.id];
    return blocksOf(node).flatMap(([, block]) => {
      const ids = new Set(of(block));
      return block.nodes.filter(({ id }) => ids.has(id)).flatMap((inner) => this.#ends(inner, of));
    });
  }
}

/** At any depth; an `each` counts as one. */
function tasksIn(node: GraphNode): readonly string[] {
  if (node.kind === 'task' || node.kind === 'each') return [node.id];
  return blocksOf(node).flatMap(([, { nodes }]) => nodes.flatMap(tasksIn));
}
