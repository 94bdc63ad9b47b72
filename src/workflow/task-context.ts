import type { Logger } from '../base/logger.ts';
import type { Duration, Moment } from '../base/time.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type {
  AskAnswered,
  AskOptions,
  AskUnanswered,
  OnTimeoutEnd,
  OnTimeoutValue,
} from './ask.ts';
import type { Channel, ChannelOf } from './channel.ts';
import type { EventKey } from './event.ts';
import type { RunMetadata } from './metadata.ts';
import type { Signal } from './signal.ts';
import type { StartArgs, Step } from './step.ts';
import type { TaskStream } from './task-stream.ts';
import type { XCom } from './xcom.ts';

/** Outcome of a dependency of the task. */
export type Upstream<O> =
  | {
      readonly state: 'finished';
      /** Id of the upstream task. */
      readonly taskId: string;
      /** Result of its handler. */
      readonly result: O;
    }
  | {
      /** `missing`: it is not stored any more. */
      readonly state: 'failed' | 'canceled' | 'missing';
      /** Id of the upstream task. */
      readonly taskId: string;
      /** Why there is no result, as plain data. */
      readonly error: {
        /** Name of the error's class. */
        readonly name: string;
        /** Message of the error. */
        readonly message: string;
      };
    };

/** Outcomes of the task's dependencies. */
export interface Upstreams {
  /** The upstream task of this definition; with several, the first in the order of `dependsOn`. */
  get<O, X>(of: Step<never, O, X>): Upstream<O | X> | undefined;
  /** The upstream task with this id; `undefined` when the task does not depend on it. */
  byId(taskId: string): Upstream<unknown> | undefined;
  /** All outcomes in the order of `dependsOn`. */
  readonly all: readonly Upstream<unknown>[];
}

/** The second argument of a handler. */
export interface TaskContext {
  /** Id of the task; the same in every attempt. */
  readonly taskId: string;
  /** Id of its run; `undefined` for a task outside a run. */
  readonly runId: string | undefined;
  /** User of the task. */
  readonly user: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * Aborts when the attempt should end: its timeout is over, the task is canceled, the lease is
   * lost, or the worker shuts down. The reason is an error that says which.
   */
  readonly signal: AbortSignal;
  /** Logger with the task's id, name and user; `keepLogs` stores lines. */
  readonly log: Logger;
  /**
   * Reports the progress of the handler, from 0 to 1, for `(await loom.tasks.get(id)).progress`. Returns at
   * once; the newest report is stored at most once a second, and before the attempt ends. A failed store does
   * not affect the task.
   *
   * @throws {@link InvalidOptionError} when the fraction is no number from 0 to 1, or the message no text.
   */
  progress(fraction: number, message?: string): void;
  /** Rises with every lease of the task: pass it to a store that refuses lower tokens. */
  readonly fencingToken: number;
  /** W3C trace context with which the task was enqueued. */
  readonly traceparent: string | undefined;
  /** Outcomes of its dependencies. */
  readonly upstream: Upstreams;
  /**
   * Runs a step and returns its output; rejects with its error. Runs of one handler happen one after
   * the other; each is identified by its number in the handler or by `id`. Its result is stored: a
   * handler that starts again, after a crash or a failed attempt, gets the stored result. While a
   * group runs the task waits without a slot; the code between calls may run again.
   */
  run<I, O, X>(step: Step<I, O, X>, ...args: StartArgs<I, SubRunOptions>): Promise<O | X>;
  /**
   * Waits for a time, which may be days, without a slot, a lease or a connection; the task's timeout does not count
   * meanwhile. The end is fixed when the wait begins, and a handler that starts again does not extend it. A handler
   * waits for one thing at a time; waits and calls of `run` are numbered together.
   *
   * @throws {@link InvalidOptionError}; {@link WaitOpenError} during another wait or run; {@link ReplayMismatchError}
   * when the earlier start of the handler made another call here.
   */
  sleep(duration: Duration, options?: SubRunOptions): Promise<void>;
  /** Waits until a moment, as `sleep`. */
  sleepUntil(at: Moment, options?: SubRunOptions): Promise<void>;
  /**
   * Waits, as `sleep` does, for a signal that `loom.signal` sends to this task or its run, and returns
   * its payload. An earlier signal is taken at once, the oldest first; each signal ends one wait. For an
   * event, `event('order.paid', key)`, it waits until one is published after the wait began; an event
   * ends all waits for it. With `within` it also takes the newest event published up to that long ago.
   *
   * @throws {@link WaitTimedOutError} after the timeout; {@link InvalidPayloadError} when the signal's
   * schema refuses the payload; as `sleep`.
   */
  waitFor<T>(signal: Signal<T> | EventKey<T>, options?: WaitOptions): Promise<T>;
  /**
   * Asks people and waits, as `sleep` does, for an answer. The question is listed in `loom.asks` until
   * someone answers by `loom.asks.answer` or `fairloom asks answer`; the first answer counts. A timeout
   * is never an answer: see `onTimeout`.
   *
   * @throws {@link WaitTimedOutError} when no answer came in time; {@link InvalidPayloadError} when the
   * schema of the form refuses the answer; as `sleep`.
   */
  ask<const C extends string, V, F = undefined>(
    question: AskOptions<C, F> & OnTimeoutValue<V>,
  ): Promise<AskAnswered<C, F> | AskUnanswered<V>>;
  /** Without a value in `onTimeout` it returns only answers. */
  ask<const C extends string, F = undefined>(
    question: AskOptions<C, F> & OnTimeoutEnd,
  ): Promise<AskAnswered<C, F>>;
  /**
   * A channel of the run, shared by all nodes and members of the run. A task outside a run has
   * channels of its own.
   */
  channel<T extends object>(definition: Channel<T>): ChannelOf<T>;
  /**
   * A stream that others read while the task runs, by `loom.streams.read`; one per name. A node of a
   * driven run writes to streams of the run's task. `loom.run` stores no streams.
   */
  stream(name: string): TaskStream;
  /**
   * Metadata that readers of the run see: `await ctx.metadata.set('step', 'packing')` sets
   * `(await loom.runs.get(id)).metadata.step`. Nodes, members and steps that handlers run share the metadata of the run; a
   * task outside a run has its own, in `loom.tasks.get`. A rerun, fork or import starts without any.
   */
  readonly metadata: RunMetadata;
  /** Named values that the tasks of this user share across runs. */
  readonly xcom: XCom;
}

/** Options of a step that a handler runs. */
export interface SubRunOptions {
  /** Identifies the call within its handler. Default: its number. */
  readonly id?: string | undefined;
}

/** Keys of {@link SubRunOptions}. */
export const SUB_RUN_KEYS: OptionKeys<SubRunOptions> = keysOf<SubRunOptions>()({ id: true });

/** Options of a wait. */
export interface WaitOptions extends SubRunOptions {
  /** Longest wait. Default: for ever. */
  readonly timeout?: Duration | undefined;
  /** For an event: also take one that was published up to this long ago and is still stored. */
  readonly within?: Duration | undefined;
}

/** Keys of {@link WaitOptions}. */
export const WAIT_KEYS: OptionKeys<WaitOptions> = keysOf<WaitOptions>()({
  ...SUB_RUN_KEYS,
  timeout: true,
  within: true,
});

/** Context of a handler in a thread. Where a signal would abort, the thread is terminated. */
export interface ThreadContext {
  /** Id of the task; the same in every attempt. */
  readonly taskId: string;
  /** User of the task. */
  readonly user: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Rises with every lease of the task. */
  readonly fencingToken: number;
  /** W3C trace context with which the task was enqueued. */
  readonly traceparent: string | undefined;
  /** The worker's log; lines carry the task's id, name and user. Fields must be plain data. */
  readonly log: Logger;
}

/** Context of a handler in a process. */
export interface ProcessContext extends ThreadContext {
  /**
   * Aborts when the attempt should end; the reason says why. A handler that has read it has three
   * seconds to end; any other is killed at once.
   */
  readonly signal: AbortSignal;
}
