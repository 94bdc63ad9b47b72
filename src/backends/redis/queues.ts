import { compareUtf8 } from '../../base/utf8-order.ts';
import type { QueueStore } from '../../domain/backend.ts';
import type { QueueInfo } from '../../domain/inspection.ts';
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

/** The reply has totals too, which are parts of the statistics of the whole. */
export function decodeQueue(json: string): QueueInfo {
  const { queue, settings: raw, counts, readyUsers, runnable } = JSON.parse(json) as QueueInfo;
  const settings = objectOf(raw);
  const { perUser } = settings;
  const whole = perUser === undefined ? settings : { ...settings, perUser: objectOf(perUser) };
  return { queue, settings: whole, counts, readyUsers, runnable };
}
