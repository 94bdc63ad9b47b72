import type { TaskGraph } from '../../domain/graph.ts';
import { type FlatGraph, flatten, type Plan, plan } from '../../domain/graph-plan.ts';
import { graphText } from '../../domain/graph-text.ts';
import { PlanValues } from '../../domain/graph-values.ts';
import { type Dispatch, dispatchOf } from './dispatch.ts';
import { isLenient } from './group-decision.ts';
import { sha256 } from './record.ts';

/** The text of what may be a graph; throws when it can be no JSON. */
export function graphTextOf(value: object): string {
  return graphText(value as TaskGraph);
}

/** A graph with what is worked out from it, each part once and when it is first asked for. */
export class KnownGraph {
  readonly graph: TaskGraph;
  readonly hash: string;
  /** Length of its text, in UTF-16 units. */
  readonly textLength: number;
  #plan: Plan | undefined;
  #flat: FlatGraph | undefined;
  #values: PlanValues | undefined;
  #dispatch: Dispatch | undefined;

  private constructor(graph: TaskGraph, hash: string, textLength: number) {
    this.graph = graph;
    this.hash = hash;
    this.textLength = textLength;
  }

  static of(graph: TaskGraph): KnownGraph {
    const text = graphText(graph);
    return new KnownGraph(graph, sha256(text), text.length);
  }

  /** A graph that was read from a text of this hash. */
  static read(graph: TaskGraph, hash: string, textLength: number): KnownGraph {
    return new KnownGraph(graph, hash, textLength);
  }

  get text(): string {
    return graphText(this.graph);
  }

  get plan(): Plan {
    this.#plan ??= plan(this.graph);
    return this.#plan;
  }

  /** Without levels, whatever its form. */
  get flat(): FlatGraph {
    this.#flat ??= this.plan.form === 'dispatched' ? this.plan : flatten(this.graph);
    return this.#flat;
  }

  /** Values of a dispatched run, in which groups with a lenient policy keep their own. */
  get values(): PlanValues {
    this.#values ??= new PlanValues(this.flat, ({ group }) => isLenient(group.policy));
    return this.#values;
  }

  /** The tasks of a dispatched run. */
  get dispatch(): Dispatch {
    this.#dispatch ??= dispatchOf(this.flat, this.values);
    return this.#dispatch;
  }
}
