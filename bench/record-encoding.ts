/**
 * The cost of the encoding of a task record in Redis: bytes per waiting task, and server time per
 * task to store, lease and end it, 100 tasks per script. The figures of
 * docs/adr/0024-one-path-on-a-lean-layout.md come from here: `npx tsx bench/record-encoding.ts`.
 */
import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redis/redis-server.ts';

const TASKS = 100_000;
const BATCH = 100;
const RUNS = 3;
const PAYLOAD = JSON.stringify({ order: 'o-000000', note: 'x'.repeat(70) });

/** Three scripts, each over all ids of ARGV[2..]; ARGV[1] is the payload. */
interface Encoding {
  readonly name: string;
  readonly store: string;
  readonly lease: string;
  readonly end: string;
}

/** Numbers that change during the life of a task, packed like in the real scripts. */
const PACK = "struct.pack('<BBdIIIdddIc0', state, 0, i, 0, 0, 0, now, now, token, 6, 'worker')";
const NUMBERS = 'local now, token, i = 1764200000000, 1764200000000000, 1\n';
const EACH = 'for i = 2, #ARGV do local id = ARGV[i]\n';
const TEXT =
  "'1764200000000\\0' .. '3\\0' .. '1\\0' .. 'invoice\\0' .. 'default\\0' .. '{}\\0' .. '4\\0' .. 'acme'";

const ENCODINGS: readonly Encoding[] = [
  {
    name: 'HASH, one field per fact',
    store: `${EACH} redis.call('HSET', 't:' .. id, 'name', 'invoice', 'queue', 'default', 'user',
      'acme', 'level', 3, 'cost', 1, 'created', 1764200000000, 'state', 'queued', 'seq', i,
      'options', '{}', 'payload', ARGV[1]) end`,
    lease: `local out = {}\n${EACH}
      out[#out + 1] = redis.call('HGETALL', 't:' .. id)
      redis.call('HSET', 't:' .. id, 'state', 'started', 'token', '1764200000000000-abcdefgh',
        'until', 1764200015000, 'leased', 1764200000000, 'worker', 'worker') end return out`,
    end: `${EACH} local got = redis.call('HMGET', 't:' .. id, 'state', 'token', 'user', 'queue')
      redis.call('HSET', 't:' .. id, 'state', 'finished', 'ended', 1764200001000,
        'settled', got[2], 'result', '{"ok":true}') end`,
  },
  {
    name: 'HASH, all facts in one field',
    store: `${NUMBERS}local state = 3\n${EACH}
      redis.call('HSET', 't:' .. id, 'r', ${PACK} .. ${TEXT} .. ARGV[1]) end`,
    lease: `${NUMBERS}local state, out = 4, {}\n${EACH}
      local r = redis.call('HGET', 't:' .. id, 'r')
      out[#out + 1] = r
      redis.call('HSET', 't:' .. id, 'r', ${PACK} .. string.sub(r, 60)) end return out`,
    end: `${NUMBERS}local state = 5\n${EACH}
      local r = redis.call('HGET', 't:' .. id, 'r')
      redis.call('HSET', 't:' .. id, 'r', ${PACK} .. string.sub(r, 60), 'result',
        '{"ok":true}') end`,
  },
  {
    name: 'HASH, fixed text and packed state apart',
    store: `${EACH} redis.call('HSET', 't:' .. id, 'f', ${TEXT} .. ARGV[1]) end`,
    lease: `${NUMBERS}local state, out = 4, {}\n${EACH}
      local got = redis.call('HMGET', 't:' .. id, 'f', 's')
      out[#out + 1] = got[1]
      redis.call('HSET', 't:' .. id, 's', ${PACK}) end return out`,
    end: `${NUMBERS}local state = 5\n${EACH}
      local s = redis.call('HGET', 't:' .. id, 's')
      redis.call('HSET', 't:' .. id, 's', ${PACK}, 'result', '{"ok":true}') end`,
  },
  {
    name: 'STRING, all facts',
    store: `${NUMBERS}local state = 3\n${EACH}
      redis.call('SET', 't:' .. id, ${PACK} .. ${TEXT} .. ARGV[1]) end`,
    lease: `${NUMBERS}local state, out = 4, {}\n${EACH}
      local r = redis.call('GET', 't:' .. id)
      out[#out + 1] = r
      redis.call('SET', 't:' .. id, ${PACK} .. string.sub(r, 60)) end return out`,
    end: `${NUMBERS}local state = 5\n${EACH}
      local r = redis.call('GET', 't:' .. id)
      redis.call('SET', 't:' .. id, ${PACK} .. string.sub(r, 60) .. '{"ok":true}') end`,
  },
];

const server = await startRedis();
const redis = new Redis(server.url);
try {
  for (const encoding of ENCODINGS) {
    const runs: Figures[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await measure(encoding));
    const median = (pick: (figures: Figures) => number): number =>
      runs.map(pick).sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
    const figures = {
      encoding: encoding.name,
      tasks: TASKS,
      batch: BATCH,
      bytes: Math.round(median((one) => one.bytes)),
      storeUs: round(median((one) => one.storeUs)),
      leaseUs: round(median((one) => one.leaseUs)),
      endUs: round(median((one) => one.endUs)),
    };
    console.log(JSON.stringify(figures));
  }
} finally {
  redis.disconnect();
  await server.stop();
}

interface Figures {
  /** Of the record alone, per waiting task. */
  readonly bytes: number;
  /** Server time per task, µs. */
  readonly storeUs: number;
  readonly leaseUs: number;
  readonly endUs: number;
}

async function measure({ store, lease, end }: Encoding): Promise<Figures> {
  await redis.flushall();
  const before = await usedMemory();
  const storeUs = await timed(store);
  const bytes = ((await usedMemory()) - before) / TASKS;
  return { bytes, storeUs, leaseUs: await timed(lease), endUs: await timed(end) };
}

async function timed(script: string): Promise<number> {
  const sha = String(await redis.script('LOAD', script));
  await redis.config('RESETSTAT');
  for (let from = 0; from < TASKS; from += BATCH) {
    const ids = Array.from(
      { length: BATCH },
      (_, at) => `a1b2c3d4-${`${from + at}`.padStart(8, '0')}`,
    );
    await redis.evalsha(sha, 0, PAYLOAD, ...ids);
  }
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(stats)?.[1]) / TASKS;
}

async function usedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
