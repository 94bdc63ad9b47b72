/** One declared maximum: its number, its unit, and why it is that number. */
export interface Limit {
  /** The maximum, in `unit`. */
  readonly value: number;
  /** As `ms`, `bytes`, `ids`. */
  readonly unit: string;
  /** Why it is this number: half a sentence for `docs/limits.md`. */
  readonly why: string;
}

/** Declares one. */
export function limit(value: number, unit: string, why: string): Limit {
  return { value, unit, why };
}
