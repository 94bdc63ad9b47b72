/** Limits of several processes on one data folder; part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type SocketLimitName =
  | 'ownerPingMs'
  | 'ownerSilentMs'
  | 'ownerOpenMs'
  | 'ownerClaims'
  | 'socketBytes'
  | 'guestCalls'
  | 'guestUnreadBytes';

/** As `LIMIT_TABLE`, which takes them in. */
export const SOCKET_LIMITS: Readonly<Record<SocketLimitName, Limit>> = {
  ownerPingMs: limit(
    1_000,
    'ms',
    'processes that share a data folder ask its owner this often for a sign of life',
  ),
  ownerSilentMs: limit(
    5_000,
    'ms',
    'an owner that left all of them unanswered for this long counts as dead; a third of a lease',
  ),
  ownerOpenMs: limit(
    60_000,
    'ms',
    'the same for an owner that still reads its data, which may block it',
  ),
  ownerClaims: limit(
    200,
    'times',
    'tries of a process to find the owner of a data folder: some seconds',
  ),
  socketBytes: limit(
    268_435_456,
    'bytes',
    'of one call or answer between processes; half of the longest text of JavaScript',
  ),
  guestCalls: limit(
    250,
    'calls',
    'of one other process that an owner handles at once; others stay in the socket',
  ),
  guestUnreadBytes: limit(
    4_194_304,
    'bytes',
    'of answers that another process has not read yet; beyond it no more of its calls are accepted',
  ),
};
