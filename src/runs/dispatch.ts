/** Dispatch: a static graph as tasks of a queue; computed once per graph, for all its runs. */
import { inChunks } from '../base/chunks.ts';
import { LIMITS } from '../domain/limits.ts';
import type { FlatGraph, PlanGroup, PlanNode } from '../graph/graph-plan.ts';
import type { PlanValues } from '../graph/graph-values.ts';
import { isLenient } from './group-decision.ts';

/** One task of a run. */
export interface DispatchTask {
  /** Id of its node in the graph. */
  readonly id: string;
  /** `join`: never leased. `group`: a worker applies its policy. */
  readonly kind: 'task' | 'join' | 'group';
  /** Absent for a join that only precedes the end of the run. */
  readonly plan?: PlanNode;
  /** Ids of nodes, at most `LIMITS.dependencies`. */
  readonly dependsOn: readonly string[];
  /** It ends as soon as a dependency does not finish; else it waits for all. */
  readonly isStrict: boolean;
  /** Nodes whose outcomes its input reads; none: it is known when the run is stored. */
  readonly reads: readonly string[];
}

/** All tasks of a run except its own. */
export interface Dispatch {
  /** Each task after its dependencies. */
  readonly tasks: readonly DispatchTask[];
  readonly byId: ReadonlyMap<string, DispatchTask>;
  /** Dependencies of the run: its last nodes, and nodes that its output reads. */
  readonly ends: readonly string[];
  /** Nodes whose outcomes the output reads. */
  readonly outputs: readonly string[];
}

/** Most extra dependencies of a task that only deliver results with its lease. */
const MOST_EXTRA = 32;

/** Computes the tasks of a graph. */
export function dispatchOf(flat: FlatGraph, values: PlanValues): Dispatch {
  return new Dispatcher(flat, values).dispatch();
}

class Dispatcher {
  readonly #flat: FlatGraph;
  readonly #values: PlanValues;
  readonly #tasks: DispatchTask[] = [];
  readonly #byId = new Map<string, DispatchTask>();
  /** Joins before a strict group: their dependencies must finish. */
  readonly #strictJoins: ReadonlySet<string>;

  constructor(flat: FlatGraph, values: PlanValues) {
    this.#flat = flat;
    this.#values = values;
    this.#strictJoins = joinsOfStrictGroups(flat);
  }

  dispatch(): Dispatch {
    for (const node of this.#flat.nodes) this.#add(this.#taskOf(node));
    const outputs = this.#values.reads(this.#flat.output);
    const ends = this.#fanIn([...new Set([...this.#flat.ends, ...outputs])]);
    return { tasks: this.#tasks, byId: this.#byId, ends, outputs };
  }

  #add(task: DispatchTask): void {
    this.#tasks.push(task);
    this.#byId.set(task.id, task);
  }

  #taskOf(node: PlanNode): DispatchTask {
    const { id } = node;
    if (node.kind === 'join') {
      const isStrict = node.rule === 'all' || this.#strictJoins.has(id);
      return { id, kind: 'join', plan: node, dependsOn: node.dependsOn, isStrict, reads: [] };
    }
    if (node.kind === 'group' && !isLenient(node.group.policy)) {
      return { id, kind: 'join', plan: node, dependsOn: node.dependsOn, isStrict: true, reads: [] };
    }
    const reads = node.kind === 'task' ? this.#values.reads(node.input) : this.#readsOf(node);
    const dependsOn = this.#withReads(node.dependsOn, reads);
    return { id, kind: node.kind, plan: node, dependsOn, isStrict: node.kind === 'task', reads };
  }

  /** Nodes that the outcomes of a group's members read. */
  #readsOf(group: PlanGroup): readonly string[] {
    const reads = group.members.flatMap(({ ends, value }) => [
      ...ends,
      ...this.#values.reads(value),
    ]);
    return [...new Set(reads)];
  }

  /**
   * Adds the nodes that a task reads to its dependencies, so that their results are kept and come
   * with its lease; they have ended by then. Of many, only nodes that no join keeps are added.
   */
  #withReads(dependsOn: readonly string[], reads: readonly string[]): readonly string[] {
    const known = new Set(dependsOn);
    const more = reads.filter((id) => !known.has(id));
    if (more.length === 0) return dependsOn;
    if (dependsOn.length + more.length <= MOST_EXTRA) return [...dependsOn, ...more];
    const kept = this.#behindJoins(dependsOn);
    const loose = more.filter((id) => !kept.has(id));
    return [...dependsOn, ...loose].slice(0, LIMITS.dependencies);
  }

  #behindJoins(ids: readonly string[]): ReadonlySet<string> {
    const kept = new Set<string>();
    const left = [...ids];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const task = this.#byId.get(id);
      if (task?.kind !== 'join') continue;
      for (const one of task.dependsOn) {
        if (kept.has(one)) continue;
        kept.add(one);
        left.push(one);
      }
    }
    return kept;
  }

  /** Reduces ids to the largest number of dependencies, by joins. */
  #fanIn(ids: readonly string[]): readonly string[] {
    let level = ids;
    for (let made = 0; level.length > LIMITS.dependencies; ) {
      const joins: string[] = [];
      for (const dependsOn of inChunks(level, LIMITS.dependencies)) {
        made += 1;
        const id = `~ends${made}`;
        this.#add({ id, kind: 'join', dependsOn, isStrict: true, reads: [] });
        joins.push(id);
      }
      level = joins;
    }
    return level;
  }
}

function joinsOfStrictGroups({ nodes }: FlatGraph): ReadonlySet<string> {
  const joins = new Map(nodes.flatMap((node) => (node.kind === 'join' ? [[node.id, node]] : [])));
  const found = new Set<string>();
  for (const node of nodes) {
    if (node.kind !== 'group' || isLenient(node.group.policy)) continue;
    const left = [...node.dependsOn];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const join = joins.get(id);
      if (join?.rule !== 'settled' || found.has(id)) continue;
      found.add(id);
      left.push(...join.dependsOn);
    }
  }
  return found;
}
