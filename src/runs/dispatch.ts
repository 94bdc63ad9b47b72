/** A static graph as tasks of a queue: computed once per graph, for all its runs. */
import { inChunks } from '../base/chunks.ts';
import { LIMITS } from '../domain/limits.ts';
import type { FlatGraph, PlanGroup, PlanNode } from '../graph/graph-plan.ts';
import type { PlanValues } from '../graph/graph-values.ts';
import { isLenient } from './group-decision.ts';

/** One task of a run. */
export interface DispatchTask {
  /** Its node in the graph. */
  readonly id: string;
  /** `join`: never leased. `group`: a worker applies its policy. */
  readonly kind: 'task' | 'join' | 'group';
  /** Absent for what stands before the end of the run only. */
  readonly plan?: PlanNode;
  /** Nodes, at most `LIMITS.dependencies`. */
  readonly dependsOn: readonly string[];
  /** It ends as soon as one that it waits for does not finish; else it waits for all. */
  readonly isStrict: boolean;
  /** Nodes whose outcomes its input is built of; none: it is known when the run is stored. */
  readonly reads: readonly string[];
}

/** All tasks of a run but its own. */
export interface Dispatch {
  /** Each after those that it waits for. */
  readonly tasks: readonly DispatchTask[];
  readonly byId: ReadonlyMap<string, DispatchTask>;
  /** What the run waits for: what ends it, and what its output is built of. */
  readonly ends: readonly string[];
  /** Nodes whose outcomes the output is built of. */
  readonly outputs: readonly string[];
}

/** Nodes that a task waits for only so that their results come with its lease. */
const READ_ALONG = 32;

/** Works out the tasks of a graph. */
export function dispatchOf(flat: FlatGraph, values: PlanValues): Dispatch {
  return new Dispatcher(flat, values).dispatch();
}

class Dispatcher {
  readonly #flat: FlatGraph;
  readonly #values: PlanValues;
  readonly #tasks: DispatchTask[] = [];
  readonly #byId = new Map<string, DispatchTask>();
  /** Joins that stand before a strict group: their members must finish. */
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

  /** What the outcomes of a group's members are built of. */
  #readsOf(group: PlanGroup): readonly string[] {
    const reads = group.members.flatMap(({ ends, value }) => [
      ...ends,
      ...this.#values.reads(value),
    ]);
    return [...new Set(reads)];
  }

  /**
   * What is read is waited for too, so that it is kept until then and comes with the lease. It has
   * ended by then anyway. Of many only those that no join keeps: the others are looked up.
   */
  #withReads(dependsOn: readonly string[], reads: readonly string[]): readonly string[] {
    const known = new Set(dependsOn);
    const more = reads.filter((id) => !known.has(id));
    if (more.length === 0) return dependsOn;
    if (dependsOn.length + more.length <= READ_ALONG) return [...dependsOn, ...more];
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

  /** At most as many as a task may wait for. */
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
