/** A task run here and now: the same checks, retries, timeout and context, and no backend. */
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { Decision, UpstreamFact } from '../domain/backend.ts';
import { type DeciderFacts, decide, type Outcome } from '../domain/decider.ts';
import {
  InvalidPayloadError,
  TaskCanceledError,
  TaskFailedError,
  TimedOutError,
} from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { validate } from '../workflow/standard-schema.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import { checkedDecision, failedOutcome } from './attempt.ts';
import { AttemptContext, type ContextSource, LazySignal } from './attempt-context.ts';
import { type AttemptPlan, functionWaitMs, type PlanBook } from './attempt-plan.ts';
import type { ValueCodec } from './codec.ts';
import { NO_OPTIONS } from './enqueue-options.ts';
import { callHandler, type Failure } from './handler-call.ts';
import type { HandlerSource } from './handler-source.ts';
import { sleep } from './pause.ts';
import { errorOf } from './task-error.ts';

/** What a local run needs of its client. */
export interface LocalTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly handlers: HandlerSource;
  readonly plans: PlanBook;
  readonly newId: () => string;
}

/** Who runs what. */
export interface LocalCall {
  readonly definition: TaskDefinition;
  readonly input: unknown;
  readonly user: string;
  readonly signal: AbortSignal | undefined;
}

type Ending =
  | { readonly kind: 'returned'; readonly text: string }
  | { readonly kind: 'threw'; readonly failure: Failure }
  /** The handler ignores its signal: a retry would run beside it. */
  | { readonly kind: 'hung'; readonly error: unknown };

const NO_UPSTREAMS: readonly UpstreamFact[] = [];

/** Runs a task to its end; rejects with what its handler threw. */
export async function runHere(tools: LocalTools, call: LocalCall): Promise<unknown> {
  const { definition, input, signal } = call;
  signal?.throwIfAborted();
  const payload = tools.codec.payload(definition.name, input);
  if (definition.input !== undefined) {
    const result = await validate(definition.input, input);
    if (!result.ok) throw new InvalidPayloadError(result.path, result.message);
  }
  return new LocalRun(tools, call, payload).run();
}

class LocalRun {
  readonly #tools: LocalTools;
  readonly #call: LocalCall;
  readonly #payload: string;
  readonly #plan: AttemptPlan;
  readonly #taskId: string;
  /** Aborts when the caller's signal does. */
  readonly #stop: AbortSignal;
  #releases = 0;

  constructor(tools: LocalTools, call: LocalCall, payload: string) {
    this.#tools = tools;
    this.#call = call;
    this.#payload = payload;
    this.#plan = tools.plans.planFor(call.definition, NO_OPTIONS);
    this.#taskId = tools.newId();
    this.#stop = call.signal ?? new AbortController().signal;
  }

  async run(): Promise<unknown> {
    for (let attempt = 1; ; ) {
      const ending = await this.#attempt(attempt);
      this.#stop.throwIfAborted();
      if (ending.kind === 'hung') throw ending.error;
      const outcome = this.#outcomeOf(ending, attempt);
      const decision = this.#decide(outcome, attempt);
      switch (decision.type) {
        case 'finish':
          return this.#tools.codec.read(decision.result);
        case 'dead-letter':
          throw ending.kind === 'threw' ? ending.failure.error : this.#failed(decision);
        case 'cancel':
          throw new TaskCanceledError(this.#taskId, decision.reason);
        case 'retry':
          attempt++;
          break;
        case 'release':
          this.#releases++;
          break;
      }
      await sleep(this.#tools.clock, decision.delayMs ?? 0, this.#stop);
      this.#stop.throwIfAborted();
    }
  }

  /** One call of the handler, with its timeout. */
  #attempt(attempt: number): Promise<Ending> {
    const { clock, codec, handlers } = this.#tools;
    const { definition } = this.#call;
    const { timeoutMs } = this.#plan;
    const aborted = new LazySignal();
    const source = this.#source(attempt, aborted);
    return new Promise((resolve) => {
      const end = (ending: Ending): void => {
        timer?.cancel();
        this.#stop.removeEventListener('abort', onAbort);
        resolve(ending);
      };
      const timeOut = (): void => {
        const error = new TimedOutError(this.#taskId, timeoutMs);
        aborted.abort(error);
        timer = clock.setTimer(LIMITS.abortGraceMs, () => end({ kind: 'hung', error }));
      };
      const onAbort = (): void => {
        aborted.abort(this.#stop.reason);
        end({ kind: 'hung', error: this.#stop.reason });
      };
      let timer = timeoutMs > 0 ? clock.setTimer(timeoutMs, timeOut) : undefined;
      this.#stop.addEventListener('abort', onAbort);
      const ctx = new AttemptContext(source);
      const handler = handlers.handler(definition);
      callHandler(
        { definition, handler, payload: this.#payload, ctx, codec },
        {
          returned: (text) => end({ kind: 'returned', text }),
          threw: (failure) => end({ kind: 'threw', failure: timedOut(aborted, failure) }),
        },
      );
    });
  }

  /** A decider that refuses what a handler returned. */
  #failed({ failureType, error, reason }: Decision & { readonly type: 'dead-letter' }): Error {
    const facts = errorOf(error) ?? { name: 'Error', message: reason };
    return new TaskFailedError(this.#taskId, failureType, facts);
  }

  #source(attempt: number, aborted: LazySignal): ContextSource {
    const { log, codec, clock } = this.#tools;
    return {
      taskId: this.#taskId,
      name: this.#call.definition.name,
      user: this.#call.user,
      attempt,
      fencingToken: clock.now() * MICROSECONDS,
      traceparent: undefined,
      upstreams: NO_UPSTREAMS,
      get signal() {
        return aborted.signal;
      },
      log,
      codec,
    };
  }

  #outcomeOf(ending: Exclude<Ending, { kind: 'hung' }>, attempt: number): Outcome {
    if (ending.kind === 'returned') return { type: 'succeeded', result: ending.text };
    const { failure } = ending;
    if (failure.uncounted === true && failure.afterMs !== undefined) {
      return { type: 'released', reason: 'asked to run again', afterMs: failure.afterMs };
    }
    return failedOutcome(failure, failure.afterMs ?? functionWaitMs(this.#plan, attempt));
  }

  #decide(outcome: Outcome, attempt: number): ReturnType<typeof decide> {
    const { policy, decider } = this.#plan;
    const facts: DeciderFacts = {
      id: this.#taskId,
      name: this.#call.definition.name,
      user: this.#call.user,
      attempt,
      releases: this.#releases,
      policy,
      random: this.#tools.random(),
    };
    return checkedDecision(decider(outcome, facts)) ?? decide(outcome, facts);
  }
}

/** Tokens count in microseconds of the clock. */
const MICROSECONDS = 1_000;

/** What an aborted handler throws tells less than why it was aborted. */
function timedOut(aborted: LazySignal, failure: Failure): Failure {
  const error = aborted.reason;
  return error instanceof TimedOutError
    ? { error, failureType: 'timeout', retryable: true }
    : failure;
}
