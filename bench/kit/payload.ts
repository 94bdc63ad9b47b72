/** What a task of the bench carries. */
export interface Payload {
  readonly d: string;
  /** When it was, or is to be, ready to start, in ms since the epoch; for latencies. */
  readonly t?: number;
  /** Whose it is; for fairness. */
  readonly u?: string;
}

/** Fills the JSON text `{"d":"…"}` up to 100 bytes. */
const FILLER = 'x'.repeat(92);

/** 100 bytes of JSON. */
export const HUNDRED_BYTES: Payload = { d: FILLER };
