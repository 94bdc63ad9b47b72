/** The fault proxy itself: a fault that does not happen would make every test above it hollow. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../support/redis/fault-proxy.ts';
import { commandOf, FrameReader } from '../../support/redis/resp.ts';

describe('frames', () => {
  const messages = [
    '+OK\r\n',
    ':7\r\n',
    '$-1\r\n',
    '$4\r\na\r\nb\r\n',
    '*-1\r\n',
    '*3\r\n:1\r\n*1\r\n$2\r\nhi\r\n_\r\n',
    '%1\r\n+key\r\n*0\r\n',
    '>2\r\n+message\r\n$1\r\nx\r\n',
    '|1\r\n+ttl\r\n:3\r\n:9\r\n',
    '-ERR no\r\n',
  ];

  it('are the same in chunks of any length', () => {
    const bytes = Buffer.from(messages.join(''));
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new FrameReader();
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        for (const frame of reader.push(bytes.subarray(at, at + size))) {
          found.push(frame.bytes.toString());
        }
      }
      expect(found).toEqual(messages);
    }
  });

  it('give back the words of a command', () => {
    const [frame] = new FrameReader().push(Buffer.from('*2\r\n$3\r\nGET\r\n$4\r\né\r\n\r\n'));
    expect(frame === undefined ? [] : commandOf(frame)).toEqual(['GET', 'é\r\n']);
  });
});

describe('the fault proxy', () => {
  let proxy: FaultProxy;
  let direct: Redis;
  let client: Redis;
  let key: string;

  beforeEach(async (context) => {
    const url = new URL(inject('redisUrl'));
    proxy = await startFaultProxy({ port: Number(url.port), host: url.hostname });
    direct = new Redis(inject('redisUrl'));
    client = new Redis(proxy.url, { retryStrategy: () => 5, maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    key = `proxy-test:${context.task.id}`;
  });

  afterEach(async () => {
    client.disconnect();
    await direct.del(key);
    direct.disconnect();
    await proxy.close();
    expect(proxy.open).toBe(0);
  });

  it('passes what no rule chooses, pipelines and large values included', async () => {
    const large = 'x'.repeat(1_000_000);
    const replies = await client.pipeline().set(key, large).get(key).del(key).exec();
    expect(replies?.map(([error, reply]) => error ?? reply)).toEqual(['OK', large, 1]);
  });

  it('loses a request: the server never saw it', async () => {
    proxy.setRule(([name]) => (name === 'incr' ? { type: 'lose-request', cut: true } : undefined));
    await expect(client.incr(key)).rejects.toThrow();
    expect(await direct.get(key)).toBeNull();
  });

  it('loses a reply: the server ran it', async () => {
    proxy.setRule(([name]) => (name === 'incr' ? { type: 'lose-reply', cut: true } : undefined));
    await expect(client.incr(key)).rejects.toThrow();
    expect(await direct.get(key)).toBe('1');
  });

  it('answers in the place of the server, in order', async () => {
    proxy.setRule(([name]) =>
      name === 'get' ? { type: 'answer', reply: '-LOADING not yet\r\n' } : undefined,
    );
    const replies = await client.pipeline().incr(key).get(key).incr(key).exec();
    expect(replies?.map(([error, reply]) => error?.message ?? reply)).toEqual([
      1,
      'LOADING not yet',
      2,
    ]);
  });

  it('replaces a reply', async () => {
    proxy.setRule(([name]) =>
      name === 'incr' ? { type: 'replace', reply: '$4\r\nwhat\r\n' } : undefined,
    );
    expect(await client.incr(key)).toBe('what');
    expect(await direct.get(key)).toBe('1');
  });

  it('delays, in order, also when the delay ends while chunks wait', async () => {
    proxy.setDelay(40);
    const started = performance.now();
    const first = client.incr(key);
    const second = client.get(key);
    await first;
    expect(performance.now() - started).toBeGreaterThan(70);
    proxy.setDelay(0);
    expect(await second).toBe('1');
  });

  it('freezes and thaws', async () => {
    await client.ping();
    proxy.freeze();
    const reply = client.incr(key);
    expect(await direct.get(key)).toBeNull();
    proxy.thaw();
    expect(await reply).toBe(1);
  });

  it('cuts, refuses and takes clients back', async () => {
    await client.ping();
    proxy.refuse(true);
    expect(proxy.cut()).toBe(1);
    await expect(client.ping()).rejects.toThrow();
    proxy.refuse(false);
    await expect.poll(() => client.ping().catch(() => 'down')).toBe('PONG');
  });
});
