/** What was read of the server: one reading for all that show it, kept fresh while it is shown. */
import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { Problem, read } from '../api/http.ts';
import type { Subject } from '../api/subjects.ts';
import { now, startClock, stopClock } from './clock.ts';

/** Something that can be read; `gives` stands for its type alone. */
export interface Source<T> {
  readonly path: string;
  /** What the stream of changes calls it. */
  readonly subject: Subject | undefined;
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
/** After a change that was made here, readings of our own go before news of the stream for so long. */
const FRESH_MS = 1_500;
/** What no stream tells of is read so often. */
const POLL_MS = 2_000;
/** What a stream tells of is read so often besides. */
const CALM_POLL_MS = 15_000;

interface Shown {
  readonly reading: Signal<Reading<unknown>>;
  readonly subject: Subject | undefined;
  readers: number;
  lastAt: number;
  isAsked: boolean;
  abort: AbortController | undefined;
}

const shown = new Map<string, Shown>();
let changedAt = Number.NEGATIVE_INFINITY;

/** Nothing is read again: reading was stopped. */
export const isStopped = signal(false);
/** Changes come by themselves. */
export const isStreaming = signal(false);
/** Why the server cannot be reached; the last readings stay. */
export const away = signal<Problem | undefined>(undefined);
/** What is shown and can be watched. */
export const watched = signal<readonly string[]>([]);

/** The reading of a source, kept fresh while it is shown. `undefined` reads nothing. */
export function useReading<T>(source: Source<T> | undefined): Reading<T> {
  const path = source?.path;
  const reading = useMemo(() => readingOf(source), [path]);
  // Before the frame is painted: what it waits for is on its way.
  useLayoutEffect(() => (path === undefined ? undefined : show(path)), [path]);
  return reading.value;
}

/** Reads everything that is shown at once: on demand, or after a change. */
export function readNow(): void {
  changedAt = performance.now();
  for (const [path, one] of shown) void fetchInto(path, one);
}

/** News of a subject: what it is now, where the stream says so; else it is read. */
export function takeNews(name: string, change: ((before: unknown) => unknown) | undefined): void {
  for (const [path, one] of shown) {
    if (one.subject?.name !== name) continue;
    const before = one.reading.value.value;
    // What the stream has read may be older than a change that was just made here.
    const isFresh = performance.now() - changedAt < FRESH_MS;
    const isWhole = one.subject.isWhole && before !== undefined && change !== undefined;
    if (isFresh || !isWhole) void ask(path);
    else one.reading.value = { value: change(before), at: now.peek() };
  }
}

setInterval(() => {
  if (isStopped.value || document.hidden) return;
  for (const [path, one] of shown) {
    const isCalm = isStreaming.value && one.subject !== undefined && away.value === undefined;
    const pause = isCalm ? CALM_POLL_MS : POLL_MS;
    if (performance.now() - one.lastAt >= pause) void ask(path);
  }
}, POLL_MS / 4);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !isStopped.value) readNow();
});

const NOTHING: Signal<Reading<never>> = signal({});

function readingOf<T>(source: Source<T> | undefined): Signal<Reading<T>> {
  if (source === undefined) return NOTHING;
  const found = shown.get(source.path);
  // One path has one type: sources are made in api/sources.ts alone.
  if (found !== undefined) return found.reading as Signal<Reading<T>>;
  const reading = signal<Reading<T>>({});
  const { path, subject } = source;
  const rest = { readers: 0, lastAt: 0, isAsked: false, abort: undefined };
  shown.set(path, { reading, subject, ...rest });
  return reading;
}

function show(path: string): () => void {
  const one = shown.get(path);
  if (one === undefined) return () => undefined;
  one.readers += 1;
  if (one.readers === 1) {
    void fetchInto(path, one);
    watch();
  }
  return () => {
    one.readers -= 1;
    if (one.readers > 0) return;
    one.abort?.abort();
    shown.delete(path);
    watch();
  };
}

function watch(): void {
  const names = [...shown.values()].flatMap(({ subject, readers }) =>
    subject === undefined || readers === 0 ? [] : [subject.name],
  );
  const next = [...new Set(names)].sort();
  if (next.join() !== watched.peek().join()) watched.value = next;
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
  if (shown.get(path) === one && !isStopped.value) await fetchInto(path, one);
}

async function fetchInto(path: string, one: Shown): Promise<void> {
  one.abort?.abort();
  const abort = new AbortController();
  one.abort = abort;
  one.lastAt = performance.now();
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
  }
}
