/** Which entries of the audit are kept where there are too many: no caller can push out what others have done. Pure. */
import { createHash } from 'node:crypto';

/** What was asked for was done, or refused. */
type AuditKind = 'done' | 'refused';

/** So many entries of each kind are kept at most: refusals take no place of changes. */
const KEPT: Readonly<Record<AuditKind, number>> = { done: 10_000, refused: 1_000 };

/** Characters that tell callers apart. */
const CALLER_LENGTH = 10;

/** Stands at the end of the key of an entry, so that what is too much is found without reading values. */
export function shareMark(kind: AuditKind, caller: string): string {
  const hash = createHash('sha256').update(caller).digest('hex').slice(0, CALLER_LENGTH);
  return `${kind}-${hash}`;
}

/**
 * Those of some marks, the newest first, that are too many: of each kind the oldest of the callers that have most,
 * down to one number for all of these, so that who has fewer loses nothing. An entry without a mark was a change.
 */
export function tooMany(marks: readonly (string | undefined)[]): readonly number[] {
  const counts = new Map<string, number>();
  const named = marks.map((mark) => mark ?? 'done-');
  for (const mark of named) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const shares = new Map(
    (['done', 'refused'] as const).map((kind) => {
      const of = [...counts].filter(([mark]) => mark.startsWith(kind)).map(([, count]) => count);
      return [kind, shareOf(of, KEPT[kind])];
    }),
  );
  const seen = new Map<string, number>();
  return named.flatMap((mark, at) => {
    const count = (seen.get(mark) ?? 0) + 1;
    seen.set(mark, count);
    const share = shares.get(mark.startsWith('refused') ? 'refused' : 'done') ?? 0;
    return count > share ? [at] : [];
  });
}

/** How many each may keep, so that all keep no more than so many together. */
function shareOf(counts: readonly number[], most: number): number {
  let left = most;
  const sorted = [...counts].sort((a, b) => a - b);
  for (const [at, count] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (count > share) return share;
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}
