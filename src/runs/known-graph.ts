import type { TaskGraph } from '../graph/graph.ts';
import { type FlatGraph, flatten, type Plan, plan } from '../graph/graph-plan.ts';
import { executedGraph } from '../graph/graph-start.ts';
import { graphText } from '../graph/graph-text.ts';
import { PlanValues } from '../graph/graph-values.ts';
import { type Dispatch, dispatchOf } from './dispatch.ts';
import { isLenient } from './group-decision.ts';
import { sha256 } from './record.ts';

/** The text of a value that may be a graph; throws when it is not JSON. */
export function graphTextOf(value: object): string {
  return graphText(value as TaskGraph);
}

/** Stored facts about the text of a graph. */
interface TextFacts {
  readonly hash: string;
  /** Length in UTF-16 units. */
  readonly length: number;
}

/** A graph with derived data; each part is computed once, on first use. */
export class KnownGraph {
  readonly graph: TaskGraph;
  /** Name under which it is stored: the hash of its content, keyed by the codec if there is one. */
  readonly hash: string;
  /** Hash of its content: the same in every process, with any codec. */
  readonly content: string;
  /** Length of its text, in UTF-16 units. */
  readonly textLength: number;
  #plan: Plan | undefined;
  #flat: FlatGraph | undefined;
  #values: PlanValues | undefined;
  #dispatch: Dispatch | undefined;

  private constructor(graph: TaskGraph, hash: string, text: TextFacts) {
    this.graph = graph;
    this.hash = hash;
    this.content = text.hash;
    this.textLength = text.length;
  }

  static of(graph: TaskGraph, nameOf: ((hash: string) => string) | undefined): KnownGraph {
    const text = graphText(graph);
    const hash = sha256(text);
    return new KnownGraph(graph, nameOf?.(hash) ?? hash, { hash, length: text.length });
  }

  /** A graph that was read from the store under a name. */
  static read(graph: TaskGraph, name: string, text: TextFacts): KnownGraph {
    return new KnownGraph(graph, name, text);
  }

  get text(): string {
    return graphText(this.graph);
  }

  get plan(): Plan {
    this.#plan ??= plan(this.graph);
    return this.#plan;
  }

  /** The graph without nesting, including parts that its runs leave out: for display. */
  get shown(): FlatGraph {
    return this.graph.start === undefined ? this.flat : flatten(this.graph);
  }

  /** Its runs without nesting, in either form. */
  get flat(): FlatGraph {
    this.#flat ??= this.plan.form === 'dispatched' ? this.plan : flatten(executedGraph(this.graph));
    return this.#flat;
  }

  /** Values of a dispatched run, in which lenient groups have their own outcomes. */
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
