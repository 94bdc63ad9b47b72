/** Changes to keys that no program should make. */
import type { Redis } from 'ioredis';

export type Mutation = 'delete' | 'cut' | 'type' | 'bytes';
type Rng = (below: number) => number;

/** Whole numbers below a bound, the same for the same seed. */
export function rngOf(seed: number): Rng {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(below, 1);
  };
}

/** What a key is for: its name up to what is free in it. */
export function familyOf(prefix: string, key: string): string {
  const rest = key.slice(prefix.length + 1).replace(/^queue:[^:]+:/, '');
  const [first = '', second = ''] = rest.split(':');
  return /^(deps|state|ended|kept|scheduler|schedules)$/.test(first) && second !== ''
    ? `${first}:${second}`
    : first;
}

/** `delete`: the key, or a member; `cut`: half of it, or a field to ten bytes. */
export async function mutate(
  { raw }: { readonly raw: Redis },
  key: string,
  kind: Mutation,
  rng: Rng,
): Promise<void> {
  const type = await raw.type(key);
  if (kind === 'type') {
    await raw.del(key);
    await (type === 'string' ? raw.rpush(key, 'x') : raw.set(key, 'x'));
  } else if (kind === 'delete' && rng(2) === 0) {
    await raw.del(key);
  } else {
    await CHANGES[type]?.(raw, key, kind, rng);
  }
}

type Change = (raw: Redis, key: string, kind: Mutation, rng: Rng) => Promise<unknown>;

const CHANGES: Readonly<Record<string, Change>> = {
  hash: async (raw, key, kind, rng) => {
    const fields = (await raw.hkeysBuffer(key)).sort((a, b) => a.compare(b));
    if (kind === 'cut' && fields.length > 1 && rng(2) === 0) {
      return raw.hdel(key, ...fields.filter((_, at) => at % 2 === 0));
    }
    const field = fields[rng(fields.length)] ?? Buffer.from('x');
    if (kind === 'delete') return raw.hdel(key, field);
    const value = (await raw.hgetBuffer(key, field)) ?? Buffer.alloc(0);
    return raw.hset(key, field, kind === 'cut' ? value.subarray(0, 10) : bytes(rng));
  },
  list: async (raw, key, kind, rng) => {
    const length = await raw.llen(key);
    if (kind === 'bytes') return raw.lset(key, rng(length), bytes(rng));
    if (kind === 'delete') return raw.lpop(key);
    return length > 1 ? raw.ltrim(key, Math.ceil(length / 2), -1) : raw.del(key);
  },
  zset: async (raw, key, kind, rng) => {
    const size = await raw.zcard(key);
    if (kind === 'bytes') return raw.zadd(key, rng(1_000), bytes(rng));
    if (kind === 'delete') return raw.zpopmin(key);
    return raw.zremrangebyrank(key, 0, Math.floor(size / 2));
  },
  set: async (raw, key, kind, rng) => {
    const members = await raw.smembers(key);
    if (kind === 'bytes') return raw.sadd(key, bytes(rng));
    return raw.srem(key, ...members.filter((_, at) => at % 2 === 0));
  },
  string: async (raw, key, kind, rng) => {
    const value = (await raw.getBuffer(key)) ?? Buffer.alloc(0);
    return raw.set(key, kind === 'cut' ? value.subarray(0, 10) : bytes(rng));
  },
};

function bytes(rng: Rng): Buffer {
  return Buffer.from(Array.from({ length: 1 + rng(40) }, () => rng(256)));
}
