/** Runs a workflow locally: every node in this process, without storing anything. */

import type { SubRunners } from '../attempt/attempt-context.ts';
import type { PlanCache } from '../attempt/attempt-plan.ts';
import type { LocalChannels } from '../attempt/channels.ts';
import { applyHere } from '../attempt/pending-writes.ts';
import { LocalStreams } from '../attempt/streams.ts';
import { onAbort } from '../base/abort-watch.ts';
import { callUserCode } from '../base/async-scope.ts';
import {
  isOwn,
  TaskCanceledError,
  TimedOutError,
  UnknownTaskError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Cause } from '../domain/task/cause.ts';
import { versionedName } from '../domain/task/task-name.ts';
import { NO_OPTIONS } from '../enqueue/enqueue-options.ts';
import { isLost, type MemberState, type RegisteredVerdict } from '../graph/group-verdict.ts';
import {
  type Ending,
  RunWalk,
  type StepOutcome,
  type WalkMember,
  type WalkSpec,
  type WalkStep,
} from '../graph/run-walk.ts';
import type { HandlerSource } from '../handlers/handler-source.ts';
import { outcomeOf, recordOf } from '../runs/driven/controls.ts';
import { endOf, groupSpan } from '../runs/driven/group-trace.ts';
import type { NodeTools } from '../runs/driven/node-call.ts';
import { NodeRun } from '../runs/driven/node-run.ts';
import { groupOutcome, type MemberEnd, outputText } from '../runs/group-end.ts';
import type { Trace } from '../tracing/trace.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Control } from '../workflow/control.ts';
import { control as kindOf } from '../workflow/control.ts';
import { partsOf } from '../workflow/parts.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';

/** Dependencies on the client. */
export interface LocalTools extends NodeTools {
  readonly handlers: HandlerSource;
  readonly plans: PlanCache;
  readonly newId: () => string;
  readonly tracer: Tracer | undefined;
}

/** Dependencies of a walk: handlers may run steps of their own. */
export interface WalkTools extends LocalTools {
  readonly runnerFor: SubRunners;
  /** Channels of the run: its own, or those of the handler that runs it. */
  readonly channels: LocalChannels;
}

type TaskStep = WalkStep & { readonly type: 'task' };
type GroupStep = WalkStep & { readonly type: 'group' };

/** Options of a walk. */
export interface LocalWalkCall {
  readonly step: unknown;
  readonly user: string;
  readonly trace: Trace;
  /** See `RunEnqueueOptions`. */
  readonly maxSteps?: number | undefined;
}

/** One `loom.run` of a step. */
export class LocalWalk {
  readonly #tools: WalkTools;
  readonly #user: string;
  readonly #runId: string;
  readonly #trace: Trace;
  readonly #maxSteps: number | undefined;
  /** Definitions of the step, and of those that its handlers name. */
  readonly #definitions = new Map<string, TaskDefinition>();
  readonly #policies = new Map<string, RegisteredVerdict>();

  constructor(tools: WalkTools, { step, user, trace, maxSteps }: LocalWalkCall) {
    this.#maxSteps = maxSteps;
    this.#tools = tools;
    this.#user = user;
    this.#trace = trace;
    this.#runId = tools.newId();
    this.#learn(step);
  }

  /** Runs to the end; rejects with the signal's reason when that aborts. */
  walk(spec: WalkSpec, signal: AbortSignal): Promise<Ending> {
    return this.#walk(spec, signal, this.#trace);
  }

  async #walk(spec: WalkSpec, signal: AbortSignal, trace: Trace): Promise<Ending> {
    const walk = new RunWalk({ ...spec, maxSteps: this.#maxSteps });
    for (;;) {
      const step = walk.next();
      if (step.type === 'end') return step.ending;
      walk.settle(
        await (step.type === 'task'
          ? this.#task(step, signal, trace)
          : this.#group(step, signal, trace)),
      );
    }
  }

  #learn(step: unknown): void {
    const { tasks, policies } = partsOf(step);
    for (const task of tasks) {
      const known = this.#definitions.get(task.codeName);
      if (known === undefined || known.code.kind === 'elsewhere') {
        this.#definitions.set(task.codeName, task);
      }
    }
    for (const policy of policies)
      this.#policies.set(policy.name, (facts) => callUserCode(policy.decide, facts));
  }

  async #task(
    { node, visit, input }: TaskStep,
    signal: AbortSignal,
    trace: Trace,
  ): Promise<StepOutcome> {
    const { codec, handlers, plans, clock } = this.#tools;
    const code = versionedName(node.task, node.version);
    const definition = this.#definitions.get(code) ?? handlers.definition(code);
    if (definition === undefined) return failed(new UnknownTaskError(code));
    try {
      const end = await new NodeRun(this.#tools, {
        definition,
        handler: handlers.handler(definition),
        plan: plans.planFor(definition, NO_OPTIONS, undefined),
        payload: codec.payload(node.id, input),
        taskId: `${this.#runId}:${node.id}#${visit}`,
        user: this.#user,
        holder: {
          fencingToken: clock.now() * MICROSECONDS,
          streams: new LocalStreams(this.#runId, codec),
        },
        trace,
        node: node.id,
        runId: undefined,
        runnerFor: this.#tools.runnerFor,
        channels: this.#tools.channels,
        writer: node.id,
        signal,
        cycles:
          node.dynamic === undefined
            ? undefined
            : { cycle: visit - 1, maxCycles: node.dynamic.maxCycles },
        failures: 0,
        releases: 0,
        isPatient: false,
        maxWaitMs: LIMITS.delayMaxMs,
      }).run();
      switch (end.type) {
        case 'returned':
          await applyHere(this.#tools, this.#tools.channels, end.writes);
          return { type: 'output', value: codec.read(end.text) };
        case 'chose':
          await applyHere(this.#tools, this.#tools.channels, end.writes);
          return this.#chosen(node.id, end.control);
        case 'canceled':
          return end;
        case 'failed':
          return failed(end.error);
        case 'left':
          return failed(new TimedOutError(node.id, end.delayMs));
      }
    } catch (error) {
      signal.throwIfAborted();
      return failed(error);
    }
  }

  #chosen(node: string, control: Control): StepOutcome {
    const kind = control[kindOf];
    if (kind === 'next' || kind === 'goto') this.#learn(control.step);
    return outcomeOf(this.#tools.codec, recordOf(this.#tools.codec, node, control));
  }

  async #group(step: GroupStep, signal: AbortSignal, whole: Trace): Promise<StepOutcome> {
    const trace = whole.part(() => groupSpan(step, this.#runId));
    try {
      const outcome = await this.#members(step, signal, trace);
      trace.end(endOf(outcome));
      return outcome;
    } catch (error) {
      trace.end({ outcome: 'failed', error });
      if (isOwn(error, 'INVALID_RESULT')) return failed(error);
      throw error;
    }
  }

  async #members(step: GroupStep, signal: AbortSignal, trace: Trace): Promise<StepOutcome> {
    const group = new LocalGroup(step, signal, (member, its) =>
      this.#walk({ ...member, graph: step.graph, isMember: true }, its, trace),
    );
    const timeoutMs = step.node.timeoutMs ?? 0;
    const { clock } = this.#tools;
    const timer =
      timeoutMs > 0 ? clock.setTimer(timeoutMs, () => group.timeUp(timeoutMs)) : undefined;
    const members = await group.run();
    timer?.cancel();
    signal.throwIfAborted();
    const { node } = step;
    const { policy } = node;
    const own = policy.kind === 'registered' ? this.#policy(policy.name) : NO_POLICY;
    const ended = groupOutcome({ node, members, isTimeUp: group.isTimeUp, registered: own });
    if (ended.type === 'output') outputText(this.#tools.codec, node, ended.value);
    return ended;
  }

  #policy(name: string): RegisteredVerdict {
    const known = this.#policies.get(name);
    if (known !== undefined) return known;
    return () => {
      throw new UnknownTaskError(name);
    };
  }
}

type RunMember = (member: WalkMember, signal: AbortSignal) => Promise<Ending>;

/** The members of one group, with limited concurrency. */
class LocalGroup {
  readonly #step: GroupStep;
  readonly #run: RunMember;
  readonly #outer: AbortSignal;
  /** Aborts when the remaining members are no longer needed. */
  readonly #closed = new AbortController();
  readonly #ends: (MemberEnd | undefined)[];
  /** Controllers of running members: one signal for all of them would have as many listeners. */
  readonly #running = new Set<AbortController>();
  #next = 0;
  isTimeUp = false;

  constructor(step: GroupStep, outer: AbortSignal, run: RunMember) {
    this.#step = step;
    this.#outer = outer;
    this.#run = run;
    this.#ends = step.members.map(() => undefined);
  }

  async run(): Promise<readonly MemberEnd[]> {
    const { node, members } = this.#step;
    const close = (): void => this.#close(this.#outer.reason);
    const unwatch = onAbort([this.#outer], close);
    const queues = Math.min(node.concurrency ?? members.length, members.length);
    await Promise.all(Array.from({ length: queues }, () => this.#queue()));
    unwatch();
    const { signal } = this.#closed;
    return members.map(
      ({ key }, at) => this.#ends[at] ?? { key, state: 'canceled', error: signal.reason },
    );
  }

  timeUp(timeoutMs: number): void {
    this.isTimeUp = true;
    this.#close(new TimedOutError(this.#step.node.id, timeoutMs));
  }

  /** Runs one member after the other, until none is left. */
  async #queue(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const at = this.#next++;
      const member = this.#step.members[at];
      if (member === undefined) return;
      const own = new AbortController();
      this.#running.add(own);
      const end = await this.#member(member, own.signal);
      this.#running.delete(own);
      this.#ends[at] = end;
      const isEnd = end.state === 'terminated' || end.state === 'run-canceled';
      if (isEnd || (end.state !== 'finished' && this.#isDecided())) {
        const group = this.#step.node.id;
        this.#close(new TaskCanceledError(group, { type: 'group-ended', group }));
      }
    }
  }

  async #member(member: WalkMember, signal: AbortSignal): Promise<MemberEnd> {
    const { key } = member;
    try {
      const ending = await this.#run(member, signal);
      switch (ending.type) {
        case 'finished':
        case 'terminated':
          return { key, state: ending.type, value: ending.value };
        case 'failed':
          return { key, state: 'failed', error: ending.error };
        case 'canceled':
          return canceledMember(key, ending.cause);
      }
    } catch (error) {
      return { key, state: 'canceled', error };
    }
  }

  #isDecided(): boolean {
    const { node, members } = this.#step;
    if (!node.failFast) return false;
    const states = members.map(({ key }, at): MemberState => {
      const state = this.#ends[at]?.state ?? 'open';
      return {
        key,
        state: state === 'terminated' || state === 'run-canceled' ? 'canceled' : state,
      };
    });
    return isLost(node.policy, states);
  }

  #close(reason: unknown): void {
    this.#closed.abort(reason);
    for (const one of this.#running) one.abort(reason);
  }
}

/** A member that canceled itself counts as canceled in its group; one that canceled the run does not. */
function canceledMember(key: string, cause: Cause): MemberEnd {
  if (cause.type === 'cancel-run') return { key, state: 'run-canceled', cause };
  return { key, state: 'canceled', error: new TaskCanceledError(key, cause), cause };
}

/** Tokens count in microseconds of the clock. */
const MICROSECONDS = 1_000;

const NO_POLICY: RegisteredVerdict = () => true;

function failed(error: unknown): StepOutcome {
  return { type: 'failed', error };
}
