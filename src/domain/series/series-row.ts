/** Counts of a queue, or of a user in it, in one minute or hour. */
import { Histogram } from './histogram.ts';

/** Counts of a row, in the order in which they are stored. */
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

/** Queue and user of a row. */
export interface SeriesPlace {
  /** The queue; empty for queues without their own row. */
  readonly queue: string;
  /** Absent: the whole queue. Empty: its users without their own row. */
  readonly user?: string;
}

/** Counts, and how long tasks waited and ran. */
export class SeriesRow {
  /** Traffic by which it keeps its own row: its own and that of the rows which it replaced. */
  rank = 0;
  /** Number of occurrences of each. */
  readonly counts: Record<SeriesCount, number> = {
    enqueued: 0,
    started: 0,
    finished: 0,
    failed: 0,
    canceled: 0,
    retried: 0,
    lost: 0,
  };
  /** Durations from enqueue to the first start. */
  readonly wait: Histogram = new Histogram();
  /** Durations from the call of a handler until its attempt was settled. */
  readonly run: Histogram = new Histogram();

  /** Counts one occurrence. */
  count(what: SeriesCount): void {
    this.counts[what]++;
    if (what === 'enqueued' || what === 'started') this.rank++;
  }

  /** Adds the counts of another row. */
  add(other: SeriesRow): void {
    this.rank += other.rank;
    for (const what of SERIES_COUNTS) this.counts[what] += other.counts[what];
    this.wait.add(other.wait);
    this.run.add(other.run);
  }

  /** Stored text: `<rank> <counts>;<waits>;<runs>`. */
  text(): string {
    const numbers = [this.rank, ...SERIES_COUNTS.map((what) => this.counts[what])];
    return `${numbers.join(' ')};${this.wait.text()};${this.run.text()}`;
  }

  /** Parses a stored text; `undefined` for text of another form. */
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

  /** A mutable copy. */
  copy(): SeriesRow {
    const row = new SeriesRow();
    row.add(this);
    return row;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** A row, and counts to add to it. */
export interface SeriesEntry extends SeriesPlace {
  /** The counts. */
  readonly row: SeriesRow;
}

/** Field of a row within its minute or hour. */
export function fieldOf({ queue, user }: SeriesPlace): string {
  return user === undefined ? `q:${queue}` : `u:${queue}:${user}`;
}

/** Queue and user of a field; `undefined` for text of another form. */
export function placeOf(field: string): SeriesPlace | undefined {
  if (field.startsWith('q:')) return { queue: field.slice(2) };
  const [whole, queue] = /^u:([^:]*):/.exec(field) ?? [];
  if (whole === undefined || queue === undefined) return undefined;
  return { queue, user: field.slice(whole.length) };
}

/** Whether it is the row of queues, or of users, without their own row. */
export function isOthers({ queue, user }: SeriesPlace): boolean {
  return user === undefined ? queue === '' : user === '';
}
