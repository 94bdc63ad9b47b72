import type { SubRunners, TimeLimit } from '../../attempt/attempt-context.ts';
import type { PlanCache } from '../../attempt/attempt-plan.ts';
import { type ChannelStore, channelError, StoredChannels } from '../../attempt/channels.ts';
import { knownNames } from '../../attempt/decisions.ts';
import type { OwnLease } from '../../attempt/own-lease.ts';
import { type HandlerWrites, isNothing, NO_WRITES } from '../../attempt/pending-writes.ts';
import { GroupChangedError, UnknownTaskError } from '../../domain/errors/errors.ts';
import type { Suspension } from '../../domain/port/backend.ts';
import type { Cause, FailureType } from '../../domain/task/cause.ts';
import { hasVersion } from '../../domain/task/task-name.ts';
import { NO_OPTIONS } from '../../enqueue/enqueue-options.ts';
import { codeOfNode } from '../../graph/node-code.ts';
import {
  type Ending,
  RunWalk,
  type StepOutcome,
  type WalkSpec,
  type WalkStep,
} from '../../graph/run-walk.ts';
import type { HandlerSource } from '../../handlers/handler-source.ts';
import type { Trace } from '../../tracing/trace.ts';
import { control as kindOf } from '../../workflow/control.ts';
import { partsOf } from '../../workflow/parts.ts';
import type { TaskDefinition } from '../../workflow/task-definition.ts';
import { outputText } from '../group-end.ts';
import { type Edits, editMark, editOf } from '../record.ts';
import { type NodeRecord, outcomeOf, recordOf } from './controls.ts';
import { GroupDrive, type GroupTools } from './group-drive.ts';
import { groupSpan, tracedGroup } from './group-trace.ts';
import type { ProducerFacts } from './members.ts';
import { type NodeEnd, NodeRun } from './node-run.ts';
import type { RunJournal } from './run-journal.ts';
import { unknownNodePause } from './unknown-node.ts';

/** Parts of the worker that walk a graph. */
export interface ProducerTools extends GroupTools {
  readonly handlers: HandlerSource;
  readonly plans: PlanCache;
}

/** The code of a handler that runs steps and waits. */
export interface HandlerCode {
  readonly version: string | undefined;
  /** Its task keeps the version, so no other version reads its journal. */
  readonly isKept: boolean;
}

/** One walk of a run under one lease. */
export interface ProducerCall {
  readonly facts: ProducerFacts;
  /** The lease and token may change during a wait. */
  readonly holder: Pick<OwnLease, 'lease' | 'fencingToken' | 'streams' | 'recall' | 'openGroups'>;
  readonly journal: RunJournal;
  /** Prefix in the journal: separates groups of several runs in one task. */
  readonly prefix: string;
  /** Aborts when the lease has ended. */
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** Store progress at every node, or only before groups. */
  readonly checkpoint: 'node' | 'group';
  /** Edited inputs of nodes. */
  readonly edits?: Edits | undefined;
  /** Longest wait of a node in place, in ms. */
  readonly maxWaitMs: number;
  /** Time limit of the handler that runs it, if there is one. */
  readonly limit?: TimeLimit | undefined;
  /** Makes runners for the handler of a node; its runs have this prefix in the journal. */
  runnersOf(prefix: string, code: HandlerCode): SubRunners;
}

/** The outcome of one lease of a run. */
export type WalkMove =
  | {
      readonly type: 'ended';
      readonly ending: Ending;
      readonly failureType: FailureType;
      /** The node at which it failed; absent for other failures. */
      readonly node: string | undefined;
      /** The task that caused the failure, if the node is a group. */
      readonly task: string | undefined;
    }
  | { readonly type: 'wait'; readonly suspension: Suspension }
  /** A node waits for its next attempt, or its code is not here. */
  | { readonly type: 'left'; readonly delayMs: number; readonly cause: LeftCause }
  /** The run is paused, and nothing of it runs here. */
  | { readonly type: 'paused' };

type LeftCause = Extract<Cause, { type: 'node-waits' | 'unknown-here' }>;

/** Walks a graph under a lease: runs nodes here, stores groups and waits for them. */
export class Producer {
  readonly #tools: ProducerTools;
  readonly #call: ProducerCall;
  /** Definitions of steps that handlers named here. */
  readonly #learned = new Map<string, TaskDefinition>();
  #failureType: FailureType = 'error';
  #culprit: string | undefined;
  #failedAt: string | undefined;
  /** Channels of the run; its nodes write under the lease of this walk. */
  readonly #channels: ChannelStore;

  constructor(tools: ProducerTools, call: ProducerCall) {
    this.#tools = tools;
    this.#call = call;
    this.#channels = new StoredChannels(tools.backend.runs, call.facts.runId, call.holder);
  }

  /**
   * Continues from the journal as far as possible.
   *
   * @throws the reason of the signal; {@link JournalLost} when the lease has ended.
   */
  async walk(spec: WalkSpec): Promise<WalkMove> {
    const { codec } = this.#tools;
    const { journal, signal } = this.#call;
    const walk = new RunWalk(spec);
    for (;;) {
      const step = walk.next();
      if (step.type === 'end') {
        const failureType = this.#failureType;
        const [node, task] = [this.#failedAt, this.#culprit];
        return { type: 'ended', ending: step.ending, failureType, node, task };
      }
      const key = `${step.node.id}#${step.visit}`;
      const known = journal.record(key);
      if (known !== undefined) {
        walk.settle(outcomeOf(codec, known));
        continue;
      }
      signal.throwIfAborted();
      if (journal.isPaused && step.type === 'task') return { type: 'paused' };
      const move = step.type === 'task' ? await this.#task(step, key) : await this.#group(step);
      if (move.type === 'record') {
        const refused = await this.#note(key, move);
        if (refused !== undefined) this.#failedAt = step.node.id;
        walk.settle(refused ?? outcomeOf(codec, move.record));
      } else if (move.type === 'failed') {
        this.#failedAt = step.node.id;
        walk.settle(move);
      } else if (move.type === 'canceled') walk.settle(move);
      else return move;
    }
  }

  /** A node with writes is stored at once, under any `checkpoint`. */
  async #note(
    key: string,
    { record, writes }: NodeMove & { readonly type: 'record' },
  ): Promise<(StepOutcome & { readonly type: 'failed' }) | undefined> {
    const { journal, facts, checkpoint } = this.#call;
    const cancelGroups = journal.abandonGroups(`s:${key}/`);
    if (isNothing(writes)) {
      journal.note(key, record);
      if (checkpoint === 'node' || cancelGroups !== undefined) await journal.flush();
      await cancelGroups?.();
      return undefined;
    }
    const { channel, xcom } = writes;
    const own = { run: facts.runId, writes: channel, xcom };
    const refusal = await journal.noteWriting(key, record, own);
    await cancelGroups?.();
    if (refusal === undefined) return undefined;
    this.#failureType = 'error';
    return { type: 'failed', error: channelError(refusal) };
  }

  async #task(step: WalkStep & { readonly type: 'task' }, key: string): Promise<NodeMove> {
    const { handlers } = this.#tools;
    const task = codeOfNode(step.node, this.#call.facts.said);
    const definition = handlers.definition(task) ?? this.#learned.get(task);
    if (definition === undefined) {
      const { expiresInMs } = step.node.options;
      const met = { key, task, expiresInMs };
      const delayMs = await unknownNodePause(this.#tools, this.#call.journal, met);
      const error = new UnknownTaskError(task);
      if (delayMs === 'expired') return this.#failed(error, 'expired');
      if (delayMs === undefined) return this.#failed(error, 'unknown-task');
      const known = knownNames(handlers.names());
      return { type: 'left', delayMs, cause: { type: 'unknown-here', task, known } };
    }
    let payload: string;
    try {
      payload = this.#edited(key) ?? this.#tools.codec.payload(step.node.id, step.input);
    } catch (error) {
      return this.#failed(error, 'invalid-payload');
    }
    return this.#ended(step, key, await this.#run(step, { key, definition, payload }));
  }

  /** The edited input of a node. Calls that its handler made for another input are dropped. */
  #edited(key: string): string | undefined {
    const { edits, journal } = this.#call;
    const text = editOf(edits, key);
    if (text === undefined) return undefined;
    journal.begin(`e:${key}`, editMark(text), `s:${key}/`);
    return text;
  }

  #run(
    { node, visit }: WalkStep & { readonly type: 'task' },
    what: { readonly key: string; readonly definition: TaskDefinition; readonly payload: string },
  ): Promise<NodeEnd> {
    const { handlers, plans } = this.#tools;
    const { journal, facts, signal, holder, trace, prefix } = this.#call;
    const { dynamic } = node;
    const { definition, payload, key } = what;
    const tries = journal.tries(key);
    return new NodeRun(this.#tools, {
      definition,
      handler: handlers.handler(definition),
      plan: plans.planFor(definition, NO_OPTIONS, holder.lease.attemptSettings),
      payload,
      taskId: `${facts.taskId}:${this.#call.prefix}${key}`,
      user: facts.user,
      holder,
      trace,
      node: node.id,
      signal,
      cycles: dynamic === undefined ? undefined : { cycle: visit - 1, ...dynamic },
      runId: facts.runId,
      runnerFor: this.#call.runnersOf(`s:${key}/`, {
        version: definition.options.version,
        isKept: hasVersion(codeOfNode(node, facts.said)),
      }),
      outer: this.#call.limit,
      channels: this.#channels,
      // Output of an earlier visit in the stream stays.
      writer: `${prefix.slice(prefix.indexOf(':') + 1)}${visit === 1 ? node.id : key}`,
      failures: tries.failures,
      releases: tries.releases,
      isPatient: true,
      maxWaitMs: this.#call.maxWaitMs,
    }).run();
  }

  async #ended(
    { node }: WalkStep & { readonly type: 'task' },
    key: string,
    end: NodeEnd,
  ): Promise<NodeMove> {
    switch (end.type) {
      case 'returned':
        return { type: 'record', record: { kind: 'output', text: end.text }, writes: end.writes };
      case 'chose': {
        const kind = end.control[kindOf];
        if (kind === 'next' || kind === 'goto') this.learn(end.control.step);
        try {
          const record = recordOf(this.#tools.codec, node.id, end.control);
          return { type: 'record', record, writes: end.writes };
        } catch (error) {
          return this.#failed(error, 'invalid-result');
        }
      }
      case 'failed':
        return this.#failed(end.error, end.failureType);
      case 'canceled':
        return { type: 'canceled', cause: end.cause };
      case 'left': {
        const { journal } = this.#call;
        journal.noteTries(key, end);
        await journal.flush();
        const cause = { type: 'node-waits', node: node.id } as const;
        return { type: 'left', delayMs: end.delayMs, cause };
      }
    }
  }

  async #group(step: WalkStep & { readonly type: 'group' }): Promise<NodeMove> {
    const { facts, journal, holder, prefix, signal } = this.#call;
    const trace = this.#call.trace.part(() => groupSpan(step, facts.runId));
    const { traceparent } = trace;
    const { isPaused } = journal;
    const call = { step, producer: facts, journal, isPaused, holder, signal, prefix, traceparent };
    const move = await tracedGroup(trace, () => new GroupDrive(this.#tools, call).move());
    if (move.type !== 'outcome') return move;
    const { outcome } = move;
    this.#culprit = move.culprit;
    switch (outcome.type) {
      case 'output':
      case 'terminate': {
        const kind = outcome.type;
        try {
          const text = outputText(this.#tools.codec, step.node, outcome.value);
          return { type: 'record', record: { kind, text }, writes: NO_WRITES };
        } catch (error) {
          return this.#failed(error, 'invalid-result');
        }
      }
      case 'canceled':
        return outcome;
      case 'failed':
        return this.#failed(outcome.error, 'error');
      default:
        return this.#failed(new GroupChangedError(step.node.id), 'error');
    }
  }

  #failed(error: unknown, failureType: FailureType): NodeMove {
    this.#failureType = failureType;
    return { type: 'failed', error };
  }

  /** Registers definitions of a step that may be unknown here. */
  learn(step: unknown): void {
    for (const task of partsOf(step).tasks) {
      if (!this.#tools.handlers.has(task)) continue;
      this.#learned.set(task.codeName, task).set(task.taskName, task);
    }
  }
}

type NodeMove =
  | {
      readonly type: 'record';
      readonly record: NodeRecord;
      readonly writes: HandlerWrites;
    }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'canceled'; readonly cause: Cause }
  | Extract<WalkMove, { type: 'wait' | 'left' | 'paused' }>;
