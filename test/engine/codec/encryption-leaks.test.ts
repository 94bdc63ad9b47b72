/**
 * What users and handlers wrote is nowhere where it could be read by those who have no key: every
 * feature is used with a secret, and the secret is looked for in all that left the process.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import * as client from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { carrierOf, jsonArgs, partsOf } from '../../../src/backends/file/log/calls.ts';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { TASK_STATES, type TaskRow } from '../../../src/domain/task/task.ts';
import { prometheus } from '../../../src/metrics.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { event } from '../../../src/workflow/event.ts';
import { type Flow, flow } from '../../../src/workflow/flow.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { xcomKey } from '../../../src/workflow/xcom-key.ts';
import { eachBackend, type Harness, openRedis } from '../../support/backends.ts';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.ts';
import { refusal, settled } from '../../support/runs.ts';
import { type Spans, spans } from '../../support/spans.ts';

/** In every value, and in nothing else. */
const SECRET = 'MARKER7f3a';

const notes = channel<{ note: { text: string }; seen: string[]; count: number; word: string }>(
  'notes',
);
const rows = xcomKey<string>('rows');

const plainTask = task('plain', { xcom: true }, async (input: unknown) => `${shown(input)} again`);
const sharing = task('sharing', async (input: unknown, ctx) => {
  const own = ctx.channel(notes);
  await own.set('note', { text: SECRET });
  await own.set('word', SECRET);
  await own.append('seen', SECRET);
  await own.live.append('seen', `${SECRET} live`);
  await own.add('count', 7);
  await ctx.xcom.push(rows, SECRET);
  ctx.log.info('seen', { taskId: ctx.taskId });
  return { input, seen: await own.get('seen'), note: await own.get('note') };
});
const failing = task('failing', { retries: 1, backoff: { base: 0 } }, async () => {
  const cause = new RangeError(`cause ${SECRET}`);
  throw Object.assign(new TypeError(`no ${SECRET} ${'x'.repeat(1_200)}`, { cause }), {
    details: { text: SECRET },
  });
});
const worded = task(
  'worded',
  {
    decider: (outcome) => ({
      type: 'dead-letter',
      failureType: 'error',
      reason: `decided ${SECRET}`,
      error: outcome.type === 'failed' ? outcome.error : '{}',
    }),
  },
  async () => {
    throw new Error(SECRET);
  },
);
const hanging = task('hanging', async (_: string, ctx) => {
  await new Promise((_resolve, reject) => {
    ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
  });
});
const literal = flow('literal', (f: Flow<string>) => {
  const one = f.step(plainTask, `${SECRET} literal`);
  return f.step(sharing.as('second'), one);
});
const grouped = parallel({ a: plainTask.as('left'), b: sharing.pipe(plainTask.as('right')) });
const choosing = dynamic('choosing', async (input: string, ctx) => {
  const inner = await ctx.run(plainTask, `${SECRET} inside`);
  return ctx.next(literal, `${input} ${inner}`);
});
const leaving = dynamic('leaving', async (_: string, ctx) => ctx.cancelRun(`left ${SECRET}`));
const ending = dynamic('ending', async (_: string, ctx) => ctx.terminate(SECRET));

const hearing = task('hearing', async (_: undefined, ctx) => [
  await ctx.waitFor(signal('go')),
  await ctx.waitFor(event('paid', 'o:1')),
  await ctx.ask({ title: `${SECRET}?`, choices: ['yes', 'no'], for: ['ann'], form: anyForm }),
]);
const telling = task('telling', async (_: undefined, ctx) => {
  const words = ctx.stream('words');
  await words.write({ said: SECRET });
  void words.write(SECRET);
  await words.close();
});
const anyForm: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};

const TASKS = [
  ...[hearing, telling],
  ...[plainTask, sharing, failing, worded, hanging, literal, grouped, choosing, leaving, ending],
];

/** Every line, of any level. */
function keeper(): { readonly log: Logger; readonly lines: unknown[] } {
  const lines: unknown[] = [];
  const keep = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  return { lines, log: { debug: keep, info: keep, warn: keep, error: keep } };
}

/** Uses all that carries words of users or handlers. */
async function useAll(loom: Fairloom, harness: Harness): Promise<readonly string[]> {
  const done = (promise: Promise<unknown>): Promise<unknown> => settled(harness, promise);
  await loom.worker({ id: 'w-1' }).start();
  const handle = await loom.enqueue(plainTask, SECRET, { idempotencyKey: 'key-1' });
  expect(await done(handle.result())).toBe(`'${SECRET}' again`);
  const failed = await loom.enqueue(failing, undefined as never);
  await done(refusal(failed.result()));
  const decided = await loom.enqueue(worded, undefined as never);
  await done(refusal(decided.result()));
  const after = await loom.enqueue(plainTask, `${SECRET} after`, {
    dependsOn: [failed.id],
    onUpstreamFailure: 'run',
  });
  await done(after.result());
  const running = await loom.enqueue(hanging, SECRET);
  await harness.until(async () => (await loom.tasks.get(running.id))?.state === 'started');
  await loom.tasks.cancel(running.id, { reason: `stop ${SECRET}` });
  await done(refusal(running.result()));
  const later = await loom.enqueue(plainTask, SECRET, { delay: '1d' });
  await loom.tasks.cancel(later.id, { reason: `never ${SECRET}` });
  for (const debounced of ['first', 'second']) {
    await loom.enqueue(plainTask, `${SECRET} ${debounced}`, {
      debounce: { key: 'doc', wait: '1h' },
    });
  }
  const runs: string[] = [];
  for (const form of ['dispatched', 'driven'] as const) {
    for (const step of [literal, grouped]) {
      const run = await loom.enqueue(step as never, SECRET as never, { form } as never);
      await done(run.result());
      runs.push(run.id);
    }
  }
  for (const step of [choosing, leaving, ending]) {
    const run = await loom.enqueue(step.pipe(plainTask.as('rest')) as never, SECRET as never);
    await done(run.result().catch(() => undefined));
    runs.push(run.id);
  }
  const stopped = await loom.enqueue(literal as never, SECRET as never, { delay: '1d' } as never);
  await loom.runs.cancel(stopped.id, { reason: `no run ${SECRET}` });
  const paused = await loom.enqueue(literal as never, SECRET as never, { delay: '1d' } as never);
  const reason = `look ${SECRET}`;
  expect(await loom.runs.pause(paused.id, { reason })).toMatchObject({ reason });
  expect((await loom.runs.get(paused.id))?.paused).toMatchObject({ reason });
  expect(shown(await loom.tasks.explain(paused.id))).toContain(reason);
  await loom.schedules.set('often', { every: '5m', task: plainTask, input: `${SECRET} often` });
  await harness.clock.advance('10m');
  await harness.quiet();
  const waits = await useWaits(loom, harness);
  await loom.xcom.push('outside', SECRET);
  expect(await loom.xcom.pull('outside')).toBe(SECRET);
  return [
    handle.id,
    failed.id,
    decided.id,
    after.id,
    running.id,
    later.id,
    ...runs,
    stopped.id,
    paused.id,
    ...waits,
  ];
}

/** What comes to tasks that wait, what they ask, and what they tell. */
async function useWaits(loom: Fairloom, harness: Harness): Promise<readonly string[]> {
  const heard = await loom.enqueue(hearing, undefined as never);
  const asked = async () => (await loom.asks.list()).items[0];
  await loom.signal(heard.id, 'go', { text: SECRET }, { signalId: 's1' });
  await harness.until(async () => {
    await loom.publish('paid', 'o:1', { text: SECRET });
    return (await asked()) !== undefined;
  });
  const ask = await asked();
  expect(ask?.title).toBe(`${SECRET}?`);
  const answer = { choice: 'yes', by: 'ann', comment: SECRET, form: { text: SECRET } };
  await loom.asks.answer(ask?.id ?? '', answer);
  expect(shown(await settled(harness, heard.result())).split(SECRET)).toHaveLength(5);
  const told = await loom.enqueue(telling, undefined as never);
  await settled(harness, told.result());
  const words: unknown[] = [];
  for await (const item of loom.streams.read(told.id, 'words')) words.push(item);
  expect(shown(words).split(SECRET)).toHaveLength(3);
  const { asks, streams } = harness.backend;
  const kept = [await asks.get(ask?.id ?? ''), await streams.read(told.id, 'words', 0, 10)];
  expect(shown(kept).match(/enc:k1:/g)).toHaveLength(4);
  expect(shown(kept)).not.toContain(SECRET);
  // No task waits for this one.
  const later = await loom.enqueue(plainTask, SECRET, { delay: '1d' });
  await loom.signal(later.id, 'kept', SECRET);
  return [heard.id, told.id, later.id];
}

/** Everything that the port gives of a store, as it is stored. */
async function stored(backend: Backend, ids: readonly string[]): Promise<unknown> {
  const all: TaskRow[] = [];
  for (const state of TASK_STATES) {
    const user = state === 'queued' ? { user: 'default' } : {};
    all.push(
      ...(await backend.inspect.list({ state, ...user }, { limit: 200, values: true })).items,
    );
  }
  const more = await Promise.all(
    [...new Set([...ids, ...all.map(({ id }) => id)])].map(async (id) => [
      await backend.inspect.attempts(id),
      await backend.runs.load(id),
      await backend.runs.readChannel(id),
      await backend.inspect.facts(id),
      await backend.streams.list(id),
    ]),
  );
  const hashes = all.flatMap(({ options }) => /"graph":"(\w+)"/.exec(options)?.[1] ?? []);
  const graphs = await Promise.all([...new Set(hashes)].map((hash) => backend.graphs.load(hash)));
  const places = ['rows', 'outside', 'plain'].map((key) => ({
    ...{ user: 'default', namespace: 'default', key },
  }));
  const schedules = await backend.schedules.list({ limit: 10 });
  return [all, more, graphs, await backend.xcom.read(places), schedules];
}

const PREFIX = 'leaks';

/** Every key and every value of a Redis, byte by byte. */
async function bytesOf(redis: Redis): Promise<string> {
  const parts: string[] = [];
  const texts = (values: readonly Buffer[]): void => {
    for (const value of values) parts.push(value.toString('latin1'));
  };
  for await (const keys of redis.scanStream({ match: `*${PREFIX}*`, count: 500 })) {
    for (const key of keys as readonly string[]) {
      parts.push(key);
      const type = await redis.type(key);
      if (type === 'string') texts([(await redis.getBuffer(key)) ?? Buffer.alloc(0)]);
      else if (type === 'hash') {
        const fields = await redis.hgetallBuffer(key);
        parts.push(...Object.keys(fields));
        texts(Object.values(fields));
      } else if (type === 'list') texts(await redis.lrangeBuffer(key, 0, -1));
      else if (type === 'set') texts(await redis.smembersBuffer(key));
      else if (type === 'zset') texts(await redis.zrangeBuffer(key, '0', '-1'));
      else if (type === 'stream') {
        for (const [, fields] of await redis.xrangeBuffer(key, '-', '+')) texts(fields);
      } else if (type !== 'none') throw new Error(`${key} is a ${type}`);
    }
  }
  return parts.join('\n');
}

/** Keeps what all calls of the backend are given, as `file` would write them down. */
function noted(backend: Backend): readonly string[] {
  const calls: string[] = [];
  const carry = carrierOf(backend);
  const parts = partsOf(async (call, args) => {
    calls.push(JSON.stringify([call, ...jsonArgs(call, args)]));
    return carry(call, args);
  });
  Object.assign(backend, parts);
  return calls;
}

/** Hears of every command that reaches a server, of any client. */
async function monitored(url: string, sent: string[]): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.setEncoding('latin1');
  socket.write('MONITOR\r\n');
  await once(socket, 'data');
  socket.on('data', (text: string) => void sent.push(text));
  return socket;
}

const shown = (value: unknown): string =>
  inspect(value, { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null });

eachBackend((open, name) => {
  let harness: Harness;
  let traces: Spans;
  /** Of this test alone: it hears all that is sent there, and reads all that is stored. */
  let server: RedisServer | undefined;
  beforeEach(async () => {
    server = name === 'redis' ? await startRedis() : undefined;
    harness =
      server === undefined ? await open() : await openRedis(PREFIX, { path: server.socket });
    traces = spans();
  });
  afterEach(async () => {
    traces.close();
    await harness.close();
    await server?.stop();
  });

  describe('encrypted', () => {
    // F40
    it('a secret in every value is in no byte of the store, and in no log, figure or span', async () => {
      const sent: string[] = [];
      const redis = server === undefined ? undefined : new Redis(server.url);
      const monitor = server === undefined ? undefined : await monitored(server.url, sent);
      // What a log of calls would have of them.
      const calls = name === 'redis' ? [] : noted(harness.backend);
      const { log, lines } = keeper();
      const metrics = prometheus({ client });
      const codec = encrypted({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] });
      const { tracer } = traces;
      const options = { codec, log, logErrors: false, metrics, tracer };
      const loom = harness.loom(TASKS, options);
      const ids = await useAll(loom, harness);
      // It can be read by who has the key, so it was stored.
      const [, failed = '', decided = '', , , later = ''] = ids;
      expect(JSON.stringify(await loom.dead.list({ limit: 10 }))).toContain(SECRET);
      expect(JSON.stringify(await loom.tasks.get(failed))).toContain(`no ${SECRET}`);
      expect(shown(await loom.tasks.get(decided))).toContain(`decided ${SECRET}`);
      expect(shown(await loom.tasks.get(later))).toContain(`never ${SECRET}`);
      for (const id of ids.slice(6, 10)) {
        expect((await loom.runs.get(id))?.state).toBe('finished');
        expect(JSON.stringify(await loom.runs.export(id))).toContain(SECRET);
      }
      const fired = await loom.tasks.list({
        state: 'finished',
        name: 'plain',
        limit: 100,
        values: true,
      });
      expect(fired.items.map(({ input }) => input)).toContain(`${SECRET} often`);

      const store = shown(await stored(harness.backend, ids));
      expect(store).toContain('enc:k1:');
      expect(store).not.toContain(SECRET);
      // Counters stay readable, since the store adds to them.
      expect(store).toContain("'notes:count': '7'");
      expect(shown(calls)).not.toContain(SECRET);
      if (redis === undefined) expect(shown(calls)).toContain('enc:k1:');
      else {
        const bytes = await bytesOf(redis);
        expect(bytes).toContain('enc:k1:');
        expect(bytes).not.toContain(SECRET);
        const base64 = Buffer.from(SECRET).toString('base64').slice(0, 12);
        expect(bytes).not.toContain(base64);
        await redis.ping();
        const commands = sent.join('');
        expect(commands).toContain('enc:k1:');
        expect(commands).not.toContain(SECRET);
      }
      expect(lines.length).toBeGreaterThan(0);
      expect(shown(lines)).not.toContain(SECRET);
      expect(await metrics.text()).not.toContain(SECRET);
      expect(traces.ended().length).toBeGreaterThan(20);
      expect(
        shown(
          traces
            .ended()
            .map(({ attributes, events, status, name: of }) => [
              ...[attributes, events, status, of],
            ]),
        ),
      ).not.toContain(SECRET);
      monitor?.destroy();
      redis?.disconnect();
    });
  });
});
