/**
 * Jain's index of fairness: 1 when everybody got the same part of its due, 1/n when one got all.
 * The figures are what each got divided by what was due to it.
 */
export function jainIndex(parts: readonly number[]): number {
  const sum = parts.reduce((total, part) => total + part, 0);
  const squares = parts.reduce((total, part) => total + part * part, 0);
  return squares === 0 ? 1 : (sum * sum) / (parts.length * squares);
}

/** The least value that at least this part (0 to 1) of the values do not exceed; 0 of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.ceil(part * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? 0;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
