/** Routes of users and queues. */
import { coreOf, type Fairloom } from '../../client/client.ts';
import type { QueueStatus } from '../../client/facades/queue-facade.ts';
import { type UserStatus, userStatus } from '../../client/facades/user-facade.ts';
import { LIMITS } from '../../domain/limits.ts';
import { type TopUser, topUsers } from '../../shapes/shares.ts';
import type { UserRow } from '../calls/answers.ts';
import { ownUser } from '../calls/enqueue.ts';
import { choice, integer, required, text } from '../calls/fields.ts';
import { PAGE_FIELDS, pageOf } from '../calls/paging.ts';
import { missing } from '../calls/problem.ts';
import { type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';

/** Of many users they cost the store twenty times what a page of users does: so long they are good enough, in ms. */
const SHARES_MS = 2_000;

/** And so long they are better than to wait for newer ones, in ms. */
const OLD_SHARES_MS = 10_000;

/** Up to so many users they are read anew each time. */
const FEW = 100;

const QUEUE = text('The queue; `default` unless it is said.');

/** Moments that a Date can hold. */
const MOMENTS = { least: 0, most: 8.64e15 };

/** `/users` and `/queues` */
export const USER_ROUTES: readonly Route[] = [
  route('GET /users', {
    summary: 'Users of one queue, each with its share and what holds it back.',
    users: 'rows',
    query: { queue: QUEUE, ...PAGE_FIELDS },
    answer: async ({ loom, view, query }) => {
      const { queue = 'default' } = query;
      if (view.users !== undefined) {
        const items = await ownRowsIn(loom, view, queue);
        return { items, sharesOf: items.length };
      }
      const status = await loom.queues.get(queue);
      const [page, shares] = await Promise.all([
        loom.users.list({ queue, configured: false, ...pageOf(query) }),
        sharesIn(loom, queue, status),
      ]);
      const items = page.items.map((user) => rowOf(user, shares, status));
      return { ...page, items, sharesOf: shares.size };
    },
  }),
  route('GET /users/{user}', {
    summary: 'One user in one queue.',
    users: 'subject',
    query: { queue: QUEUE },
    answer: async ({ loom, view, path, query }) =>
      userRow(loom, view, path.get('user'), query.queue ?? 'default'),
  }),
  route('GET /users/{user}/history', {
    summary: 'How a user has fared in one queue of late, and when its line is over.',
    users: 'subject',
    query: { queue: QUEUE },
    answer: async ({ loom, view, path, query }) => {
      const user = path.get('user');
      if (!view.sees(user)) throw missing(`user ${user}`);
      return loom.users.history(user, query);
    },
  }),
  route('GET /series', {
    summary: 'What happened in each minute or hour. A caller of some users asks for one of them.',
    users: 'rows',
    query: {
      step: required(choice('Minutes are kept for a day, hours for 31 days.', ['minute', 'hour'])),
      from: integer('From when on, in ms since the epoch.', MOMENTS),
      to: integer('Until when; now unless it is said.', MOMENTS),
      queue: text('Of this queue alone.'),
      user: text('Of this user alone.'),
    },
    answer: async ({ loom, view, query }) =>
      loom.series.read({ ...query, user: ownUser(view, query.user) }),
  }),
  route('GET /queues', {
    summary: 'Every queue, with its settings and counts.',
    users: 'whole',
    answer: async ({ loom }) => ({ items: await loom.queues.list() }),
  }),
  route('GET /queues/{queue}', {
    summary: 'One queue.',
    users: 'whole',
    answer: async ({ loom, path }) => {
      const queue = path.get('queue');
      const status = await loom.queues.get(queue);
      if (status === undefined) throw missing(`queue ${queue}`);
      return status;
    },
  }),
];

/** @throws the 404 of a user that is not known, or not to be seen. */
export async function userRow(
  loom: Fairloom,
  view: View,
  user: string,
  queue: string,
): Promise<UserRow> {
  const status = view.sees(user) ? await loom.users.get(user, { queue }) : undefined;
  if (status === undefined) throw missing(`user ${user}`);
  if (view.users !== undefined) return ownRow(status);
  const about = await loom.queues.get(queue);
  return rowOf(status, await sharesIn(loom, queue, about), about);
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
