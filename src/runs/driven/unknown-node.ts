/** A node whose code is not here: the run is released, as long as another worker may have it. */
import { LIMITS } from '../../domain/limits.ts';
import type { GroupTools } from './group-drive.ts';
import type { RunJournal } from './run-journal.ts';

/** How often its code was missing, and since when no live worker has it, in ms since the epoch. */
interface Absence {
  readonly times: number;
  readonly since: number;
  /** The first time, which is when the node was ready. */
  readonly first: number;
}

/** A node, the name of its code, and its time until it must start, in ms. */
interface UnknownNode {
  readonly key: string;
  readonly task: string;
  readonly expiresInMs: unknown;
}

/**
 * How long to release the run to other workers, in ms; `undefined` after the time limit: the node
 * fails; `expired` when the node's own time to start is over.
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
    // A run that is put back has the whole time again.
    journal.drop(field);
    return left <= 0 ? 'expired' : undefined;
  }
  const absence: Absence = { times: before.times + 1, since, first: before.first };
  journal.noteText(field, JSON.stringify(absence));
  await journal.flush();
  const { unknownNodeBaseMs, unknownNodeMaxMs } = LIMITS;
  const pause = unknownNodeBaseMs * 2 ** Math.min(before.times, MOST_DOUBLINGS);
  return Math.min(unknownNodeMaxMs, pause, left);
}

/** Time limit of a node without one. */
const MOST_MS = Number.POSITIVE_INFINITY;

/** Further doublings would exceed any longest pause. */
const MOST_DOUBLINGS = 30;
