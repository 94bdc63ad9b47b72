/** Rates, written as the command line takes them. */

/** So many per time, as the API takes it. */
export interface Rate {
  readonly limit: number;
  /** As `1m`. */
  readonly per: string;
  /** So many may start at once after a pause. */
  readonly burst?: number;
}

/** `100/1m`, or `100/1m/20`; what is no rate is for the server to refuse. */
export function rateOf(text: string): Rate {
  const [limit = '', per = '', burst] = text.split('/').map((part) => part.trim());
  return { limit: Number(limit), per, ...(burst === undefined ? {} : { burst: Number(burst) }) };
}
