/** A task run in place, under nobody's lease or under that of its run: attempts until it has ended. */
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { Decision, UpstreamFact } from '../domain/backend.ts';
import { type DeciderFacts, decide, type Outcome } from '../domain/decider.ts';
import { TaskFailedError, TimedOutError } from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { FailureType } from '../domain/task.ts';
import type { Control } from '../workflow/control.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import { checkedDecision, failedOutcome } from './attempt.ts';
import {
  AttemptContext,
  type ContextSource,
  LazySignal,
  type SubRunner,
} from './attempt-context.ts';
import { type AttemptPlan, functionWaitMs } from './attempt-plan.ts';
import type { ValueCodec } from './codec.ts';
import { callHandler, type Failure } from './handler-call.ts';
import { sleep } from './pause.ts';
import { type CycleFacts, DynamicAttemptContext } from './runs/dynamic-context.ts';
import { errorOf } from './task-error.ts';

/** What running a node needs of its process. */
export interface NodeTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly codec: ValueCodec;
  readonly log: Logger;
}

/** What is run, and for whom. */
export interface NodeCall {
  readonly definition: TaskDefinition;
  readonly handler: Handler;
  readonly plan: AttemptPlan;
  readonly payload: string;
  /** As the handler sees it. */
  readonly taskId: string;
  readonly user: string;
  readonly fencingToken: number;
  readonly traceparent: string | undefined;
  /** Aborts when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** Absent for what is no part of a stored run. */
  readonly runId: string | undefined;
  readonly runner: SubRunner;
  /** Absent for what is no part of a run. */
  readonly cycles: CycleFacts | undefined;
  /** Attempts that have failed elsewhere. */
  readonly failures: number;
  /** Times that the handler has given it back elsewhere. */
  readonly releases: number;
  /** Whether an aborted handler is waited for; what it gives all the same counts then. */
  readonly isPatient: boolean;
  /** Longest wait in place, in ms; a longer one ends as `left`. */
  readonly maxWaitMs: number;
}

/** How it ended. */
export type NodeEnd =
  | { readonly type: 'returned'; readonly text: string }
  | { readonly type: 'chose'; readonly control: Control }
  | { readonly type: 'failed'; readonly error: unknown; readonly failureType: FailureType }
  /** Its decider said so, or its handler canceled its run. */
  | { readonly type: 'canceled'; readonly reason: string; readonly wholeRun: boolean }
  | {
      readonly type: 'left';
      readonly delayMs: number;
      readonly failures: number;
      readonly releases: number;
    };

type Ending =
  | { readonly type: 'returned'; readonly text: string }
  | { readonly type: 'chose'; readonly control: Control }
  | { readonly type: 'threw'; readonly failure: Failure }
  | { readonly type: 'canceled'; readonly reason: string }
  /** The handler ignores its signal: a retry would run beside it. */
  | { readonly type: 'hung'; readonly error: unknown };

const NO_UPSTREAMS: readonly UpstreamFact[] = [];

/** Runs a node to its end; rejects with the signal's reason when that aborts. */
export class NodeRun {
  readonly #tools: NodeTools;
  readonly #call: NodeCall;
  #failures: number;
  #releases: number;

  constructor(tools: NodeTools, call: NodeCall) {
    this.#tools = tools;
    this.#call = call;
    this.#failures = call.failures;
    this.#releases = call.releases;
  }

  async run(): Promise<NodeEnd> {
    const { signal, maxWaitMs, isPatient } = this.#call;
    for (;;) {
      signal.throwIfAborted();
      const ending = await this.#attempt(this.#failures + 1);
      const isDone = ending.type === 'returned' || ending.type === 'chose';
      if (!isPatient || !isDone) signal.throwIfAborted();
      if (ending.type === 'chose') return ending;
      if (ending.type === 'canceled') return { ...ending, wholeRun: true };
      if (ending.type === 'hung') {
        return { type: 'failed', error: ending.error, failureType: 'timeout' };
      }
      const decision = this.#decide(this.#outcomeOf(ending));
      if (decision.type === 'finish') return { type: 'returned', text: decision.result };
      if (decision.type === 'cancel') return { ...decision, type: 'canceled', wholeRun: false };
      if (decision.type === 'dead-letter') {
        const error = ending.type === 'threw' ? ending.failure.error : this.#refused(decision);
        return { type: 'failed', error, failureType: decision.failureType };
      }
      if (decision.type === 'retry') this.#failures++;
      else this.#releases++;
      const { delayMs = 0 } = decision;
      const [failures, releases] = [this.#failures, this.#releases];
      if (delayMs > maxWaitMs) return { type: 'left', delayMs, failures, releases };
      await sleep(this.#tools.clock, delayMs, signal);
    }
  }

  /** One call of the handler, with its timeout. */
  #attempt(attempt: number): Promise<Ending> {
    const { clock, codec } = this.#tools;
    const { definition, handler, payload, signal, plan, cycles } = this.#call;
    const { timeoutMs } = plan;
    const aborted = new LazySignal();
    const source = this.#source(attempt, aborted);
    return new Promise((resolve) => {
      const end = (ending: Ending): void => {
        timer?.cancel();
        signal.removeEventListener('abort', onAbort);
        const canceled = ctx instanceof DynamicAttemptContext ? ctx.canceled : undefined;
        if (canceled === undefined) resolve(ending);
        else resolve({ type: 'canceled', reason: canceled.reason });
      };
      const timeOut = (): void => {
        const error = new TimedOutError(this.#call.taskId, timeoutMs);
        aborted.abort(error);
        timer = clock.setTimer(LIMITS.abortGraceMs, () => end({ type: 'hung', error }));
      };
      const onAbort = (): void => {
        aborted.abort(signal.reason);
        if (!this.#call.isPatient) end({ type: 'hung', error: signal.reason });
      };
      let timer = timeoutMs > 0 ? clock.setTimer(timeoutMs, timeOut) : undefined;
      signal.addEventListener('abort', onAbort);
      const ctx =
        cycles === undefined || definition.dynamic === undefined
          ? new AttemptContext(source)
          : new DynamicAttemptContext(source, cycles);
      callHandler(
        { definition, handler, payload, ctx, codec },
        {
          returned: (text) => end({ type: 'returned', text }),
          chose: (control) => end({ type: 'chose', control }),
          threw: (failure) => end({ type: 'threw', failure: timedOut(aborted, failure) }),
        },
      );
    });
  }

  /** A decider that refuses what a handler returned. */
  #refused({ failureType, error, reason }: Decision & { readonly type: 'dead-letter' }): Error {
    const facts = errorOf(error) ?? { name: 'Error', message: reason };
    return new TaskFailedError(this.#call.taskId, failureType, facts);
  }

  #source(attempt: number, aborted: LazySignal): ContextSource {
    const { log, codec } = this.#tools;
    const { taskId, runId, user, fencingToken, traceparent, definition, runner } = this.#call;
    return {
      taskId,
      runId,
      runner,
      name: definition.name,
      user,
      attempt,
      fencingToken,
      traceparent,
      upstreams: NO_UPSTREAMS,
      get signal() {
        return aborted.signal;
      },
      log,
      codec,
    };
  }

  #outcomeOf(ending: Ending & { readonly type: 'returned' | 'threw' }): Outcome {
    if (ending.type === 'returned') return { type: 'succeeded', result: ending.text };
    const { failure } = ending;
    if (failure.uncounted === true && failure.afterMs !== undefined) {
      return { type: 'released', reason: 'asked to run again', afterMs: failure.afterMs };
    }
    const wait = failure.afterMs ?? functionWaitMs(this.#call.plan, this.#failures + 1);
    return failedOutcome(failure, wait);
  }

  #decide(outcome: Outcome): Decision {
    const { plan, taskId, definition, user } = this.#call;
    const { policy, decider } = plan;
    const facts: DeciderFacts = {
      id: taskId,
      name: definition.name,
      user,
      attempt: this.#failures + 1,
      releases: this.#releases,
      policy,
      random: this.#tools.random(),
    };
    return checkedDecision(decider(outcome, facts)) ?? decide(outcome, facts);
  }
}

/** What an aborted handler throws tells less than why it was aborted. */
function timedOut(aborted: LazySignal, failure: Failure): Failure {
  const error = aborted.reason;
  return error instanceof TimedOutError
    ? { error, failureType: 'timeout', retryable: true }
    : failure;
}
