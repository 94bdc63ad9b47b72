/** Remaining `timeout` of a handler that waits: stored with its task, and shown to people. */
import { isRecord } from '../../base/records.ts';
import type { TaskRecord } from './task.ts';

/** Remaining time when the handler released its lease. */
export interface TimeLeft {
  /** Of the handler, or of the enclosing part with less time; in ms. */
  readonly handlerMs: number;
  /** Of its task, in ms; absent without a timeout. */
  readonly taskMs?: number;
  /** Worker that keeps the handler's stack: on another worker it starts anew, with all of its time. */
  readonly worker: string;
  /** `failures` of the task at that call. */
  readonly failures: number;
  /** `releases` of the task at that call. */
  readonly releases: number;
}

/** Stored text. */
export function timeLeftText(left: TimeLeft): string {
  return JSON.stringify(left);
}

/** Known facts of a task. */
interface Timed {
  /** The task. */
  readonly record: TaskRecord;
  /** The moment of the read, by the backend's clock. */
  readonly now: number;
  /** Stored by its newest suspension. */
  readonly timeLeft?: string;
}

/**
 * Remaining time of a task that waits or runs, in ms; `undefined` without a timeout, or if it is
 * unknown. `timeoutMs`: its timeout, 0 for none.
 */
export function timeLeftMs({ record, now, timeLeft }: Timed, timeoutMs = 0): number | undefined {
  const { state, worker, leasedAt = now } = record;
  const found = readTimeLeft(timeLeft);
  const left = found !== undefined && isOf(found, record) ? found : undefined;
  if (state === 'deferred') return left?.handlerMs;
  if (state !== 'started') return undefined;
  // A handler that has not waited, or has started anew, has run since its lease began.
  const isGoingOn = left !== undefined && left.worker === worker;
  const atLease = isGoingOn ? left.taskMs : timeoutMs || undefined;
  return atLease === undefined ? undefined : Math.max(0, atLease - (now - leasedAt));
}

/** After a lost lease, a failure or a release, another call runs. */
function isOf(left: TimeLeft, { failures, losses, releases }: TaskRecord): boolean {
  return losses === 0 && left.failures === failures && left.releases === releases;
}

function readTimeLeft(stored: string | undefined): TimeLeft | undefined {
  if (stored === undefined) return undefined;
  const value: unknown = JSON.parse(stored);
  return isRecord(value) ? (value as unknown as TimeLeft) : undefined;
}
