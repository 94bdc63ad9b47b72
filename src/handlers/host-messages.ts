/**
 * Messages between a pool and its threads or processes. Errors are sent as data, since classes cannot
 * be; messages of a host are validated, since its handler can send messages too.
 */
import type { LogFields, Logger } from '../base/logger.ts';
import type { TaskError } from '../base/thrown.ts';

/** A task for a host. */
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

/** Tells a process that its task should end, with the reason of the signal. */
export interface HostAbort {
  readonly kind: 'abort';
  readonly reason: TaskError;
}

/** The end of a task in a host. */
export type HostReply =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'unsendable'; readonly message: string }
  | HostFailure;

/** The handler threw. */
export interface HostFailure {
  readonly kind: 'threw';
  readonly error: TaskError;
  /** The handler was never called: its module could not be loaded. */
  readonly isUnloaded?: true;
}

/** The handler in a process has read its signal: it may be asked to end. */
export interface HostWatching {
  readonly kind: 'watching';
}

/** A line of the handler's log. */
export interface HostLine {
  readonly kind: 'log';
  readonly level: keyof Logger;
  readonly message: string;
  /** Fields as plain data. */
  readonly fields?: LogFields;
  /** Fields that are errors. */
  readonly errors?: Readonly<Record<string, TaskError>>;
}

/** A message of a host. */
export type HostMessage = HostReply | HostWatching | HostLine;
