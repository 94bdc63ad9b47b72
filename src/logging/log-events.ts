import { callUserCode } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';

/**
 * Every line that is logged by the library itself: under the name that its field `event` has, the
 * other fields. Payloads and results are in none of them; of what handlers throw those about failures
 * have the name, and unless `logErrors` is false one line of its message.
 */
export interface LogEvents {
  /** The backend was opened; the message describes it. */
  'backend.opened': NoFields;
  /** Something makes the backend less safe than it could be; the message says what. */
  'backend.warning': NoFields;
  /** Something goes wrong in it that no call fails of; nothing is lost. The message says what. */
  'backend.problem': { readonly error: unknown; readonly logBytes: number };
  /** It could not be closed in good order. */
  'backend.close-failed': { readonly error: unknown };
  /** A call of the backend failed, the first since the last answer; or a decider or backoff threw. */
  'worker.call-failed': {
    readonly worker: string;
    readonly operation: string;
    readonly error: unknown;
  };
  /** An attempt failed, and there will be another; or a node of a driven run, which then fails. */
  'attempt.failed': FailureFields;
  /** A task or run has ended as a dead letter; `queue` is there when no attempt has ended it. */
  'task.failed': DeadFields;
  /** So many more have in one step, and not by an attempt; they have no lines of their own. */
  'task.failed-more': { readonly more: number };
  /** The event loop stood still for `ms`. */
  'worker.blocked': { readonly ms: number; readonly taskIds: readonly string[] };
  /** A call of a scheduler that runs no tasks failed, the first since the last answer. */
  'scheduler.call-failed': {
    readonly scheduler: string;
    readonly operation: string;
    readonly error: unknown;
  };
  /** A listener of the event `on` threw. */
  'listener.threw': { readonly on: string; readonly error: unknown };
  /** The tracer threw; the work goes on untraced. */
  'tracer.threw': { readonly error: unknown };
  /** No handler of this name is registered: workers here leave the task to others. */
  'handler.missing': { readonly name: string; readonly handler: string };
  /** A registered handler could not be closed. */
  'handler.close-failed': { readonly error: unknown };
  /** Input or result (`what`) of a task is so large that a reference to it would be better. */
  'value.large': { readonly name: string; readonly what: string; readonly bytes: number };
  /** No live worker serves a task that was enqueued here seconds ago. */
  'task.unserved': { readonly name: string; readonly queue: string };
  /** A change of a schedule gives up slots that were due, from `slot` on: they count as missed. */
  'schedule.missed': { readonly schedule: string; readonly slot: number; readonly slots: number };
  /** Lines of the log of a task could not be stored with it; they were logged here all the same. */
  'log.not-kept': { readonly error: unknown };
  /** What a process has counted for the series could not be stored, the first time since it could. */
  'series.not-kept': { readonly error: unknown };
  /** How far a task has come could not be stored. */
  'progress.not-kept': { readonly error: unknown };
  /** A change was asked for over HTTP; `outcome` says what became of it. */
  'http.change': {
    readonly requestId: string;
    readonly by: string | undefined;
    readonly action: string;
    readonly target: string;
    readonly status: number;
    readonly outcome: string;
  };
  /** That could not be kept for the audit. */
  'http.audit-not-kept': { readonly requestId: string; readonly error: unknown };
  /** A request to the HTTP API failed in a way that it should not; it was answered with 500. */
  'http.failed': { readonly requestId: string; readonly error: unknown };
  /** The message is a line that a program wrote to its stderr. */
  'program.stderr': NoFields;
  /** It wrote more lines than are logged. */
  'program.stderr-cut': NoFields;
}

/** What failed. */
export interface Failed {
  readonly task: string;
  /** Of the task, or of the pipeline. */
  readonly name: string;
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /** Of which run it is a part, or which it is. */
  readonly run: string | undefined;
  /** Its node; of a run the node that failed. */
  readonly node: string | undefined;
}

/** What failed, and with what. */
interface FailureFields extends Failed {
  readonly error: string;
  readonly reason: string | undefined;
}

/** `queue`: of one that no attempt has ended. */
interface DeadFields extends FailureFields {
  readonly queue?: string;
}

type NoFields = Readonly<Record<never, never>>;

/** How loud each is. */
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

/** Logs a line of the library's own. */
export function say<Name extends keyof LogEvents>(
  log: Logger,
  event: Name,
  message: string,
  fields: LogEvents[Name],
): void {
  callUserCode(() => log[LOG_LEVELS[event]](message, { event, ...fields }));
}
