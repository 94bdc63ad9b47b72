/** docs/acl.example: the whole contract as that account, which may do nothing that is not needed. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_COMMANDS, renderAcl, scriptCommands } from '../../../scripts/docs/acl-doc.ts';
import { backendOf } from '../../../src/backends/redis/redis-backend.ts';
import { manualScripts } from '../../../src/backends/redis/wire/scripts.ts';
import { describeBackend, type Harness } from '../../../src/conformance.ts';
import { read } from '../../support/files.ts';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';
import { codeOf, kitOn } from './kit.ts';

/** What is sent for the test itself: the clock that it sets. */
const OF_THE_TEST = ['hmget'];
/** What this test's own account sends. */
const OF_ADMIN = ['hset', 'flushall', 'acl', 'monitor'];
/** What is sent when a stream has been left alone for a second: not in every test. */
const IN_TIME = 'unsubscribe';
/** Sent where the server lets no function do what is asked. */
const WITHOUT_FUNCTIONS = 'evalsha';
/** What ioredis sends by itself and can do without. */
const OF_IOREDIS = ['client|setinfo', 'hello', 'auth'];

let server: RedisServer;
let admin: Redis;
let monitor: Redis;
let watcher: Redis;
let url: string;
/** Commands that clients sent, and that scripts called; a refused one is not shown. */
const sent = new Set<string>();
const called = new Set<string>();

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  const [, , ...rules] = accountOf(read('docs/acl.example'));
  await admin.call('ACL', 'SETUSER', 'fairloom', ...rules);
  url = `redis://fairloom:change-this-password@127.0.0.1:${server.port}`;
  watcher = new Redis(server.url);
  monitor = await watcher.monitor();
  monitor.on('monitor', (_time: string, words: string[], source: string) => {
    const [name = '', second = ''] = words.map((word) => word.toLowerCase());
    const whole = name === 'client' || name === 'function' ? `${name}|${second}` : name;
    (source.startsWith('lua') ? called : sent).add(whole);
  });
});

afterAll(async () => {
  monitor.disconnect();
  watcher.disconnect();
  admin.disconnect();
  await server.stop();
});

/** The words of the account's line. */
function accountOf(example: string): readonly string[] {
  const line = example.split('\n').find((text) => text.startsWith('user '));
  return line?.split(' ') ?? [];
}

describe('docs/acl.example', () => {
  it('is what "npm run docs" writes', () => {
    expect(read('docs/acl.example')).toBe(renderAcl());
  });

  it('refuses other keys, channels and commands', async () => {
    const client = new Redis(url);
    for (const [name = '', ...args] of [
      ['get', 'other'],
      ['hget', 'other', 'a'],
      ['subscribe', 'other'],
      ['keys', '*'],
      ['scan', '0'],
      ['flushall'],
      ['config', 'get', 'requirepass'],
      ['client', 'list'],
      ['script', 'flush'],
      ['eval', "return redis.call('DEL', 'other')", '0'],
    ]) {
      await expect(client.call(name, ...args)).rejects.toThrow(/NOPERM|permission|can't access/);
    }
    client.disconnect();
  });

  it('an account that lacks a command of a script is told so', async () => {
    await admin.call('ACL', 'SETUSER', 'fairloom', '-zadd');
    const kit = await kitOn(url, 'fq');
    const code = await codeOf(kit.sendOne());
    await admin.call('ACL', 'SETUSER', 'fairloom', '+zadd');
    await admin.flushall();
    expect(code).toBe('BACKEND_UNSUPPORTED');
  });

  it('is told to a caller whose prefix is not its own', async () => {
    expect(await codeOf(kitOn(url, 'elsewhere'))).toBe('BACKEND_UNSUPPORTED');
  });
});

/** The suite runs whole elsewhere; here every 15th case, and all that send what others do not. */
const api = someCases(
  { describe, it, expect },
  {
    every: rounds(1, 15),
    always: /reconcile|wait|woken|batch|ping|long snapshot|counted by kind/,
    // A monitor takes seconds to print what these send, a mebibyte among them.
    never: new RegExp(`mebibyte|${AT_SCALE.source}`),
  },
);

describeBackend('redis as docs/acl.example', api, async (): Promise<Harness> => {
  const backend = backendOf(url, {}, manualScripts());
  let now = Date.UTC(2026, 0, 5, 12);
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    const micros = (now % 1_000) * 1_000;
    await admin.hset('fq:clock-by-hand', 'manual_s', Math.floor(now / 1_000), 'manual_us', micros);
  };
  await advance(0);
  return {
    backend,
    advance,
    now: () => now,
    close: async () => {
      await backend.close();
      await admin.flushall();
    },
  };
});

describe('the commands of docs/acl.example', () => {
  it('are exactly those that were sent', async () => {
    const needed = [...sent].filter((name) => ![...OF_IOREDIS, ...OF_ADMIN].includes(name));
    const all = [...new Set([...needed, IN_TIME, WITHOUT_FUNCTIONS])];
    expect(all.toSorted()).toEqual(Object.keys(CLIENT_COMMANDS).toSorted());
  });

  it('are exactly those that scripts called', () => {
    const known = new Set(scriptCommands());
    const missing = [...called].filter((name) => !known.has(name) && !OF_THE_TEST.includes(name));
    expect(missing).toEqual([]);
    expect(called.size).toBeGreaterThan(30);
  });
});
