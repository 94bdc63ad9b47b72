/** What bounds searches, and actions on what they find; a part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type SearchLimitName = 'whereLength' | 'searchScan';

/** As `LIMIT_TABLE`, which takes them in. */
export const SEARCH_LIMITS: Readonly<Record<SearchLimitName, Limit>> = {
  whereLength: limit(
    2_000,
    'characters',
    'longest text of the filter language: it stands in addresses',
  ),
  searchScan: limit(
    10_000,
    'tasks',
    'that one search looks at; it says so when there are more, and goes on with its cursor',
  ),
};
