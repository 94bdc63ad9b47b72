/**
 * What passes between a pool and its threads or processes. Errors cross as data, since classes do not;
 * what a host says is read with care, since its handler can say the same.
 */
import type { LogFields, Logger } from '../base/logger.ts';
import type { TaskError } from '../base/thrown.ts';

/** What a host is told to run. */
export interface HostRequest {
  readonly kind: 'run';
  readonly url: string;
  readonly exportName: string;
  readonly input: unknown;
  readonly ctx: {
    readonly taskId: string;
    readonly user: string;
    readonly attempt: number;
    readonly fencingToken: number;
    readonly traceparent: string | undefined;
  };
}

/** What a process is told when its task should end: the reason of the signal. */
export interface HostAbort {
  readonly kind: 'abort';
  readonly reason: TaskError;
}

/** How a task ended there. */
export type HostReply =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'unsendable'; readonly message: string }
  | HostFailure;

/** It threw. */
export interface HostFailure {
  readonly kind: 'threw';
  readonly error: TaskError;
  /** The handler was never called: there is no module to go on with. */
  readonly isUnloaded?: true;
}

/** The handler in a process has looked at its signal: it may be asked to end. */
export interface HostWatching {
  readonly kind: 'watching';
}

/** A line of its handler's log. */
export interface HostLine {
  readonly kind: 'log';
  readonly level: keyof Logger;
  readonly message: string;
  /** Plain data. */
  readonly fields?: LogFields;
  /** Fields that are errors. */
  readonly errors?: Readonly<Record<string, TaskError>>;
}

/** What a host says. */
export type HostMessage = HostReply | HostWatching | HostLine;
