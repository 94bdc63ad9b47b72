/** One connection of a history: its calls run one after another, beside those of all others. */
import { newClient, type RedisClient } from '../../../src/backends/redis/connection/client.ts';
import { connectionTo } from '../../../src/backends/redis/connection/target.ts';
import { backendOf } from '../../../src/backends/redis/redis-backend.ts';
import type { Scripts } from '../../../src/backends/redis/wire/scripts.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import type { RedisPlace } from '../../support/redis/redis-server.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { type Asked, answerOf } from './asked.ts';

/** Where a history is. */
export interface Scene {
  readonly place: RedisPlace;
  readonly prefix: string;
}

/** A call with its name in this history. */
export interface Sent {
  readonly id: string;
  readonly call: Asked;
  /** So much time passes before it. */
  readonly passMs?: number | undefined;
}

export class Actor {
  readonly backend: Backend;
  readonly #client: RedisClient;
  /** The call that goes on, as its steps write it down. */
  #current = '';
  #line: Promise<unknown> = Promise.resolve();

  constructor({ place, prefix }: Scene, scripts: Scripts) {
    this.#client = newClient(connectionTo(place));
    this.#client.on('error', () => undefined);
    const call = this.#client.call.bind(this.#client);
    this.#client.call = async (command, args) => {
      if (this.#client.status === 'end') await this.#client.connect();
      if (!isScript(command)) return call(command, args);
      const [script = '', count = '0', clock = '', ...rest] = args.slice(0);
      if (String(count) !== '1') throw new Error(`a script with ${count} keys`);
      return call(command, [script, 2, clock, this.#current, ...rest]);
    };
    this.backend = backendOf(this.#client, { prefix }, scripts);
  }

  /** Sends a call when all before it are answered. */
  ask({ id, call, passMs }: Sent): Promise<unknown> {
    const answer = this.#line.then(() => {
      const passes = passMs === undefined ? '' : `+${passMs} `;
      this.#current = `${passes}${JSON.stringify({ id, call })}`;
      return answerOf(this.backend, call);
    });
    this.#line = answer.catch(() => undefined);
    return answer;
  }

  /** The connection breaks; whether the call that goes on is done, its client does not hear. */
  cut(): void {
    this.#client.disconnect();
  }

  /** When all is answered. */
  async rest(): Promise<void> {
    await this.#line;
    this.#current = '';
  }

  async close(): Promise<void> {
    await this.backend.close();
    this.#client.disconnect();
  }
}
