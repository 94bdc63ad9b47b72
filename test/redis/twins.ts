/** Two namespaces on one clock: one may take the short path, the other always takes the long one. */
import { deepStrictEqual } from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { inject } from 'vitest';
import { keysOf } from '../../src/backends/redis/keys.ts';
import { backendOf } from '../../src/backends/redis/redis-backend.ts';
import { defineScript, type Script } from '../../src/backends/redis/script.ts';
import { manualScripts, type Scripts } from '../../src/backends/redis/scripts.ts';
import type { Backend } from '../../src/domain/backend.ts';
import { RETENTION } from './faults-kit.ts';

/** The verbs that have a short path. */
export type ShortVerb = 'enqueue' | 'lease' | 'settle';

export interface Twin {
  readonly backend: Backend;
  readonly prefix: string;
}

export class Twins {
  readonly #admin: Redis;
  readonly #short: Twin;
  readonly #long: Twin;

  private constructor(admin: Redis, short: Twin, long: Twin) {
    this.#admin = admin;
    this.#short = short;
    this.#long = long;
  }

  static async open(admin: Redis, name: string, startMs: number): Promise<Twins> {
    const short = twin(`${name}-short`, counted(manualScripts(true), `${name}-long-steps`));
    const long = twin(`${name}-long`, manualScripts(false));
    const twins = new Twins(admin, short, long);
    await twins.setTime(startMs);
    await twins.both((backend) => backend.open({ retention: RETENTION }));
    return twins;
  }

  /** Does the same in both, which must answer the same; gives the answer. */
  async both<T>(act: (backend: Backend, prefix: string) => Promise<T>): Promise<T> {
    const answer = await act(this.#short.backend, this.#short.prefix);
    deepStrictEqual(await act(this.#long.backend, this.#long.prefix), answer);
    return answer;
  }

  /** Every key must hold the same, byte for byte; but a map of Lua is packed in no settled order. */
  async mustBeSame(): Promise<void> {
    deepStrictEqual(await this.#dump(this.#short.prefix), await this.#dump(this.#long.prefix));
  }

  async setTime(ms: number): Promise<void> {
    const fields = { manual_s: Math.floor(ms / 1_000), manual_us: (ms % 1_000) * 1_000 + 7 };
    for (const { prefix } of [this.#short, this.#long]) {
      await this.#admin.hset(keysOf(prefix).clock, fields);
    }
  }

  /** How often the first one took the long path after all. */
  async longSteps(name: string): Promise<Readonly<Record<ShortVerb, number>>> {
    const got = await this.#admin.hmget(`${name}-long-steps`, 'enqueue', 'lease', 'settle');
    const [enqueue = 0, lease = 0, settle = 0] = got.map(Number);
    return { enqueue, lease, settle };
  }

  async close(): Promise<void> {
    for (const { backend, prefix } of [this.#short, this.#long]) {
      await backend.close();
      const keys = await this.#admin.keys(`${prefix}:*`);
      if (keys.length > 0) await this.#admin.unlink(keys);
    }
  }

  async #dump(prefix: string): Promise<Readonly<Record<string, unknown>>> {
    const keys = (await this.#admin.keys(`${prefix}:*`)).sort();
    const entries = keys.map(async (key): Promise<[string, unknown]> => {
      return [key.slice(prefix.length), await this.#content(key)];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async #fieldsOf(key: string, hash: Readonly<Record<string, Buffer>>): Promise<unknown> {
    const { s } = hash;
    if (!key.endsWith(':fair') || s === undefined) return bytesOf(hash);
    const maps = await this.#admin.eval(UNPACK, 0, s.subarray(NUMBERS_BYTES));
    return {
      ...bytesOf({ ...hash, s: s.subarray(0, NUMBERS_BYTES) }),
      maps: JSON.parse(String(maps)) as unknown,
    };
  }

  async #content(key: string): Promise<unknown> {
    switch (await this.#admin.type(key)) {
      case 'hash':
        return this.#fieldsOf(key, await this.#admin.hgetallBuffer(key));
      case 'zset':
        return this.#admin.zrange(key, '0', '-1', 'WITHSCORES');
      case 'list':
        return this.#admin.lrange(key, 0, -1);
      case 'set':
        return (await this.#admin.smembers(key)).sort();
      default:
        return this.#admin.getBuffer(key);
    }
  }
}

/** Of what a queue's numbers are packed into, before its maps of classes (lib/lane.lua). */
const NUMBERS_BYTES = 172;
const UNPACK = 'return cjson.encode({ cmsgpack.unpack(ARGV[1]) })';

function bytesOf(hash: Readonly<Record<string, Buffer>>): Readonly<Record<string, string>> {
  const entries = Object.entries(hash).map(([field, value]) => [field, value.toString('latin1')]);
  return Object.fromEntries(entries);
}

function twin(prefix: string, scripts: Scripts): Twin {
  return { prefix, backend: backendOf(inject('redisUrl'), { prefix }, scripts) };
}

/** What the long path begins with, and no short one reaches. */
const LONG_PATH = /^local F = /m;

/** The scripts, which count in `key` how often they take the long path. */
function counted(scripts: Scripts, key: string): Scripts {
  const count = (script: Script): Script =>
    defineScript(
      script.name,
      script.text.replace(LONG_PATH, `redis.call('HINCRBY', '${key}', '${script.name}', 1)\n$&`),
    );
  const { enqueue, lease, settle } = scripts;
  return { ...scripts, enqueue: count(enqueue), lease: count(lease), settle: count(settle) };
}
