/** Lengths of time, counted in fixed buckets, so that what was counted apart can be added up. */

/** How lengths of time are spread: each figure is off by 9 % at most. */
export interface Percentiles {
  /** How many there were. */
  readonly count: number;
  /** Half of them were no longer than this, in ms. */
  readonly p50: number;
  /** 95 of a hundred, in ms. */
  readonly p95: number;
  /** 99 of a hundred, in ms. */
  readonly p99: number;
}

/** Four buckets for each doubling. */
const PER_DOUBLING = 4;

/** The last bucket takes in 30 days and everything longer. */
const LAST_BUCKET = 126;

/** Bucket 0 takes in what is below 1 ms; bucket n from 2^((n-1)/4) ms on, up to where the next begins. */
function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(LAST_BUCKET, 1 + Math.floor(PER_DOUBLING * Math.log2(ms)));
}

/** What stands for all lengths of a bucket, in ms: its geometric middle. */
function lengthOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / PER_DOUBLING));
}

/** Counts by bucket. Adding two gives the same as if all had been counted in one. */
export class Histogram {
  readonly #counts: Map<number, number> = new Map();
  #count = 0;

  /** How many lengths were counted. */
  get count(): number {
    return this.#count;
  }

  /** Counts a length, in ms. */
  note(ms: number): void {
    this.#put(bucketOf(ms), 1);
  }

  /** Adds what another has counted. */
  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#put(bucket, count);
  }

  /** `undefined` when nothing was counted. */
  percentiles(): Percentiles | undefined {
    if (this.#count === 0) return undefined;
    const sorted = [...this.#counts].sort(([one], [other]) => one - other);
    const at = (share: number): number => {
      let left = Math.ceil(this.#count * share);
      for (const [bucket, count] of sorted) {
        left -= count;
        if (left <= 0) return lengthOf(bucket);
      }
      return 0;
    };
    return { count: this.#count, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  }

  /** As it is stored: `<bucket>:<count>`, parted by blanks. */
  text(): string {
    return [...this.#counts].map(([bucket, count]) => `${bucket}:${count}`).join(' ');
  }

  /** Reads it back; `undefined` for text of another form. */
  static of(text: string): Histogram | undefined {
    if (!/^(\d+:\d+( |$))*$/.test(text)) return undefined;
    const made = new Histogram();
    for (const [, bucket, count] of text.matchAll(/(\d+):(\d+)/g)) {
      made.#put(Math.min(LAST_BUCKET, Number(bucket)), Number(count));
    }
    return made;
  }

  #put(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#count += count;
  }
}
