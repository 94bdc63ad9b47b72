/** Writes queues, users in them, and settings. */
import { USUAL_WEIGHT } from '../../domain/fairness/fair-share.ts';
import { allowedAt } from '../../domain/fairness/rate-limit.ts';
import type { UserSettings } from '../../domain/fairness/settings.ts';
import { STEPS } from '../../domain/step-bounds.ts';
import type { QueueEntry, UserEntry } from '../memory/store/entities.ts';
import type { Store } from '../memory/store/store.ts';
import { startTag } from '../memory/store/tag-order.ts';
import { FLAGS } from '../redis/layout/codes.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { pairOf } from './keys-reader.ts';
import type { Target } from './keys-writer.ts';
import { type Packable, packed } from './msgpack.ts';
import { packedBytes } from './packed-bytes.ts';
import { packedTable } from './packed-names.ts';
import { levelBytes, type Standing, standingOf } from './standing.ts';

const { clock: CLOCK, fair: FAIR, user: USER } = HASH_FIELDS;

/** Writes all queues with their users, and all settings. */
export async function writeQueues(target: Target, store: Store): Promise<void> {
  const { writer, keys } = target;
  for (const queue of store.queues.values()) {
    await writer.member(keys.queues, queue.queue);
    await writeQueue(target, store, queue);
  }
  const configured = new Map<string, Map<string, UserSettings>>();
  const note = (user: string, field: string, settings: UserSettings) => {
    const own = configured.get(user) ?? new Map<string, UserSettings>();
    configured.set(user, own.set(field, settings));
  };
  for (const [user, settings] of store.settingsForAll) note(user, '*', settings);
  for (const { queue, ownSettings } of store.queues.values()) {
    for (const [user, settings] of ownSettings) note(user, queue, settings);
  }
  for (const [user, own] of configured) {
    await writer.member(keys.configured, user);
    for (const [field, settings] of own) {
      if (field === '*') await writer.score(keys.configuredForAll, user, 0);
      await writer.hash(keys.userConfig(user), field, packed(packable(settings)));
    }
  }
}

/** Settings as they are packed. */
function packable(value: object): { readonly [name: string]: Packable | undefined } {
  return JSON.parse(JSON.stringify(value));
}

/** What the users of a queue come to. */
interface Sums {
  readonly classes: Map<string, number>;
  tags: number;
  leaving: number;
  idleLeast: number;
}

async function writeQueue(target: Target, store: Store, queue: QueueEntry): Promise<void> {
  const { writer, keys } = target;
  const sums: Sums = {
    classes: new Map(),
    tags: 0,
    leaving: 0,
    idleLeast: Number.POSITIVE_INFINITY,
  };
  for (const user of queue.users.values()) {
    await writeUser(target, { store, queue, sums }, user);
  }
  for (const [name, count] of sums.classes) {
    if (count < STEPS.spreadFrom) continue;
    const member = Buffer.alloc(STEPS.spreadBytes, 255);
    await writer.score(keys.ready(queue.queue, name), member, Number.POSITIVE_INFINITY);
  }
  const key = keys.fair(queue.queue);
  await writer.hash(keys.clock, `${CLOCK.queue[0]}${queue.queue}`, queueBytes(queue, sums));
  const { settings, meanRun, totals, counts, deadLetters } = queue;
  if (Object.keys(settings).length > 0) {
    await writer.hash(key, FAIR.settings[0], packed(packable(settings)));
  }
  if (meanRun !== undefined) await writer.hash(key, FAIR.mean[0], doubleBytes(meanRun));
  const followed = totals.failed - totals.deadLetters;
  const followers = counts.failed - deadLetters;
  if (followers > 0) await writer.hash(key, FAIR.followers[0], followers);
  if (followed > 0) await writer.hash(key, FAIR.followed[0], followed);
  const { rate } = settings;
  if (rate === undefined) return;
  await writer.score(keys.rated, queue.queue, Math.ceil(allowedAt(rate, queue.tat)));
}

function queueBytes(queue: QueueEntry, { classes, tags, leaving, idleLeast }: Sums): Buffer {
  const { clock, counts, totals, lasts, runnable, readyUsers, parked } = queue;
  const usual = `w${USUAL_WEIGHT}`;
  const { [usual]: last = -1, ...otherLasts } = Object.fromEntries(lasts);
  const { [`p${usual}`]: recordless = 0, ...otherClasses } = Object.fromEntries(classes);
  const isUsed = clock.v > 0 || readyUsers > 0 || tags > 0 || idleLeast < Number.POSITIVE_INFINITY;
  const numbers = packedBytes('queue', {
    virtual: clock.v,
    weights: clock.w,
    epoch: clock.epoch,
    runnable,
    ready: readyUsers,
    idleLeast,
    old: clock.epoch,
    tags,
    joined: isUsed || counts.started > 0 ? 1 : 0,
    scheduled: counts.scheduled,
    deferred: counts.deferred,
    queued: counts.queued,
    started: counts.started,
    ended: counts.finished,
    enqueued: totals.enqueued,
    finished: totals.finished,
    recordless,
    last,
    flags:
      Object.keys(queue.settings).length > 0 || queue.meanRun !== undefined
        ? FLAGS.queue.settings
        : 0,
  });
  const seldom = packedBytes('seldom', {
    arrival: queue.tat,
    keptFailed: counts.failed,
    keptCanceled: counts.canceled,
    failed: totals.failed,
    canceled: totals.canceled,
    retried: totals.retried,
    lost: totals.lost,
    stolen: totals.stolen,
  });
  const rest = [otherClasses, otherLasts, parked.count, leaving].map((one) => packed(one));
  return Buffer.concat([numbers, seldom, ...rest]);
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value, 0);
  return bytes;
}

interface InQueue {
  readonly store: Store;
  readonly queue: QueueEntry;
  readonly sums: Sums;
}

async function writeUser(target: Target, place: InQueue, user: UserEntry): Promise<void> {
  const { writer, keys, now } = target;
  const { store, queue, sums } = place;
  const name = queue.queue;
  const later = user.live - user.queued - user.parked - user.running;
  if (later > 0) await writer.hash(keys.later(name), user.user, later);
  if (user.dueKey !== undefined) {
    await writer.score(keys.scheduledUsers, pairOf(name, user.user), user.dueKey);
  }
  if (user.throttledUntil !== undefined) {
    await writer.score(keys.throttled, pairOf(name, user.user), user.throttledUntil);
  }
  const standing = standingOf(store, user, now);
  if (user.ready && user.class !== undefined) {
    const family = (standing.isRecord ? 'o' : 'p') + user.class.kind;
    sums.classes.set(family, (sums.classes.get(family) ?? 0) + 1);
    const score = user.class.shared ? startTag(user) : user.tag;
    await writer.score(keys.ready(name, family), user.user, score);
  }
  if (standing.isRecord) {
    await writeRecord(target, place, user, standing);
    if (user.leavingIn === queue.clock.epoch) {
      sums.leaving += user.weight;
      await writer.score(keys.leavers(name), `${user.weight}:${user.user}`, startTag(user));
    }
  } else if (standing.isKept) {
    sums.tags++;
    await writer.score(keys.keptTags(name), user.user, user.tag);
  }
  const isListed = standing.isRecord || standing.isKept || user.ready || standing.hasOwn;
  if (isListed || user.queued + user.parked + later > 0) {
    await writer.score(keys.users(name), user.user, 0);
  }
  if (standing.isRecord || !(standing.hasOwn || (user.ready && user.weight !== USUAL_WEIGHT)))
    return;
  await writeOwn(target, user, standing);
}

async function writeOwn(
  { writer, keys }: Target,
  user: UserEntry,
  standing: Standing,
): Promise<void> {
  const { own, hasOwn } = standing;
  const key = keys.user(user.queue.queue, user.user);
  const settings = packedTable('settings', {
    userPart: packable(own),
    keepsRecord: hasOwn ? true : undefined,
  });
  await writer.hash(key, USER.settings[0], settings);
}

async function writeRecord(
  target: Target,
  { queue, sums }: InQueue,
  user: UserEntry,
  standing: Standing,
): Promise<void> {
  const { writer, keys } = target;
  const key = keys.user(queue.queue, user.user);
  const { isCounted, isIdle, own } = standing;
  const flags =
    (user.ready ? FLAGS.user.ready : 0) +
    (user.class?.shared === true ? FLAGS.user.shared : 0) +
    (user.throttledUntil === undefined ? 0 : FLAGS.user.throttled) +
    (isIdle ? FLAGS.user.idle : 0) +
    (isCounted ? 0 : FLAGS.user.uncounted);
  const [level1 = 0, level2 = 0, level3 = 0, level4 = 0, level5 = 0, level6 = 0] = user.counts;
  const numbers = packedBytes('user', {
    tag: user.tag,
    epoch: user.epoch,
    flags,
    weight: user.weight === 0 ? USUAL_WEIGHT : user.weight,
    headroom: user.headroom,
    ...{ level1, level2, level3, level4, level5, level6 },
    live: isCounted ? user.live : 0,
    running: isCounted ? user.running : 0,
    arrival: user.tat,
  });
  await writer.hash(key, USER.numbers[0], numbers);
  const { criticalRun, waited } = user.shares;
  if (criticalRun > 0 || waited.some((turns) => turns > 0)) {
    await writer.hash(key, USER.shares[0], levelBytes({ criticalRun, waited }));
  }
  if (user.meanRun !== undefined) await writer.hash(key, USER.mean[0], doubleBytes(user.meanRun));
  if (Object.keys(own).length > 0 || standing.hasOwn) await writeOwn(target, user, standing);
  if (!isIdle) return;
  const until = startTag(user);
  sums.idleLeast = Math.min(sums.idleLeast, until);
  await writer.score(keys.idle(queue.queue, String(queue.clock.epoch)), user.user, until);
}
