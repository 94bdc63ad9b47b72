/** Limits of named values. */
import { type Limit, limit } from './limit.ts';

/** Their names. */
export type XComLimitKey =
  | 'xcomValueBytes'
  | 'xcomBytes'
  | 'xcomWrites'
  | 'xcomTtlMs'
  | 'xcomHoldMs';

/** As `LIMIT_TABLE`, which takes them in. */
export const XCOM_LIMITS: Readonly<Record<XComLimitKey, Limit>> = {
  xcomValueBytes: limit(
    262_144,
    'bytes',
    'one XCom value; beyond this a reference to stored data is better',
  ),
  xcomBytes: limit(1_048_576, 'bytes', 'of all XCom values that one attempt pushes; as a payload'),
  xcomWrites: limit(
    100,
    'values',
    'that one attempt writes or deletes: its settle takes a few commands for each',
  ),
  xcomTtlMs: limit(3_600_000, 'ms', 'XCom values are kept 1 h after the end of their writer'),
  xcomHoldMs: limit(
    60_000,
    'ms',
    'interval of checks of a value that a task keeps; it is removed this late at most',
  ),
};
