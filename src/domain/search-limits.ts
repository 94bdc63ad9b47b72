/** Limits of searches and bulk actions; part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type SearchLimitName =
  | 'whereLength'
  | 'searchScan'
  | 'bulkTurnMs'
  | 'bulkHoldMs'
  | 'bulkAtOnce'
  | 'bulkErrors';

/** As `LIMIT_TABLE`, which takes them in. */
export const SEARCH_LIMITS: Readonly<Record<SearchLimitName, Limit>> = {
  whereLength: limit(
    2_000,
    'characters',
    'longest text of the filter language: it is part of URLs',
  ),
  searchScan: limit(
    10_000,
    'tasks',
    'that one search reads; if there are more it says so, and its cursor continues',
  ),
  bulkTurnMs: limit(
    2_000,
    'ms',
    'a bulk action releases its slot after this time, and waits for the next turn of its user',
  ),
  bulkHoldMs: limit(
    1_000,
    'ms',
    'a bulk action that has to wait longer for its rate waits without a slot',
  ),
  bulkAtOnce: limit(100, 'changes', 'of one bulk action at once'),
  bulkErrors: limit(10, 'errors', 'first errors of changes, kept with a bulk action'),
};
