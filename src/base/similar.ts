/** Finds the intended word for a misspelled one. */

/** Options of other task queues, FairQueue first, and the corresponding options here. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['maxconcurrenttasks', 'concurrency'],
  ['maxretryattempts', 'retries'],
  ['maxretries', 'retries'],
  ['attempts', 'retries'],
  ['defaulttasktimeout', 'timeout'],
  ['prefix', 'keyPrefix'],
  ['user', 'username'],
  ['host', 'url'],
  ['port', 'url'],
  ['db', 'url'],
  ['ssl', 'tls'],
  ['shutdowntimeout', 'grace'],
  ['leaseduration', 'lease'],
  ['retry', 'retries'],
  ['maxattempts', 'retries'],
  ['tenant', 'user'],
  ['tenantid', 'user'],
  ['userid', 'user'],
  ['jobid', 'id'],
  ['taskid', 'id'],
  ['tz', 'timeZone'],
  ['pattern', 'cron'],
  ['logger', 'log'],
  ['connection', 'backend'],
]);

/** More than this many typos make another word. */
const MOST_SLIPS = 2;

/** The most similar known word, if any is similar; case, `_` and `-` are ignored. */
export function similarTo(word: string, known: Iterable<string>): string | undefined {
  const bare = bareOf(word);
  const words = [...known];
  const synonym = SYNONYMS.get(bare);
  if (synonym !== undefined && words.includes(synonym)) return synonym;
  const near = words
    .map((candidate) => ({ candidate, slips: slipsBetween(bare, bareOf(candidate)) }))
    .filter(({ candidate, slips }) => slips <= Math.min(MOST_SLIPS, candidate.length / 3))
    .toSorted((a, b) => a.slips - b.slips);
  return near[0]?.candidate;
}

function bareOf(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Number of letters that were omitted, inserted, changed, or swapped with their neighbor. */
function slipsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_SLIPS) return MOST_SLIPS + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(before, j - 2) + 1 : change;
      next.push(Math.min(change, swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
