/** How many tasks a filter means, where that is known without looking at them. */
import type { Overview } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { useReading } from '../../state/readings.ts';
import { countText } from '../../words/numbers.ts';
import { wordsOf } from '../../words/where.ts';

/** The count of a filter of states, queues and, for those who see some users alone, users; else `undefined`. */
export type KnownCounts = (where: string) => number | undefined;

/** As the overview has them, which the page reads anyway; runs are among them. */
export function useKnownCounts(): KnownCounts {
  const { value } = useReading(source('GET /overview'));
  return (where) => (value === undefined ? undefined : countIn(value, where));
}

/** `12`, where all are there; else what is known: `up to 12,431`, or `50+` of those that were read. */
export function countWords(read: number, isWhole: boolean, known: number | undefined): string {
  if (isWhole) return countText(read);
  return known === undefined || known < read ? `${countText(read)}+` : `up to ${countText(known)}`;
}

type Words = ReadonlyMap<string, readonly string[]>;

function countIn({ queues, users }: Overview, where: string): number | undefined {
  const words = plainWords(where);
  const states = words?.get('state');
  if (words === undefined || states === undefined) return undefined;
  if (queues !== undefined) {
    if (words.has('user')) return undefined;
    const counts = queues.filter(({ queue }) => isMeant(words, 'queue', queue));
    return sum(counts.flatMap((one) => states.map((state) => countOf(one.counts, state))));
  }
  // Of a user the store counts these alone.
  if (!states.every((state) => state === 'queued' || state === 'started')) return undefined;
  const rows = (users ?? []).filter(
    ({ queue, user }) => isMeant(words, 'queue', queue) && isMeant(words, 'user', user),
  );
  return sum(
    rows.flatMap(({ queued, running }) =>
      states.map((state) => (state === 'queued' ? queued : running)),
    ),
  );
}

/** Values by word; `undefined` where anything else is said. */
function plainWords(where: string): Words | undefined {
  const found = new Map<string, readonly string[]>();
  for (const word of wordsOf(where)) {
    const [, key, values] = /^(queue|state|user):([^"]+)$/.exec(word) ?? [];
    if (key === undefined || values === undefined || found.has(key)) return undefined;
    found.set(key, values.split(','));
  }
  return found;
}

function isMeant(words: Words, key: string, value: string): boolean {
  return words.get(key)?.includes(value) !== false;
}

function countOf(counts: Readonly<Record<string, number>>, state: string): number {
  return counts[state] ?? 0;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
