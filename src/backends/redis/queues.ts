import { compareUtf8 } from '../../base/utf8-order.ts';
import type { QueueStore } from '../../domain/backend.ts';
import type { QueueInfo, Stats, Total } from '../../domain/inspection.ts';
import type { QueuePatch } from '../../domain/settings.ts';
import { flat, text } from './decode.ts';
import { patchText } from './encode.ts';
import type { Session } from './session.ts';
import { objectOf } from './users.ts';

/** See `QueueStore`. */
export class RedisQueues implements QueueStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async set(queue: string, patch: QueuePatch): Promise<void> {
    await this.#session.run('queueSet', [queue, patchText(patch)]);
  }

  async get(queue: string): Promise<QueueInfo | undefined> {
    const [found] = flat(await this.#session.run('queueList', [queue]));
    return found === undefined ? undefined : decodeQueue(text(found));
  }

  async list(): Promise<readonly QueueInfo[]> {
    const reply = flat(await this.#session.run('queueList', ['']));
    return reply
      .map((found) => decodeQueue(text(found)))
      .sort((a, b) => compareUtf8(a.queue, b.queue));
  }
}

/** A queue as scripts tell it, with its part of the statistics of the whole. */
type ToldQueue = Omit<QueueInfo, 'deadLetters'> & {
  readonly totals: Readonly<Record<Total, number>>;
  /** Failed tasks that only followed others: those that are kept, and ever. */
  readonly followers: number;
  readonly followed: number;
};

/** Counts and totals of a queue. */
export function decodeStats(json: string): Stats {
  const { counts, totals, followed } = JSON.parse(json) as ToldQueue;
  return { counts, totals: { ...totals, deadLetters: totals.failed - followed } };
}

export function decodeQueue(json: string): QueueInfo {
  const told = JSON.parse(json) as ToldQueue;
  const { queue, settings: raw, counts, followers, readyUsers, runnable } = told;
  const settings = objectOf(raw);
  const { perUser } = settings;
  const whole = perUser === undefined ? settings : { ...settings, perUser: objectOf(perUser) };
  const deadLetters = counts.failed - followers;
  return { queue, settings: whole, counts, deadLetters, readyUsers, runnable };
}
