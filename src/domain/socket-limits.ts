/** What bounds several processes on one data folder; a part of `limits.ts`. */
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
    'an owner that left all of them unanswered for so long counts as dead; a third of a lease',
  ),
  ownerOpenMs: limit(
    60_000,
    'ms',
    'the same of an owner that still reads its data, which may hold it up',
  ),
  ownerClaims: limit(
    200,
    'times',
    'that a process looks for the owner of a data folder before it gives up: some seconds',
  ),
  socketBytes: limit(
    268_435_456,
    'bytes',
    'of one call or answer between processes; half of the longest text of JavaScript',
  ),
  guestCalls: limit(
    250,
    'calls',
    'of one other process that an owner has in hand; further ones stay in the socket',
  ),
  guestUnreadBytes: limit(
    4_194_304,
    'bytes',
    'of answers that another process has not read yet; meanwhile no more calls of it are taken',
  ),
};
