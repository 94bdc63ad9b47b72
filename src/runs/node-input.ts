/** Builds the input of a node in a dispatched run from the outcomes of other nodes. */

import type { Failure } from '../attempt/handler-call.ts';
import { errorSaying } from '../base/thrown.ts';
import type { ValueCodec } from '../codec/codec.ts';
import {
  InvalidPayloadError,
  isGraphStoreError,
  isOwn,
  TaskNotFoundError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend, Leased, UpstreamFact } from '../domain/port/backend.ts';
import type { UpstreamCause } from '../domain/task/cause.ts';
import { shownNode } from '../domain/task/node-name.ts';
import { isEnd, type TaskRecord } from '../domain/task/task.ts';
import type { PlanGroup, PlanValue } from '../graph/graph-plan.ts';
import type { NodeOutcome } from '../graph/graph-values.ts';
import type { DispatchTask } from './dispatch.ts';
import { causeOf, errorIn, recordsOf } from './failure-cause.ts';
import type { GraphCache } from './graph-cache.ts';
import { decideGroup, type MemberOutcome } from './group-decision.ts';
import type { KnownGraph } from './known-graph.ts';
import { nodeScope, nodeTaskId, type RunPlace, runInputOf } from './record.ts';

interface NodeInputParts {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly graphs: GraphCache;
}

/** The input as JSON text, or the end of the attempt instead of a call. */
export type LateInput =
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'followed'; readonly cause: UpstreamCause }
  /** A group whose members were put back: it is decided when these have ended. */
  | { readonly kind: 'open'; readonly waitFor: readonly string[] };

/** A leased task with the outcomes of its dependencies. */
export interface LateTask {
  readonly lease: Leased;
  readonly place: RunPlace;
  /** None of them is cut. */
  readonly upstreams: readonly UpstreamFact[];
}

/** Builds inputs: loads the graph by its hash, then the outputs of its nodes. */
export class NodeInput {
  readonly #parts: NodeInputParts;

  constructor(parts: NodeInputParts) {
    this.#parts = parts;
  }

  /** Rejects only with errors of the backend: then the task is released. */
  async build(task: LateTask): Promise<LateInput> {
    try {
      const known = await this.#parts.graphs.get(task.place.graph);
      const node = known.dispatch.byId.get(task.place.node);
      if (node === undefined) {
        const problem = `graph ${known.hash} has no node "${shownNode(task.place.node)}"`;
        return refused(new InvalidPayloadError('$', problem));
      }
      return await new Building(this.#parts, known, task).input(node);
    } catch (error) {
      if (isGraphStoreError(error) || isOwn(error, 'TASK_NOT_FOUND')) {
        return refused(error);
      }
      throw error;
    }
  }
}

/** Builds one input. */
class Building {
  readonly #parts: NodeInputParts;
  readonly #known: KnownGraph;
  readonly #task: LateTask;
  readonly #outcomes = new Map<string, NodeOutcome>();
  #input: { readonly value: unknown } | undefined;

  constructor(parts: NodeInputParts, known: KnownGraph, task: LateTask) {
    this.#parts = parts;
    this.#known = known;
    this.#task = task;
  }

  async input(node: DispatchTask): Promise<LateInput> {
    const { plan } = node;
    const open = await this.#learn(node.reads);
    if (plan?.kind === 'group' && open.length > 0) return { kind: 'open', waitFor: open };
    if (plan?.kind === 'group') return this.#group(plan);
    if (plan?.kind !== 'task') {
      return refused(new InvalidPayloadError('$', `node "${shownNode(node.id)}" has no input`));
    }
    await this.#learnInput([plan.input]);
    const { codec } = this.#parts;
    return made(() => {
      const value = this.#known.values.build(plan.input, this.#facts());
      return codec.payload(plan.task.id, value);
    });
  }

  async #group(plan: PlanGroup): Promise<LateInput> {
    await this.#learnInput(plan.members.map(({ value }) => value));
    const facts = this.#facts();
    const members: MemberOutcome[] = plan.members.map((member) => [
      member.key,
      this.#known.values.member(member, facts),
    ]);
    if (members.some(([, { ok }]) => !ok)) {
      const upstream = await this.#brokenBefore(plan);
      if (upstream !== undefined) {
        const { id, state } = upstream;
        const how = state === 'canceled' ? state : 'failed';
        return { kind: 'followed', cause: { type: 'upstream', id, state: how } };
      }
    }
    // The output is its result, which has a limit of its own.
    return made(() => this.#parts.codec.anyLength(decideGroup(plan.group, members)));
  }

  #facts(): { readonly input: unknown; outcome(node: string): NodeOutcome } {
    return {
      input: this.#input?.value,
      outcome: (node) => this.#outcomes.get(node) ?? lost(node),
    };
  }

  /**
   * Collects the outcomes of nodes: from the lease, else from the store.
   *
   * @returns tasks that have not ended, at most the largest number of dependencies.
   */
  async #learn(nodes: readonly string[]): Promise<readonly string[]> {
    const facts = new Map(this.#task.upstreams.map((fact) => [fact.id, fact]));
    const missing: { readonly node: string; readonly ids: readonly string[] }[] = [];
    for (const node of nodes) {
      const ids = this.#idsOf(node);
      const fact = ids.map((id) => facts.get(id)).find((one) => one !== undefined);
      if (fact?.state === 'finished') this.#outcomes.set(node, this.#finished(fact.result));
      else missing.push({ node, ids: fact === undefined ? ids : [fact.id] });
    }
    if (missing.length === 0) return [];
    const { inspect } = this.#parts.backend;
    const ids = missing.flatMap((one) => one.ids);
    const status = await inspect.status(ids);
    const known = new Map(ids.map((id, at) => [id, status[at]]));
    const broken: { readonly node: string; readonly id: string }[] = [];
    const open: string[] = [];
    for (const { node, ids } of missing) {
      const id = ids.find((one) => known.get(one) !== undefined);
      if (id === undefined) continue;
      const { state, result } = known.get(id) ?? {};
      if (state === 'finished') this.#outcomes.set(node, this.#finished(result));
      else if (state !== undefined && !isEnd(state)) open.push(id);
      else broken.push({ node, id });
    }
    if (broken.length > 0) await this.#learnBroken(broken);
    return open.slice(0, LIMITS.dependencies);
  }

  /** Finds why nodes did not finish, in their records or in those of others. */
  async #learnBroken(
    broken: readonly { readonly node: string; readonly id: string }[],
  ): Promise<void> {
    const { inspect } = this.#parts.backend;
    const records = await recordsOf(
      inspect,
      broken.map(({ id }) => id),
    );
    for (const [at, { node }] of broken.entries()) {
      const record = records[at];
      if (record === undefined) continue;
      if (record.state === 'finished') this.#outcomes.set(node, this.#finished(record.result));
      else {
        const error = errorIn(await causeOf(inspect, record));
        this.#outcomes.set(node, { ok: false, error });
      }
    }
  }

  #finished(result: string | undefined): NodeOutcome {
    return { ok: true, value: this.#parts.codec.read(result ?? '') };
  }

  /** Reads the input of the run from its record; few nodes need it. */
  async #learnInput(values: readonly PlanValue[]): Promise<void> {
    if (!values.some((value) => this.#known.values.readsInput(value))) return;
    const { id } = this.#task.place;
    const [run] = await this.#parts.backend.inspect.get([id]);
    if (run === undefined) throw new TaskNotFoundError(id);
    this.#input = { value: runInputOf(this.#parts.codec, run.payload) };
  }

  /** A dependency of the whole group that did not finish, so that no member could start. */
  async #brokenBefore(plan: PlanGroup): Promise<TaskRecord | undefined> {
    const ids = plan.before.flatMap((node) => this.#idsOf(node));
    const records = await recordsOf(this.#parts.backend.inspect, ids);
    return records.find((record) => record?.state === 'failed' || record?.state === 'canceled');
  }

  /** Ids of the node's possible tasks: in this run, or in a run whose results it uses. */
  #idsOf(node: string): readonly string[] {
    const { place } = this.#task;
    return [nodeScope(place), ...(place.past ?? [])].map((scope) => nodeTaskId(scope, node));
  }
}

function lost(node: string): NodeOutcome {
  return {
    ok: false,
    error: errorSaying(`the result of node "${shownNode(node)}" is not stored any more`),
  };
}

function made(make: () => string): LateInput {
  try {
    return { kind: 'input', text: make() };
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): LateInput {
  const failureType = isOwn(error, 'INVALID_PAYLOAD') ? 'invalid-payload' : 'error';
  const retryable = isOwn(error) && error.retryable;
  return { kind: 'refused', failure: { error, failureType, retryable } };
}
