/** What was read of the server: one reading for all that show it, read again while it is shown. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Problem, read } from '../api/http.ts';
import { now, startClock, stopClock } from './clock.ts';

/** Something that can be read; `gives` stands for its type alone. */
export interface Source<T> {
  readonly path: string;
  readonly gives?: (value: T) => T;
}

/** What is known of it. */
export interface Reading<T> {
  /** The last that was read; it stays when the next reading fails. */
  readonly value?: T;
  /** When that was, on the server's clock. */
  readonly at?: number;
  /** Why the newest reading failed. */
  readonly problem?: Problem;
}

/** No source is read more often than this. */
const BETWEEN_MS = 500;
/** So often. */
const POLL_MS = 2_000;

interface Shown {
  readonly reading: Signal<Reading<unknown>>;
  readers: number;
  lastAt: number;
  isAsked: boolean;
  abort: AbortController | undefined;
}

const shown = new Map<string, Shown>();

/** Nothing is read again: somebody has stopped it, or nobody looks. */
export const isStopped = signal(false);
/** Why the server cannot be reached; the last readings stay. */
export const away = signal<Problem | undefined>(undefined);

/** The reading of a source, kept fresh while somebody shows it. `undefined` reads nothing. */
export function useReading<T>(source: Source<T> | undefined): Reading<T> {
  const path = source?.path;
  const reading = useMemo(() => readingOf<T>(path), [path]);
  useEffect(() => (path === undefined ? undefined : show(path)), [path]);
  return reading.value;
}

/** Something has changed: what is shown is read again, soon. */
function readAgain(): void {
  for (const path of shown.keys()) void ask(path);
}

/** The same, also when it is stopped: somebody asked for it, or has changed something. */
export function readNow(): void {
  for (const [path, one] of shown) {
    one.lastAt = 0;
    void fetchInto(path, one);
  }
}

setInterval(() => {
  if (isStopped.value || document.hidden) return;
  const since = performance.now() - POLL_MS;
  for (const [path, one] of shown) if (one.lastAt < since) void ask(path);
}, POLL_MS / 2);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) readAgain();
});

const NOTHING: Signal<Reading<never>> = signal({});

function readingOf<T>(path: string | undefined): Signal<Reading<T>> {
  if (path === undefined) return NOTHING;
  const found = shown.get(path);
  // One path has one type: sources are made in api/sources.ts alone.
  if (found !== undefined) return found.reading as Signal<Reading<T>>;
  const reading = signal<Reading<T>>({});
  shown.set(path, { reading, readers: 0, lastAt: 0, isAsked: false, abort: undefined });
  return reading;
}

function show(path: string): () => void {
  const one = shown.get(path);
  if (one === undefined) return () => undefined;
  one.readers += 1;
  if (one.readers === 1) void fetchInto(path, one);
  return () => {
    one.readers -= 1;
    if (one.readers > 0) return;
    one.abort?.abort();
    shown.delete(path);
  };
}

/** At most every half second, and then once more for what came meanwhile. */
async function ask(path: string): Promise<void> {
  const one = shown.get(path);
  if (one === undefined || one.readers === 0 || one.isAsked) return;
  if (isStopped.value || document.hidden) return;
  one.isAsked = true;
  const wait = Math.max(0, one.lastAt + BETWEEN_MS - performance.now());
  await new Promise((resolve) => setTimeout(resolve, wait));
  one.isAsked = false;
  if (shown.get(path) === one) await fetchInto(path, one);
}

async function fetchInto(path: string, one: Shown): Promise<void> {
  one.abort?.abort();
  const abort = new AbortController();
  one.abort = abort;
  try {
    const value: unknown = await read(path, abort.signal);
    one.reading.value = { value, at: now.peek() };
    away.value = undefined;
    startClock();
  } catch (error) {
    if (abort.signal.aborted) return;
    const problem = error instanceof Problem ? error : new Problem(0, String(error));
    one.reading.value = { ...one.reading.value, problem };
    if (problem.isAway) {
      away.value = problem;
      stopClock();
    }
  } finally {
    one.lastAt = performance.now();
  }
}
