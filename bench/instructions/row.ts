import type { CountedRedis } from './counted-redis.ts';

/** One row of the table: something that the server does for a task. */
export interface Row {
  /** What the table, and `--only`, call it. */
  readonly name: string;
  /** Shown is what it costs on top of this row. */
  readonly above?: string;
  /** A layer of `npm test` measures it too. */
  readonly isInShare?: boolean;
  /** Why this engine cannot do it. */
  readonly impossible?: string | undefined;
  /** Instructions of the server for each task. */
  readonly measure: (redis: CountedRedis) => Promise<number>;
}
