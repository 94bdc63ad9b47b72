import { isRecord } from '../base/records.ts';
import type { StoredOptions } from './enqueue-options.ts';

/** The timeout that the enqueue set, in ms. */
export function storedTimeoutMs(stored: string): number | undefined {
  return readStoredOptions(stored).timeoutMs;
}

/** The trace context of the enqueue. */
export function storedTraceparent(stored: string): string | undefined {
  return readStoredOptions(stored).traceparent;
}

/** Stored options of an enqueue; empty if another version wrote them in another format. */
export function readStoredOptions(stored: string): StoredOptions {
  try {
    const value: unknown = JSON.parse(stored);
    return isStored(value) ? value : {};
  } catch {
    return {};
  }
}

function isStored(value: unknown): value is StoredOptions {
  if (!isRecord(value)) return false;
  const { retries, timeoutMs, backoff, traceparent } = value;
  return (
    isCount(retries) &&
    isCount(timeoutMs) &&
    (traceparent === undefined || typeof traceparent === 'string') &&
    (backoff === undefined || isBackoff(backoff))
  );
}

/** Whether a stored backoff can be read. */
export function isBackoff(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { kind, baseMs, maxMs, jitter } = value;
  const isKnown = kind === 'exponential' || kind === 'fixed';
  const isJitter = jitter === 'full' || jitter === 'equal' || jitter === 'none';
  return isKnown && isJitter && typeof baseMs === 'number' && typeof maxMs === 'number';
}

/** Whether a value is a non-negative integer or `undefined`. */
function isCount(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0);
}
