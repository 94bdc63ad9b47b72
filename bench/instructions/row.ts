import type { CountedRedis } from './counted-redis.ts';

/** One row of the table: work of the server for a task. */
export interface Row {
  /** Its name in the table, and for `--only`. */
  readonly name: string;
  /** The table shows the cost on top of this row. */
  readonly above?: string;
  /** A layer of `npm test` measures it too. */
  readonly isInShare?: boolean;
  /** Why this engine does not support it. */
  readonly impossible?: string | undefined;
  /** Instructions of the server for each task. */
  readonly measure: (redis: CountedRedis) => Promise<number>;
}
