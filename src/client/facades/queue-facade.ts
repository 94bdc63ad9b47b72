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

/** One queue: its settings and its counts. */
export interface QueueStatus extends Omit<QueueInfo, 'settings'> {
  /** Effective settings, weights in turns. */
  readonly settings: QueueSettingsInfo;
}

/** `loom.queues`: queues and their settings. */
export class Queues {
  readonly #connection: SharedBackend;

  /** @internal */
  constructor(connection: SharedBackend) {
    this.#connection = connection;
  }

  /** Every queue that had a task or a setting, in any order. */
  async list(): Promise<readonly QueueStatus[]> {
    const { queues } = await this.#connection.open();
    return (await queues.list()).map(statusOf);
  }

  /** One queue; `undefined` if it never had a task or a setting. */
  async get(queue: string): Promise<QueueStatus | undefined> {
    const name = checkName('queue', queue);
    const { queues } = await this.#connection.open();
    const info = await queues.get(name);
    return info === undefined ? undefined : statusOf(info);
  }

  /** Changes the given settings and no others. */
  set(queue: string, settings: QueueOptions): Promise<void> {
    return this.#patch(queue, () => queuePatch(settings));
  }

  /** Pauses this queue: none of its tasks starts; running ones continue. */
  pause(queue: string): Promise<void> {
    return this.#patch(queue, () => ({ paused: true }));
  }

  /** Ends the pause of this queue. */
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
