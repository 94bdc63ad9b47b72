import { compareUtf8 } from '../../base/utf8-order.ts';
import type { QueuePatch } from '../../domain/fairness/settings.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { QueueStore } from '../../domain/port/backend.ts';
import type { QueueInfo, Stats, Total } from '../../domain/port/inspection.ts';
import type { Session } from './connection/session.ts';
import { objectOf } from './users.ts';
import { flat, text } from './wire/decode.ts';
import { patchText } from './wire/encode.ts';
import { answersFor } from './wire/parts.ts';

/** See `QueueStore`. */
export class RedisQueues implements QueueStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async set(queue: string, patch: QueuePatch): Promise<void> {
    let said = patchText(patch);
    for (let notified = 0; notified < LIMITS.refreshAtOnce; notified += LIMITS.refreshStep) {
      const [word] = flat(await this.#session.run('queueSet', [queue, said]));
      if (word === 'ok') return;
      said = '';
    }
  }

  async get(queue: string): Promise<QueueInfo | undefined> {
    const [found] = await queuesNamed(this.#session, [queue], decodeQueue);
    return found;
  }

  async list(): Promise<readonly QueueInfo[]> {
    const names = await queueNames(this.#session);
    return (await queuesNamed(this.#session, names, decodeQueue)).filter(
      (one) => one !== undefined,
    );
  }
}

/** Queues per script. */
const QUEUES_STEP = 200;

/** Names of all queues, in order. */
export async function queueNames(session: Session): Promise<readonly string[]> {
  const names = flat(await session.command('queues.list', 'SMEMBERS', [session.keys.queues]));
  return names.map(text).sort(compareUtf8);
}

/** Decodes the script's reply for these queues; `undefined` for an unknown one. */
export function queuesNamed<T>(
  session: Session,
  names: readonly string[],
  decode: (json: string) => T,
): Promise<readonly (T | undefined)[]> {
  return answersFor(names, QUEUES_STEP, async (some) => {
    const reply = flat(await session.run('queueList', some));
    return reply.map((found) => (text(found) === '' ? undefined : decode(text(found))));
  });
}

/** A queue in a reply, with its part of the statistics. */
type QueueReply = Omit<QueueInfo, 'deadLetters'> & {
  readonly totals: Readonly<Record<Total, number>>;
  /** Numbers of failed tasks that failed because another did: kept ones, and all. */
  readonly followers: number;
  readonly followed: number;
};

/** Counts and totals of a queue. */
export function decodeStats(json: string): Stats {
  const { counts, totals, followed } = JSON.parse(json) as QueueReply;
  return { counts, totals: { ...totals, deadLetters: totals.failed - followed } };
}

/** Parses a queue from JSON; dead letters are the failed tasks that did not fail because another did. */
export function decodeQueue(json: string): QueueInfo {
  const packed = JSON.parse(json) as QueueReply;
  const { queue, settings: raw, counts, followers, readyUsers, runnable } = packed;
  const settings = objectOf(raw);
  const { perUser } = settings;
  const whole = perUser === undefined ? settings : { ...settings, perUser: objectOf(perUser) };
  const deadLetters = counts.failed - followers;
  return { queue, settings: whole, counts, deadLetters, readyUsers, runnable };
}
