/** What a layer came to, as a line between two processes. */
export interface LayerResult {
  readonly name: string;
  readonly passed: number;
  /** Failed tests, files that did not load, and hooks that failed. */
  readonly failed: number;
  readonly skipped: number;
  /** The failed ones, each with the first line of why. */
  readonly failures: readonly string[];
  /** What its files took, one after the other: layers run beside each other. */
  readonly ms: number;
}

/** Begins such a line, and no other. */
const MARK = '::layer ';

export function lineOf({ name, passed, failed, skipped, failures, ms }: LayerResult): string {
  return `${MARK}${JSON.stringify({ name, passed, failed, skipped, failures, ms })}`;
}

/** The result that a line tells; undefined for any other line. */
export function resultIn(line: string): LayerResult | undefined {
  return line.startsWith(MARK) ? JSON.parse(line.slice(MARK.length)) : undefined;
}
