/** Operations on users. */
import { coreOf, type Fairloom } from '../client/client.ts';
import type { QueueStatus } from '../client/facades/queue-facade.ts';
import { type UserStatus, userStatus } from '../client/facades/user-facade.ts';
import { originsOf } from '../domain/fairness/settings.ts';
import { LIMITS } from '../domain/limits.ts';
import type { UserRow } from './answers.ts';
import { parameter, text } from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import { USER_SETTINGS } from './queues.ts';
import { done, missing } from './refusal.ts';
import { type TopUser, topUsers } from './shares.ts';
import type { View } from './view.ts';

/** How long shares of many users are good enough, in ms: they cost the store twenty times what a page costs. */
const SHARES_MS = 2_000;

/** How long old shares are better than waiting for newer ones, in ms. */
const OLD_SHARES_MS = 10_000;

/** Up to this many users shares are read anew each time. */
const FEW = 100;

const QUEUE = text('The queue; `default` unless it is said.', 'name');

const OF_QUEUE = parameter(
  text('In this queue alone; default: in all that have no setting of their own.', 'name'),
);

/** `users …` */
export const USER_OPERATIONS: readonly Operation[] = [
  operation('users.list', {
    http: 'GET /users',
    command: 'users list',
    help: 'The users of a queue that have work in it, or settings.',
    users: 'rows',
    input: { queue: QUEUE, ...PAGE_FIELDS },
    run: async ({ loom, view, input }) => {
      const { queue = 'default' } = input;
      if (view.users !== undefined) {
        const items = await ownRowsIn(loom, view, queue);
        return { items, sharesOf: items.length };
      }
      const status = await loom.queues.get(queue);
      const [page, shares] = await Promise.all([
        loom.users.list({ queue, configured: false, ...pageOf(input) }),
        sharesIn(loom, queue, status),
      ]);
      const items = page.items.map((user) => rowOf(user, shares, status));
      return { ...page, items, sharesOf: shares.size };
    },
  }),
  operation('users.get', {
    http: 'GET /users/{user}',
    command: 'users get <user>',
    help: 'One user in one queue.',
    users: 'subject',
    input: { queue: QUEUE },
    run: async ({ loom, view, input }) => userRow(loom, view, input.user, input.queue),
  }),
  operation('users.history', {
    http: 'GET /users/{user}/history',
    help: 'How long tasks of a user waited and ran of late, and when its line is over.',
    users: 'subject',
    input: { queue: QUEUE },
    run: async ({ loom, view, input: { user, queue } }) => {
      if (!view.sees(user)) throw missing(`user ${user}`);
      return loom.users.history(user, { queue });
    },
  }),
  operation('users.set', {
    http: 'PATCH /users/{user}',
    command: 'users set <user>',
    help: 'Changes settings of a user; `default` takes one back.',
    needs: 'configure',
    users: 'subject',
    input: { queue: OF_QUEUE, ...USER_SETTINGS },
    run: async ({ loom, view, input: { user, queue, ...settings } }) => {
      await loom.users.set(seenUser(view, user), settings, { queue });
      const status = await loom.users.get(user, { queue: queue ?? 'default' });
      return rowIn(loom, view, status ?? (await idleUser(loom, user, queue)));
    },
  }),
  operation('users.pause', {
    http: 'POST /users/{user}/pause',
    command: 'users pause <user>',
    help: 'Stops starting tasks of a user; running tasks continue.',
    needs: 'pause',
    users: 'subject',
    input: { queue: OF_QUEUE },
    run: async ({ loom, view, input: { user, queue } }) => {
      await loom.users.pause(seenUser(view, user), { queue });
      return done(user, 'paused');
    },
  }),
  operation('users.resume', {
    http: 'POST /users/{user}/resume',
    command: 'users resume <user>',
    help: 'Starts tasks of a paused user again.',
    needs: 'pause',
    users: 'subject',
    input: { queue: OF_QUEUE },
    run: async ({ loom, view, input: { user, queue } }) => {
      await loom.users.resume(seenUser(view, user), { queue });
      return done(user, 'resumed');
    },
  }),
];

function seenUser(view: View, user: string): string {
  if (view.sees(user)) return user;
  throw missing(`user ${user}`);
}

/** @throws the 404 of a user that is not known, or not to be seen. */
async function userRow(
  loom: Fairloom,
  view: View,
  user: string,
  queue = 'default',
): Promise<UserRow> {
  const status = view.sees(user) ? await loom.users.get(user, { queue }) : undefined;
  if (status === undefined) throw missing(`user ${user}`);
  return rowIn(loom, view, status);
}

async function rowIn(loom: Fairloom, view: View, status: UserStatus): Promise<UserRow> {
  if (view.users !== undefined) return ownRow(status);
  const about = await loom.queues.get(status.queue);
  return rowOf(status, await sharesIn(loom, status.queue, about), about);
}

/** A user without tasks and settings of its own: the store has no row of it. */
async function idleUser(loom: Fairloom, user: string, queue = 'default'): Promise<UserStatus> {
  const { queues } = await coreOf(loom).connection.open();
  const perUser = (await queues.get(queue))?.settings.perUser;
  const origins = originsOf({ own: undefined, all: undefined, queue: perUser });
  const levels = [0, 0, 0, 0, 0, 0];
  const counts = { queued: 0, levels, running: 0, later: 0, ready: false, ahead: 0 };
  return userStatus({ user, queue, settings: perUser ?? {}, origins, ...counts });
}

/** The users of a view in every queue that knows them, however many queues others have. */
export async function ownRows(loom: Fairloom, view: View): Promise<readonly UserRow[]> {
  const { users } = await coreOf(loom).connection.open();
  return (await users.everywhere(view.users ?? [])).map((one) => ownRow(userStatus(one)));
}

/** The users of a view that one queue knows. */
async function ownRowsIn(loom: Fairloom, view: View, queue: string): Promise<readonly UserRow[]> {
  const all = (view.users ?? []).map((user) => loom.users.get(user, { queue }));
  return (await Promise.all(all)).flatMap((one) => (one === undefined ? [] : [ownRow(one)]));
}

/** Without shares, and without how far ahead it is of the others, which tell of these. */
function ownRow(status: UserStatus): UserRow {
  const { settings, queued, running, later, ready } = status;
  const atLimit = settings.maxRunning !== undefined && running >= settings.maxRunning;
  const why = ((): string => {
    if (queued === 0) return later > 0 ? `${later} later` : 'nothing in line';
    if (settings.paused === true) return 'paused';
    if (atLimit) return `at its limit of ${settings.maxRunning} running`;
    return ready ? 'in line' : 'held back';
  })();
  return { ...status, ahead: 0, why };
}

/**
 * Shares in one queue, by user; of many users as they were a moment ago. After that a call gets them once
 * more while they are read anew, and does not wait; unless they are too old.
 */
function sharesIn(loom: Fairloom, queue: string, status: QueueStatus | undefined): Promise<Shares> {
  if (status === undefined) return Promise.resolve(NO_SHARES);
  const now = coreOf(loom).clock.now();
  const known = KNOWN_SHARES.get(loom) ?? new Map<string, KnownShares>();
  KNOWN_SHARES.set(loom, known);
  const latest = known.get(queue);
  const age = latest === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - latest.at);
  if (latest !== undefined && (age < SHARES_MS || latest.isReading)) return latest.shares;
  const shares = readShares(loom, queue, status);
  const isWorth = latest !== undefined && age < OLD_SHARES_MS;
  if (isWorth) known.set(queue, { ...latest, isReading: true });
  else known.set(queue, { at: now, shares, isReading: false });
  const keep = (read: Shares): void => {
    if (read.size <= FEW) known.delete(queue);
    else known.set(queue, { at: now, shares, isReading: false });
  };
  shares.then(keep, () => known.delete(queue));
  return isWorth ? latest.shares : shares;
}

type Shares = ReadonlyMap<string, TopUser>;

interface KnownShares {
  readonly at: number;
  readonly shares: Promise<Shares>;
  /** Newer ones are on their way. */
  readonly isReading: boolean;
}

const NO_SHARES: Shares = new Map();

const KNOWN_SHARES = new WeakMap<Fairloom, Map<string, KnownShares>>();

/** Over as many users as a page has; of more users the first by name. */
async function readShares(loom: Fairloom, queue: string, status: QueueStatus): Promise<Shares> {
  const limit = LIMITS.pageMax;
  const { items } = await loom.users.list({ queue, configured: false, limit });
  return new Map(topUsers(status, items).map((one) => [one.user, one]));
}

function rowOf(user: UserStatus, shares: Shares, queue: QueueStatus | undefined): UserRow {
  const known = shares.get(user.user) ?? (queue && topUsers(queue, [user])[0]);
  if (known === undefined) return { ...user, why: '' };
  const { share, fairShare, why } = known;
  const isCounted = shares.has(user.user);
  return {
    ...user,
    ...(isCounted && share !== undefined ? { share } : {}),
    ...(isCounted && fairShare !== undefined ? { fairShare } : {}),
    why,
  };
}
