/** Answers of routes that not every server has. */

/** By route, as `HttpAnswers` of src/http. */
export interface OptionalAnswers {
  readonly 'GET /bulk': { readonly items: readonly BulkInfo[]; readonly cursor?: string };
  readonly 'GET /bulk/{id}': BulkInfo;
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
