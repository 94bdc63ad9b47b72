/** A node whose code is not here: left to other workers, as long as one of them may have it. */
import type { Clock } from '../../base/time.ts';
import type { WorkerStore } from '../../domain/backend.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Journal } from './journal.ts';

interface StrangeTools {
  readonly backend: { readonly workers: Pick<WorkerStore, 'list'> };
  readonly clock: Clock;
  persist<T>(call: () => Promise<T>): Promise<T>;
}

/** How often it was met so, and since when no live worker had its code, in ms since the epoch. */
interface Strangeness {
  readonly times: number;
  readonly since: number;
}

/**
 * How long a run is left to others, in ms; `undefined` when that has lasted too long: the node
 * fails then. Tasks of the queue fare alike (`docs/mechanics.md`).
 */
export async function strangePause(
  { backend, clock, persist }: StrangeTools,
  journal: Journal,
  { key, task }: { readonly key: string; readonly task: string },
): Promise<number | undefined> {
  const field = `x:${key}`;
  const text = journal.text(field);
  const now = clock.now();
  const before: Strangeness = text === undefined ? { times: 0, since: now } : JSON.parse(text);
  const live = await persist(() => backend.workers.list());
  const since = live.some(({ names }) => names.includes(task)) ? now : before.since;
  if (now - since >= LIMITS.unknownTaskMs) {
    // A run that is put back has its whole time again.
    journal.drop(field);
    return undefined;
  }
  journal.noteText(field, JSON.stringify({ times: before.times + 1, since }));
  await journal.flush();
  const { strangeBaseMs, strangeMaxMs } = LIMITS;
  return Math.min(strangeMaxMs, strangeBaseMs * 2 ** Math.min(before.times, MOST_DOUBLINGS));
}

/** More of them are past any longest pause. */
const MOST_DOUBLINGS = 30;
