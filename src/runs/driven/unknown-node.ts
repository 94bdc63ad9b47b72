/** A node whose code is not here: left to other workers, as long as one of them may have it. */
import { LIMITS } from '../../domain/limits.ts';
import type { GroupTools } from './group-drive.ts';
import type { RunJournal } from './run-journal.ts';

/** How often it was met so, and since when no live worker had its code, in ms since the epoch. */
interface Absence {
  readonly times: number;
  readonly since: number;
  /** When it was met first, which is when it was released. */
  readonly first: number;
}

/** A node, the name of its code, and how long it may be before it starts, in ms. */
interface UnknownNode {
  readonly key: string;
  readonly task: string;
  readonly expiresInMs: unknown;
}

/**
 * How long a run is left to others, in ms; `undefined` when that has lasted too long: the node
 * fails then; `expired` when its own time to start is over.
 */
export async function unknownNodePause(
  { backend, clock, persist }: Pick<GroupTools, 'backend' | 'clock' | 'persist'>,
  journal: RunJournal,
  { key, task, expiresInMs }: UnknownNode,
): Promise<number | 'expired' | undefined> {
  const field = `x:${key}`;
  const text = journal.text(field);
  const now = clock.now();
  const before: Absence =
    text === undefined ? { times: 0, since: now, first: now } : JSON.parse(text);
  const live = await persist(() => backend.workers.list());
  const since = live.some(({ names }) => names.includes(task)) ? now : before.since;
  const left = typeof expiresInMs === 'number' ? before.first + expiresInMs - now : MOST_MS;
  if (left <= 0 || now - since >= LIMITS.unknownTaskMs) {
    // A run that is put back has its whole time again.
    journal.drop(field);
    return left <= 0 ? 'expired' : undefined;
  }
  const met: Absence = { times: before.times + 1, since, first: before.first };
  journal.noteText(field, JSON.stringify(met));
  await journal.flush();
  const { unknownNodeBaseMs, unknownNodeMaxMs } = LIMITS;
  const pause = unknownNodeBaseMs * 2 ** Math.min(before.times, MOST_DOUBLINGS);
  return Math.min(unknownNodeMaxMs, pause, left);
}

/** For a node that may wait. */
const MOST_MS = Number.POSITIVE_INFINITY;

/** More of them are past any longest pause. */
const MOST_DOUBLINGS = 30;
