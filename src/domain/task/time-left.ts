/** What a handler that has begun to wait has left of its `timeout`: stored with its task, for people who look. */
import { isRecord } from '../../base/records.ts';
import type { TaskRecord } from './task.ts';

/** As it was when the handler gave its lease up. */
export interface TimeLeft {
  /** Of the handler, or of what it is a part of where that is less; in ms. */
  readonly handlerMs: number;
  /** Of its task, in ms; absent when that has no timeout. */
  readonly taskMs?: number;
  /** Who keeps its stack: on another worker it starts anew, with all of its time. */
  readonly worker: string;
  /** Which call it is, of those of the task. */
  readonly failures: number;
  /** Likewise. */
  readonly releases: number;
}

/** What is stored for it. */
export function timeLeftText(left: TimeLeft): string {
  return JSON.stringify(left);
}

/** What is known of a task whose time is asked for. */
interface Timed {
  /** The task. */
  readonly record: TaskRecord;
  /** By the backend's clock. */
  readonly now: number;
  /** Of its newest suspension. */
  readonly timeLeft?: string;
}

/**
 * What a task that waits or runs has left, in ms; `undefined` when it has no timeout, or that is not known.
 * `timeoutMs`: all of it, 0 for none.
 */
export function timeLeftMs({ record, now, timeLeft }: Timed, timeoutMs = 0): number | undefined {
  const { state, worker, leasedAt = now } = record;
  const found = readTimeLeft(timeLeft);
  const left = found !== undefined && isOf(found, record) ? found : undefined;
  if (state === 'deferred') return left?.handlerMs;
  if (state !== 'started') return undefined;
  // One that has not waited, or has started anew, works since its lease began.
  const isGoingOn = left !== undefined && left.worker === worker;
  const atLease = isGoingOn ? left.taskMs : timeoutMs || undefined;
  return atLease === undefined ? undefined : Math.max(0, atLease - (now - leasedAt));
}

/** A lease that was lost, a failure or a release come before another call. */
function isOf(left: TimeLeft, { failures, losses, releases }: TaskRecord): boolean {
  return losses === 0 && left.failures === failures && left.releases === releases;
}

function readTimeLeft(stored: string | undefined): TimeLeft | undefined {
  if (stored === undefined) return undefined;
  const value: unknown = JSON.parse(stored);
  return isRecord(value) ? (value as unknown as TimeLeft) : undefined;
}
