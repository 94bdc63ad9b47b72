/** Answers of routes that not every server has. */

/** By route, as `HttpAnswers` of src/http. */
export interface OptionalAnswers {
  readonly 'GET /bulk': { readonly items: readonly BulkInfo[]; readonly cursor?: string };
  readonly 'GET /bulk/{id}': BulkInfo;
  readonly 'GET /series': SeriesReport;
  readonly 'GET /users/{user}/history': UserHistory;
}

export type BulkAction = 'cancel' | 'redrive' | 'remove' | 'run-now';

export interface BulkInfo {
  readonly id: string;
  readonly action: BulkAction;
  readonly where: string;
  readonly rate?: { readonly limit: number; readonly per: number };
  readonly dryRun: boolean;
  readonly state: 'canceled' | 'failed' | 'finished' | 'queued' | 'running';
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly by?: string;
  readonly matched?: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly { readonly id: string; readonly error: string }[];
}

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface SeriesPoint {
  readonly at: number;
  readonly enqueued: number;
  readonly started: number;
  readonly finished: number;
  readonly failed: number;
  readonly canceled: number;
  readonly retried: number;
  readonly lost: number;
  readonly wait?: Percentiles;
  readonly run?: Percentiles;
}

export interface SeriesReport {
  readonly step: 'hour' | 'minute';
  readonly from: number;
  readonly to: number;
  readonly points: readonly SeriesPoint[];
}

export interface UserHistory {
  readonly user: string;
  readonly queue: string;
  readonly oldestWaitMs?: number;
  readonly wait?: Percentiles;
  readonly run?: Percentiles;
  readonly perMinute: number;
  readonly etaMs?: number;
}
