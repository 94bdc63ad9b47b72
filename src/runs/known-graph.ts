import type { TaskGraph } from '../graph/graph.ts';
import { type FlatGraph, flatten, type Plan, plan } from '../graph/graph-plan.ts';
import { begun } from '../graph/graph-start.ts';
import { graphText } from '../graph/graph-text.ts';
import { PlanValues } from '../graph/graph-values.ts';
import { type Dispatch, dispatchOf } from './dispatch.ts';
import { isLenient } from './group-decision.ts';
import { sha256 } from './record.ts';

/** The text of what may be a graph; throws when it can be no JSON. */
export function graphTextOf(value: object): string {
  return graphText(value as TaskGraph);
}

/** What is kept of the text of a graph. */
interface TextFacts {
  readonly hash: string;
  /** In UTF-16 units. */
  readonly length: number;
}

/** A graph with what is worked out from it, each part once and when it is first asked for. */
export class KnownGraph {
  readonly graph: TaskGraph;
  /** Under which it is stored: the hash of its content, unless that would tell too much. */
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

  /** A graph that was read from what is stored under a name. */
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

  /** Without levels, with what its runs leave out: to be shown. */
  get shown(): FlatGraph {
    return this.graph.start === undefined ? this.flat : flatten(this.graph);
  }

  /** Its runs without levels, in either form. */
  get flat(): FlatGraph {
    this.#flat ??= this.plan.form === 'dispatched' ? this.plan : flatten(begun(this.graph));
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
