import { functionWaitMs } from '../../attempt/attempt-plan.ts';
import { checkedDecision, failedOutcome, releasedOutcome } from '../../attempt/decisions.ts';
import { type HandlerWrites, NO_WRITES } from '../../attempt/pending-writes.ts';
import { callUserCode } from '../../base/async-scope.ts';
import { sleep } from '../../base/pause.ts';
import { thrownOf } from '../../base/thrown.ts';
import { errorOf } from '../../codec/task-error.ts';
import { type DeciderFacts, decide, type Outcome } from '../../domain/attempt/decider.ts';
import { isOwn, TaskFailedError } from '../../domain/errors/errors.ts';
import type { Decision } from '../../domain/port/backend.ts';
import { type Cause, causeText, type FailureType, failureTypeOf } from '../../domain/task/cause.ts';
import { logFailure } from '../../logging/failure-lines.ts';
import type { Control } from '../../workflow/control.ts';
import { type CallEnd, NodeAttempt } from './node-attempt.ts';
import type { NodeCall, NodeTools } from './node-call.ts';

/** The end of a node. */
export type NodeEnd =
  | { readonly type: 'returned'; readonly text: string; readonly writes: HandlerWrites }
  | { readonly type: 'chose'; readonly control: Control; readonly writes: HandlerWrites }
  | { readonly type: 'failed'; readonly error: unknown; readonly failureType: FailureType }
  /** Its decider canceled it, or its handler canceled its run. */
  | { readonly type: 'canceled'; readonly cause: Cause }
  | {
      readonly type: 'left';
      readonly delayMs: number;
      readonly failures: number;
      readonly releases: number;
    };

/** Runs a node to its end; rejects with the reason of the signal when that aborts. */
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
    const { signal, maxWaitMs } = this.#call;
    for (;;) {
      signal.throwIfAborted();
      const tries = { failures: this.#failures, releases: this.#releases };
      const ending = await NodeAttempt.run(this.#tools, this.#call, tries);
      await this.#call.holder.recall?.();
      if (!this.#counts(ending)) signal.throwIfAborted();
      if (ending.type === 'chose') return ending;
      if (ending.type === 'canceled') return ending;
      if (ending.type === 'hung') {
        this.#report(ending.error, 'last');
        return { type: 'failed', error: ending.error, failureType: 'timeout' };
      }
      const decision = this.#decide(this.#outcomeOf(ending));
      if (decision.type === 'finish') {
        const writes = ending.type === 'returned' ? ending.writes : NO_WRITES;
        return {
          type: 'returned',
          text: decision.result,
          writes: this.#withResult(writes, decision.result),
        };
      }
      if (decision.type === 'cancel') return { type: 'canceled', cause: decision.cause };
      if (decision.type === 'dead-letter') {
        const error = ending.type === 'threw' ? ending.failure.error : this.#refused(decision);
        this.#report(error, 'last');
        return { type: 'failed', error, failureType: failureTypeOf(decision.cause) ?? 'error' };
      }
      if (decision.type === 'retry') {
        if (ending.type === 'threw') this.#report(ending.failure.error, 'again');
        this.#failures++;
      } else this.#releases++;
      const { delayMs = 0 } = decision;
      const [failures, releases] = [this.#failures, this.#releases];
      if (delayMs > maxWaitMs) return { type: 'left', delayMs, failures, releases };
      await sleep(this.#tools.clock, delayMs, signal);
    }
  }

  /**
   * Whether the end counts although the signal has aborted: work that ended before a shutdown need not run
   * again. After a cancel or a timeout the handler's value is not a result.
   */
  #counts({ type }: CallEnd): boolean {
    const { signal, isPatient } = this.#call;
    const isDone = type === 'returned' || type === 'chose';
    return isPatient && isDone && isOwn(signal.reason, 'CLOSED');
  }

  /** Adds the result, if its definition has `xcom: true`. */
  #withResult(writes: HandlerWrites, text: string): HandlerWrites {
    const { definition, user } = this.#call;
    const result = this.#tools.xcom.resultOf(definition, user, text);
    return result === undefined ? writes : { ...writes, xcom: [...writes.xcom, result] };
  }

  /** Reports a failure inside a stored run; outside, the caller gets the error itself. */
  #report(error: unknown, which: 'again' | 'last'): void {
    const { taskId: task, definition, user, runId: run, node } = this.#call;
    if (run === undefined && which === 'last') return;
    const failed = {
      task,
      name: definition.taskName,
      user,
      attempt: this.#failures + 1,
      run,
      node,
    };
    logFailure(this.#tools, 'attempt.failed', failed, thrownOf(error));
  }

  /** A decider that refuses the handler's return value. */
  #refused({ cause, error }: Decision & { readonly type: 'dead-letter' }): Error {
    const facts = errorOf(error) ?? { name: 'Error', message: causeText(cause) };
    return new TaskFailedError(this.#call.taskId, cause, facts);
  }

  #outcomeOf(ending: CallEnd & { readonly type: 'returned' | 'threw' }): Outcome {
    if (ending.type === 'returned') return { type: 'succeeded', result: ending.text };
    const { failure } = ending;
    const released = releasedOutcome(failure);
    if (released !== undefined) return released;
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
    return (
      checkedDecision(callUserCode(decider, outcome, facts), outcome) ?? decide(outcome, facts)
    );
  }
}
