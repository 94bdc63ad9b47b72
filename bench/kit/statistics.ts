/** The formulas that the bench needs. */

/** The middle value; the mean of the two middle ones of an even number. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** The value that `percent` of the values do not exceed (nearest rank). NaN for none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Jain's index of shares: 1 when all are equal, 1/n when one has everything. */
export function jain(shares: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const share of shares) {
    sum += share;
    squares += share * share;
  }
  return squares === 0 ? Number.NaN : (sum * sum) / (shares.length * squares);
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Five significant digits: more would be noise in the committed results. */
export function rounded(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(5)) : value;
}
