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

/** What became of a task that this one depended on. */
export type Upstream<O> =
  | {
      readonly state: 'finished';
      /** The task. */
      readonly taskId: string;
      /** What its handler returned. */
      readonly result: O;
    }
  | {
      /** `missing`: it is not stored any more. */
      readonly state: 'failed' | 'canceled' | 'missing';
      /** The task. */
      readonly taskId: string;
      /** Why there is no result, as plain data. */
      readonly error: {
        /** Of the class of what was thrown. */
        readonly name: string;
        /** For people. */
        readonly message: string;
      };
    };

/** The tasks that this one depended on. */
export interface Upstreams {
  /** The upstream of this definition; the first in order of `dependsOn` when there are several. */
  get<O, X>(of: Step<never, O, X>): Upstream<O | X> | undefined;
  /** The upstream of this id; `undefined` when the task does not depend on it. */
  byId(taskId: string): Upstream<unknown> | undefined;
  /** In the order of `dependsOn`. */
  readonly all: readonly Upstream<unknown>[];
}

/** The second argument of a handler. */
export interface TaskContext {
  /** The task; the same in every attempt. */
  readonly taskId: string;
  /** The run that it belongs to; `undefined` when it was enqueued by itself. */
  readonly runId: string | undefined;
  /** Whose turn it takes. */
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /**
   * Aborts when the attempt should end: its timeout is over, it was canceled, its lease was lost,
   * or the worker shuts down. The reason is an error that says which.
   */
  readonly signal: AbortSignal;
  /** Lines carry the task's id, name and user. Of attempts that fail or take long they are kept, see `keepLogs`. */
  readonly log: Logger;
  /**
   * Says how far the handler has come, from 0 to 1, for `(await loom.tasks.get(id)).progress`. Returns at once;
   * the newest is stored at most once a second, and before the attempt ends. What cannot be stored costs the
   * task nothing.
   *
   * @throws {@link InvalidOptionError} for what is no number from 0 to 1, or no text.
   */
  progress(fraction: number, message?: string): void;
  /** Rises with every lease of the same task: give it to a store that refuses lesser ones. */
  readonly fencingToken: number;
  /** The W3C trace context that the task was enqueued with. */
  readonly traceparent: string | undefined;
  /** What became of the tasks that it depended on. */
  readonly upstream: Upstreams;
  /**
   * Runs a step and gives its output; rejects with what it failed with. Runs of one handler go one
   * after the other, and are known by their number in it or by `id`. What they gave is written
   * down: a handler that is started anew, after a crash or a failed attempt, is answered from there.
   * While a group runs the task waits without a slot; the code between such calls may run again.
   */
  run<I, O, X>(step: Step<I, O, X>, ...args: StartArgs<I, SubRunOptions>): Promise<O | X>;
  /**
   * Waits so long, also for days, without a slot, a lease or a connection; its timeout does not
   * count. Fixed when it begins: a handler that starts anew does not begin it again. A handler waits for
   * one thing at a time; waits are counted together with what it runs by `run`.
   *
   * @throws {@link InvalidOptionError}; {@link WaitOpenError} beside another wait, or a run; {@link ReplayMismatchError} when the handler, started anew,
   * made another call here before.
   */
  sleep(duration: Duration, options?: SubRunOptions): Promise<void>;
  /** The same, until a moment. */
  sleepUntil(at: Moment, options?: SubRunOptions): Promise<void>;
  /**
   * Waits for a signal as `sleep` waits for time: one that `loom.signal` sends to this task or to its
   * run. One that came before is taken at once, the oldest first; each ends one wait. Gives what came
   * with it. For an event, `event('order.paid', key)`, it waits until one is published after it began; an
   * event ends all waits for it. With `within`, the newest that was published up to so long ago will do.
   *
   * @throws {@link WaitTimedOutError} when none came in time; {@link InvalidPayloadError} when the
   * signal's schema refuses what came; as `sleep`.
   */
  waitFor<T>(signal: Signal<T> | EventKey<T>, options?: WaitOptions): Promise<T>;
  /**
   * Asks people, and waits for the answer as `sleep` waits for time. The question stands in
   * `loom.asks` until one answers, by `loom.asks.answer` or `fairloom asks answer`; the first counts. A
   * timeout is never an answer: see `onTimeout`.
   *
   * @throws {@link WaitTimedOutError} when no answer came in time; {@link InvalidPayloadError} when the
   * schema of the form refuses what came; as `sleep`.
   */
  ask<const C extends string, V, F = undefined>(
    question: AskOptions<C, F> & OnTimeoutValue<V>,
  ): Promise<AskAnswered<C, F> | AskUnanswered<V>>;
  /** The same where `onTimeout` is no value: it gives nothing but an answer. */
  ask<const C extends string, F = undefined>(
    question: AskOptions<C, F> & OnTimeoutEnd,
  ): Promise<AskAnswered<C, F>>;
  /**
   * A channel of the run: all nodes and members of one run share it, and no others. A task that
   * stands alone has channels of its own.
   */
  channel<T extends object>(definition: Channel<T>): ChannelOf<T>;
  /**
   * A stream that others read while the task runs, by `loom.streams.read`; the same for the same name. A
   * node of a driven run writes to streams of the run's task. `loom.run` stores nothing, so it keeps none.
   */
  stream(name: string): TaskStream;
  /**
   * What the run shows of itself to its readers: `await ctx.metadata.set('step', 'packing')` is
   * `(await loom.runs.get(id)).metadata.step`. Of the run for its nodes and members, also of steps that handlers run;
   * of a task that stands alone its own, in `loom.tasks.get`. A rerun, fork or import tells its own.
   */
  readonly metadata: RunMetadata;
  /** Values that the tasks of this user hand on by name, beyond runs and dependencies. */
  readonly xcom: XCom;
}

/** How a handler runs a step. */
export interface SubRunOptions {
  /** Names the call among those of the handler, in place of its number. */
  readonly id?: string | undefined;
}

/** What may stand in {@link SubRunOptions}. */
export const SUB_RUN_KEYS: OptionKeys<SubRunOptions> = keysOf<SubRunOptions>()({ id: true });

/** How a handler waits. */
export interface WaitOptions extends SubRunOptions {
  /** It waits at most so long; without it, for ever. */
  readonly timeout?: Duration | undefined;
  /** Of an event: one that was published up to so long ago will do, as long as it is kept. */
  readonly within?: Duration | undefined;
}

/** What may stand in {@link WaitOptions}. */
export const WAIT_KEYS: OptionKeys<WaitOptions> = keysOf<WaitOptions>()({
  ...SUB_RUN_KEYS,
  timeout: true,
  within: true,
});

/** What a handler in a thread is given; the thread ends where a signal would abort. */
export interface ThreadContext {
  /** The task; the same in every attempt. */
  readonly taskId: string;
  /** Whose turn it takes. */
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /** Rises with every lease of the same task. */
  readonly fencingToken: number;
  /** The W3C trace context that the task was enqueued with. */
  readonly traceparent: string | undefined;
  /** The worker's log; lines carry the task's id, name and user. Fields have to be data. */
  readonly log: Logger;
}

/** What a handler in a process of its own is given. */
export interface ProcessContext extends ThreadContext {
  /**
   * Aborts when the attempt should end; the reason says why. A handler that has looked at it has
   * three seconds to end then. One that has not ends at once.
   */
  readonly signal: AbortSignal;
}
