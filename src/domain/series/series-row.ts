/** What is counted of a queue, or of a user in it, in one minute or hour. */
import { Histogram } from './histogram.ts';

/** What is counted, in the order in which it is stored. */
export const SERIES_COUNTS = [
  'enqueued',
  'started',
  'finished',
  'failed',
  'canceled',
  'retried',
  'lost',
] as const;

/** Tasks stored, handlers called, tasks ended by outcome, attempts retried, leases lost. */
export type SeriesCount = (typeof SERIES_COUNTS)[number];

/** Whose row it is. */
export interface SeriesPlace {
  /** The queue; empty for those that have no row of their own. */
  readonly queue: string;
  /** Absent: the queue as a whole. Empty: its users that have no row of their own. */
  readonly user?: string;
}

/** Counts, and how long tasks waited and ran. */
export class SeriesRow {
  /** By how much traffic it claims a row of its own; what it has, and what the rows before it had. */
  rank = 0;
  /** What has happened how often. */
  readonly counts: Record<SeriesCount, number> = {
    enqueued: 0,
    started: 0,
    finished: 0,
    failed: 0,
    canceled: 0,
    retried: 0,
    lost: 0,
  };
  /** From enqueue to the first start. */
  readonly wait: Histogram = new Histogram();
  /** From the call of a handler until its attempt was settled. */
  readonly run: Histogram = new Histogram();

  /** One more of these. */
  count(what: SeriesCount): void {
    this.counts[what]++;
    if (what === 'enqueued' || what === 'started') this.rank++;
  }

  /** Adds what another row has counted. */
  add(other: SeriesRow): void {
    this.rank += other.rank;
    for (const what of SERIES_COUNTS) this.counts[what] += other.counts[what];
    this.wait.add(other.wait);
    this.run.add(other.run);
  }

  /** As it is stored: `<rank> <counts>;<waits>;<runs>`. */
  text(): string {
    const numbers = [this.rank, ...SERIES_COUNTS.map((what) => this.counts[what])];
    return `${numbers.join(' ')};${this.wait.text()};${this.run.text()}`;
  }

  /** Reads it back; `undefined` for text of another form. */
  static of(text: string): SeriesRow | undefined {
    const [head = '', waits = '-', runs = '-', ...more] = text.split(';');
    const [wait, run] = [Histogram.of(waits), Histogram.of(runs)];
    const numbers = head.split(' ').map(Number);
    const isWhole = numbers.length === SERIES_COUNTS.length + 1 && numbers.every(isCount);
    if (!isWhole || more.length > 0 || wait === undefined || run === undefined) return undefined;
    const row = new SeriesRow();
    row.rank = numbers[0] ?? 0;
    SERIES_COUNTS.forEach((what, at) => {
      row.counts[what] = numbers[at + 1] ?? 0;
    });
    row.wait.add(wait);
    row.run.add(run);
    return row;
  }

  /** The same, which changes by itself. */
  copy(): SeriesRow {
    const row = new SeriesRow();
    row.add(this);
    return row;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Whose row, and what is to be added to it. */
export interface SeriesEntry extends SeriesPlace {
  /** What was counted. */
  readonly row: SeriesRow;
}

/** The name of a row among those of its minute or hour. */
export function fieldOf({ queue, user }: SeriesPlace): string {
  return user === undefined ? `q:${queue}` : `u:${queue}:${user}`;
}

/** Whose row has that name; `undefined` for what is none. */
export function placeOf(field: string): SeriesPlace | undefined {
  if (field.startsWith('q:')) return { queue: field.slice(2) };
  const [whole, queue] = /^u:([^:]*):/.exec(field) ?? [];
  if (whole === undefined || queue === undefined) return undefined;
  return { queue, user: field.slice(whole.length) };
}

/** Whether it is the row of those that have none of their own. */
export function isOthers({ queue, user }: SeriesPlace): boolean {
  return user === undefined ? queue === '' : user === '';
}
