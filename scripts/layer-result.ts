/** The result of a layer, as a line between two processes. */
export interface LayerResult {
  readonly name: string;
  readonly passed: number;
  /** Failed tests, files that did not load, and hooks that failed. */
  readonly failed: number;
  readonly skipped: number;
  /** The failed ones, each with the first line of its error. */
  readonly failures: readonly string[];
  /** The time of its files, one after the other: layers run in parallel. */
  readonly ms: number;
}

/** Such a line begins with this, and no other does. */
const MARK = '::layer ';

export function lineOf({ name, passed, failed, skipped, failures, ms }: LayerResult): string {
  return `${MARK}${JSON.stringify({ name, passed, failed, skipped, failures, ms })}`;
}

/** The result in a line; undefined for any other line. */
export function resultIn(line: string): LayerResult | undefined {
  return line.startsWith(MARK) ? JSON.parse(line.slice(MARK.length)) : undefined;
}
