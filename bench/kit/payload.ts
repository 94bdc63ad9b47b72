/** The payload of a task of the bench. */
export interface Payload {
  readonly d: string;
  /** When it was, or will be, ready to start, in ms since the epoch; for latencies. */
  readonly t?: number;
  /** Its user; for fairness. */
  readonly u?: string;
}

/** Fills the JSON text `{"d":"…"}` up to 100 bytes. */
const FILLER = 'x'.repeat(92);

/** 100 bytes of JSON. */
export const HUNDRED_BYTES: Payload = { d: FILLER };
