/** The parts of a row of docs/performance.md: a bench measures, its rows define how it is shown. */
import type { BenchRedis } from './bench-redis.ts';
import type { RedisSideName } from './side.ts';

/** Libraries, and the variants of Fairloom that are compared with each other. */
export type SideName =
  | RedisSideName
  | 'bullmq-priority'
  | 'fairloom-users'
  | 'fairloom-memory'
  | 'fairloom-redis'
  | 'fairloom-plain'
  | 'fairloom-copies'
  | 'fairloom-group'
  | 'plainjob'
  | 'fdatasync'
  | 'fastq'
  | 'p-queue';

/** The results of one side in one round, by name of the metric. */
export type Figures = Readonly<Record<string, number>>;

export interface BenchContext {
  /** A server without persistence, empty. */
  redis(): Promise<BenchRedis>;
  /** A server with an append-only file that is written to disk every second, empty. */
  durableRedis(): Promise<BenchRedis>;
  /** … that is on the disk before each answer, empty. */
  syncedRedis(): Promise<BenchRedis>;
  /** A folder on the disk of the repository, empty; it is removed after the round. */
  folder(): Promise<string>;
  /** A hundredth to a tenth in a quick run, which checks that it works, not how fast it is. */
  size(full: number): number;
  /** The same in each round of each side. */
  random(): () => number;
}

export interface BenchSide {
  readonly name: SideName;
  /** One round. */
  readonly run: (context: BenchContext) => Promise<Figures>;
}

export interface Bench {
  /** The name of its file, and what `--only` takes. */
  readonly name: string;
  /** How it is measured, in a sentence or two for the page. */
  readonly about: string;
  readonly sides: readonly BenchSide[];
  readonly rows: readonly Row[];
  /** Rounds, for benches that take too long for the default. */
  readonly rounds?: number;
}

/** One row of a table. */
export interface Row {
  readonly table: TableName;
  /** Which side the row is about. Default: `fairloom`. */
  readonly subject?: SideName;
  readonly measure: string;
  /** The metrics shown in its cells, separated by ` / `. */
  readonly metrics: readonly string[];
  readonly unit: string;
  /** For the ratio to other sides: throughput is better when more, time when less. */
  readonly better: 'more' | 'less';
  readonly goals: readonly Goal[];
}

export type TableName =
  | 'redis'
  | 'fairness'
  | 'embedded'
  | 'durable'
  | 'workflows'
  | 'looking'
  | 'scripts';

/** Goals of issue and design. */
export type Goal =
  /** At least `times` as good as the other side, by the first metric. */
  | { readonly kind: 'times'; readonly side: SideName; readonly times: number }
  /** The metric is at most this; `of` names it where the row shows others. */
  | { readonly kind: 'most'; readonly metric: string; readonly value: number; readonly of?: string }
  /** The metric is at least this. */
  | { readonly kind: 'least'; readonly metric: string; readonly value: number };
