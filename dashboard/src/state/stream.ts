/** The stream of changes: one for the page, about what is on screen. */
import { effect } from '@preact/signals';
import { openStream } from '../api/http.ts';
import { takeMoment } from './clock.ts';
import { isStopped, isStreaming, takeNews, watched } from './readings.ts';
import { about, begin } from './session.ts';

/** Screens change several readings at once. */
const SETTLE_MS = 50;
/** Before it is opened again. */
const RETRY_MS = 2_000;

/** What one frame says of a subject: all of it, or what has changed of its fields. */
interface Change {
  readonly subject: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly unset?: readonly string[];
  readonly unchanged?: true;
}

interface Frame {
  readonly at: number;
  readonly changes: readonly Change[];
}

let abort = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Keeps a stream open from now on, while something is watched. */
export function keepStream(): void {
  effect(() => {
    const names = watched.value;
    const isWanted = about.value !== undefined && !isStopped.value && names.length > 0;
    plan(isWanted ? names : [], SETTLE_MS);
  });
  document.addEventListener('visibilitychange', () => plan(watched.peek(), SETTLE_MS));
}

/** Ends the one before; a hidden tab asks for nothing. */
function plan(names: readonly string[], wait: number): void {
  clearTimeout(timer);
  abort.abort();
  isStreaming.value = false;
  if (names.length === 0 || document.hidden || isStopped.peek()) return;
  timer = setTimeout(() => void follow(names), wait);
}

async function follow(names: readonly string[]): Promise<void> {
  abort = new AbortController();
  const { signal } = abort;
  try {
    const search = new URLSearchParams({ watch: names.join() });
    for await (const { event, data } of openStream(`events?${search}`, signal)) {
      isStreaming.value = true;
      if (event === 'change') take(JSON.parse(data));
      // The permissions of the user of the page have changed.
      else if (event === 'closed') void begin();
    }
  } catch {
    // Readings go on by themselves, and say what is wrong.
  }
  if (!signal.aborted) plan(names, RETRY_MS);
}

function take({ at, changes }: Frame): void {
  takeMoment(at);
  for (const { subject, data, set, unset = [], unchanged } of changes) {
    if (unchanged === true) continue;
    // What could not be read is read by ourselves, for what is wrong with it.
    if (Object.hasOwn(data ?? set ?? {}, 'problem')) takeNews(subject, undefined);
    else
      takeNews(subject, (before) => {
        if (data !== undefined) return data;
        const fields = Object.entries({ ...Object(before), ...set });
        return Object.fromEntries(fields.filter(([key]) => !unset.includes(key)));
      });
  }
}
