import type { SharedBackend } from '../../backends/shared-backend.ts';
import { checkName } from '../../domain/fairness/names.ts';
import type { QueuePatch } from '../../domain/fairness/settings.ts';
import type { QueueInfo } from '../../domain/port/backend.ts';
import {
  type QueueOptions,
  type QueueSettingsInfo,
  queuePatch,
  queueSettingsInfo,
} from './settings-options.ts';

/** One queue: its settings and what is in it. */
export interface QueueStatus extends Omit<QueueInfo, 'settings'> {
  /** In force, weights in turns. */
  readonly settings: QueueSettingsInfo;
}

/** `loom.queues`: the queues, and what holds for each. */
export class Queues {
  readonly #connection: SharedBackend;

  /** @internal */
  constructor(connection: SharedBackend) {
    this.#connection = connection;
  }

  /** Every queue that something was in or set for, in no given order. */
  async list(): Promise<readonly QueueStatus[]> {
    const { queues } = await this.#connection.open();
    return (await queues.list()).map(statusOf);
  }

  /** One queue; `undefined` when nothing was ever in it. */
  async get(queue: string): Promise<QueueStatus | undefined> {
    const name = checkName('queue', queue);
    const { queues } = await this.#connection.open();
    const info = await queues.get(name);
    return info === undefined ? undefined : statusOf(info);
  }

  /** Changes what it says and nothing else. */
  set(queue: string, settings: QueueOptions): Promise<void> {
    return this.#patch(queue, () => queuePatch(settings));
  }

  /** Starts nothing more of this queue; what runs goes on. */
  pause(queue: string): Promise<void> {
    return this.#patch(queue, () => ({ paused: true }));
  }

  /** Starts tasks of this queue again. */
  resume(queue: string): Promise<void> {
    return this.#patch(queue, () => ({ paused: null }));
  }

  async #patch(queue: string, patch: () => QueuePatch): Promise<void> {
    const name = checkName('queue', queue);
    const change = patch();
    const { queues } = await this.#connection.open();
    await queues.set(name, change);
  }
}

function statusOf({ settings, ...rest }: QueueInfo): QueueStatus {
  return { ...rest, settings: queueSettingsInfo(settings) };
}
