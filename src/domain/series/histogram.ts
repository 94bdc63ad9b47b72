/** Durations counted in fixed buckets, so that histograms of several processes can be added. */

/** Percentiles of durations; each is off by 9 % at most. */
export interface Percentiles {
  /** Number of durations. */
  readonly count: number;
  /** Median, in ms. */
  readonly p50: number;
  /** 95th percentile, in ms. */
  readonly p95: number;
  /** 99th percentile, in ms. */
  readonly p99: number;
}

/** Four buckets per doubling. */
const PER_DOUBLING = 4;

/** The last bucket holds 30 days and everything longer. */
const LAST_BUCKET = 126;

/** Bucket 0 holds durations below 1 ms; bucket n those from 2^((n-1)/4) ms to the start of the next. */
function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(LAST_BUCKET, 1 + Math.floor(PER_DOUBLING * Math.log2(ms)));
}

/** The duration reported for a bucket, in ms: its geometric mean. */
function lengthOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / PER_DOUBLING));
}

/** Counts by bucket. Adding two histograms equals counting all durations in one. */
export class Histogram {
  readonly #counts: Map<number, number> = new Map();
  #count = 0;

  /** Number of durations. */
  get count(): number {
    return this.#count;
  }

  /** Counts a duration, in ms. */
  note(ms: number): void {
    this.#put(bucketOf(ms), 1);
  }

  /** Adds the counts of another histogram. */
  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#put(bucket, count);
  }

  /** Percentiles; `undefined` without any duration. */
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

  /** Stored text: `<bucket>:<count>`, separated by spaces. */
  text(): string {
    return [...this.#counts].map(([bucket, count]) => `${bucket}:${count}`).join(' ');
  }

  /** Parses a stored text; `undefined` for text of another form. */
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
