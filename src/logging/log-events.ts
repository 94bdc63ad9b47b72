import { callUserCode } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';

/**
 * All lines that the library logs: the value of their field `event`, and the other fields. None
 * contains payloads or results; lines about failures contain the name of the error, and unless
 * `logErrors` is false one line of its message.
 */
export interface LogEvents {
  /** The backend was opened; the message describes it. */
  'backend.opened': NoFields;
  /** The configuration of the backend can lose data; the message describes it. */
  'backend.warning': NoFields;
  /** A problem of the backend that makes no call fail; nothing is lost. The message describes it. */
  'backend.problem': { readonly error: unknown; readonly logBytes: number };
  /** The backend could not be closed cleanly. */
  'backend.close-failed': { readonly error: unknown };
  /** A call of the backend failed, the first since the last answer; or a decider or backoff threw. */
  'worker.call-failed': {
    readonly worker: string;
    readonly operation: string;
    readonly error: unknown;
  };
  /** An attempt failed and will be retried; or a node of a driven run, which then fails. */
  'attempt.failed': FailureFields;
  /** A task or run has become a dead letter; with `queue` if no attempt has ended it. */
  'task.failed': DeadFields;
  /** Number of further dead letters of one step without an attempt; they have no lines of their own. */
  'task.failed-more': { readonly more: number };
  /** The event loop was blocked for `ms`. */
  'worker.blocked': { readonly ms: number; readonly taskIds: readonly string[] };
  /** A call of a scheduler that runs no tasks failed, the first since the last answer. */
  'scheduler.call-failed': {
    readonly scheduler: string;
    readonly operation: string;
    readonly error: unknown;
  };
  /** A listener of the event `on` threw. */
  'listener.threw': { readonly on: string; readonly error: unknown };
  /** The tracer threw; the work continues untraced. */
  'tracer.threw': { readonly error: unknown };
  /** No handler of this name is registered: workers here leave the task to others. */
  'handler.missing': { readonly name: string; readonly handler: string };
  /** A registered handler could not be closed. */
  'handler.close-failed': { readonly error: unknown };
  /** Input or result (`what`) of a task is so large that a reference to it would be better. */
  'value.large': { readonly name: string; readonly what: string; readonly bytes: number };
  /** No live worker serves a task that was enqueued here seconds ago. */
  'task.unserved': { readonly name: string; readonly queue: string };
  /** A change of a schedule drops due slots, from `slot` on: they count as missed. */
  'schedule.missed': { readonly schedule: string; readonly slot: number; readonly slots: number };
  /** Lines of the log of a task could not be stored with it; they were still logged here. */
  'log.not-kept': { readonly error: unknown };
  /** Counts of a process for the series could not be stored, the first time since the last success. */
  'series.not-kept': { readonly error: unknown };
  /** Progress of a task could not be stored. */
  'progress.not-kept': { readonly error: unknown };
  /** A change was requested over HTTP; `outcome` is its result. */
  'http.change': {
    readonly requestId: string;
    readonly by: string | undefined;
    readonly action: string;
    readonly target: string;
    readonly status: number;
    readonly outcome: string;
  };
  /** An entry of the audit could not be stored. */
  'http.audit-not-kept': { readonly requestId: string; readonly error: unknown };
  /** A request to the HTTP API failed unexpectedly; it was answered with 500. */
  'http.failed': { readonly requestId: string; readonly error: unknown };
  /** The message is a line of a program's stderr. */
  'program.stderr': NoFields;
  /** The program wrote more lines than are logged. */
  'program.stderr-cut': NoFields;
}

/** What failed. */
export interface Failed {
  readonly task: string;
  /** Name of the task or pipeline. */
  readonly name: string;
  readonly user: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The run that it is, or is part of. */
  readonly run: string | undefined;
  /** Its node; for a run the node that failed. */
  readonly node: string | undefined;
}

/** What failed, and its error. */
interface FailureFields extends Failed {
  readonly error: string;
  readonly reason: string | undefined;
}

/** `queue`: of a dead letter that no attempt has ended. */
interface DeadFields extends FailureFields {
  readonly queue?: string;
}

type NoFields = Readonly<Record<never, never>>;

/** Level of each line. */
export const LOG_LEVELS: Readonly<Record<keyof LogEvents, keyof Logger>> = {
  'backend.opened': 'debug',
  'backend.warning': 'warn',
  'backend.problem': 'warn',
  'backend.close-failed': 'warn',
  'worker.call-failed': 'warn',
  'attempt.failed': 'warn',
  'task.failed': 'error',
  'task.failed-more': 'error',
  'worker.blocked': 'warn',
  'scheduler.call-failed': 'warn',
  'listener.threw': 'error',
  'tracer.threw': 'warn',
  'handler.missing': 'warn',
  'handler.close-failed': 'warn',
  'value.large': 'warn',
  'task.unserved': 'warn',
  'schedule.missed': 'warn',
  'log.not-kept': 'warn',
  'series.not-kept': 'warn',
  'progress.not-kept': 'warn',
  'http.change': 'info',
  'http.audit-not-kept': 'error',
  'http.failed': 'error',
  'program.stderr': 'info',
  'program.stderr-cut': 'warn',
};

/** Logs a line of the library. */
export function say<Name extends keyof LogEvents>(
  log: Logger,
  event: Name,
  message: string,
  fields: LogEvents[Name],
): void {
  callUserCode(() => log[LOG_LEVELS[event]](message, { event, ...fields }));
}
