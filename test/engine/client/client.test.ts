/** What a caller says when it enqueues, and what comes of it. */
import { describe, expect, it } from 'vitest';
import {
  BatchRefusedError,
  ClosedError,
  CrossUserDependencyError,
  DependencyCycleError,
  InvalidOptionError,
  InvalidPayloadError,
  KeyTakenError,
  QueueFullError,
  ResultTimeoutError,
  TaskConflictError,
  TaskNotFoundError,
  UnknownDependencyError,
} from '../../../src/domain/errors/errors.ts';
import { call } from '../../../src/enqueue/call.ts';
import type { EnqueueOptions } from '../../../src/enqueue/enqueue-options.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { ref, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const echo = task('echo', async (value: string) => value);
const tick = task('tick', async () => 1);

/** Text to its length; asynchronous like a schema that asks a database. */
const length: StandardSchemaV1<string, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) =>
      typeof value === 'string'
        ? { value: value.length }
        : { issues: [{ message: 'not a text', path: ['name', { key: 0 }] }] },
  },
};

eachBackend((open) => {
  const harness = opened(open);

  describe('enqueue', () => {
    it('stores what it says, over the definition, over the defaults', async () => {
      const own = task('own', { queue: 'mail', priority: 'high', cost: 2 }, async () => undefined);
      const loom = harness.loom([own, tick], { defaults: { queue: 'bulk', priority: 1, cost: 5 } });
      const place = async (options: EnqueueOptions, step = own) => {
        const { id } = await loom.enqueue(step, undefined, options);
        const { queue, priority, cost, user } = (await loom.tasks.get(id)) ?? {};
        return { queue, priority, cost, user };
      };
      expect(await place({})).toEqual({ queue: 'mail', priority: 4, cost: 2, user: 'default' });
      expect(await place({ queue: 'q', priority: 'critical', cost: 0.5, user: 'u' })).toEqual({
        queue: 'q',
        priority: 6,
        cost: 0.5,
        user: 'u',
      });
      const handle = await loom.enqueue(tick);
      expect(await loom.tasks.get(handle.id)).toMatchObject({
        queue: 'bulk',
        priority: 1,
        cost: 5,
      });
    });

    it('says which attempts: retries, backoff and timeout over the definition', async () => {
      const starts: number[] = [];
      const backoff = { kind: 'fixed', base: '1h' } as const;
      const failing = task('failing', { retries: 9, backoff }, async () => {
        starts.push(harness.clock.now());
        throw new Error('no');
      });
      const loom = harness.loom([failing]);
      await loom.worker().start();
      const options = {
        retries: 1,
        backoff: { kind: 'fixed', base: '2s', jitter: 'none' },
      } as const;
      const handle = await loom.enqueue(failing, undefined, options);
      await harness.until(() => starts.length === 1);
      await harness.quiet();
      await harness.clock.advance('2s');
      await expect(handle.result()).rejects.toMatchObject({ code: 'TASK_FAILED' });
      expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBe(2_000);
    });

    it('follows a backoff that is a function', async () => {
      const starts: number[] = [];
      const backoff = (attempt: number) => `${attempt}s` as const;
      const failing = task('failing', { retries: 2, backoff }, async () => {
        starts.push(harness.clock.now());
        throw new Error('no');
      });
      const loom = harness.loom([failing]);
      await loom.worker().start();
      await loom.enqueue(failing);
      for (const seconds of [1, 2, 3]) {
        await harness.until(() => starts.length === seconds);
        await harness.quiet();
        await harness.clock.advance(seconds * 1_000);
      }
      expect(starts.map((at) => at - (starts[0] ?? 0))).toEqual([0, 1_000, 3_000]);
    });

    it('with an id again changes nothing, unless it is another task', async () => {
      const loom = harness.loom([echo]);
      const first = await loom.enqueue(echo, 'a', { id: 'x' });
      expect(first).toMatchObject({ id: 'x', taskId: 'x', created: true, conflict: false });
      expect(await loom.enqueue(echo, 'a', { id: 'x' })).toMatchObject({ created: false });
      await expect(loom.enqueue(echo, 'b', { id: 'x' })).rejects.toBeInstanceOf(TaskConflictError);
      const options = { id: 'x', onDuplicate: 'reject' } as const;
      await expect(loom.enqueue(echo, 'a', options)).rejects.toThrow('onDuplicate');
    });

    it('makes ids that rise with time', async () => {
      const loom = harness.loom([tick]);
      const a = await loom.enqueue(tick);
      await harness.clock.advance(5);
      const b = await loom.enqueue(tick);
      expect(a.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(a.id < b.id).toBe(true);
    });

    it('with an idempotency key follows its policy', async () => {
      const loom = harness.loom([echo]);
      const key = { idempotencyKey: 'k' };
      const first = await loom.enqueue(echo, 'a', key);
      expect(await loom.enqueue(echo, 'a', key)).toMatchObject({
        id: first.id,
        created: false,
        conflict: false,
      });
      expect(await loom.enqueue(echo, 'b', key)).toMatchObject({ id: first.id, conflict: true });
      const reject = { ...key, idempotency: { policy: 'reject' } } as const;
      await expect(loom.enqueue(echo, 'b', reject)).rejects.toBeInstanceOf(KeyTakenError);
      const replace = { ...key, idempotency: { policy: 'replace-queued' } } as const;
      expect(await loom.enqueue(echo, 'c', replace)).toMatchObject({ replaced: true });
      expect(await loom.tasks.get(first.id)).toMatchObject({ input: 'c' });
    });

    it('is refused when the user has too many', async () => {
      const loom = harness.loom([tick]);
      await loom.users.set('u', { maxQueued: 2 });
      await loom.enqueue(tick, undefined, { user: 'u' });
      await loom.enqueue(tick, undefined, { user: 'u', delay: '1h' });
      const error = await loom.enqueue(tick, undefined, { user: 'u' }).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(QueueFullError);
      expect(error).toMatchObject({ user: 'u', limit: 2, size: 2, retryable: true });
    });

    it('waits for what it depends on, by id or handle', async () => {
      const sum = task('sum', async (_: undefined, ctx) => {
        const one = ctx.upstream.get(tick);
        const all = ctx.upstream.all.map(({ taskId, state }) => `${taskId} ${state}`);
        return [
          one?.state === 'finished' ? one.result : 'none',
          all,
          ctx.upstream.byId('no') ?? null,
        ];
      });
      const loom = harness.loom([tick, sum]);
      const first = await loom.enqueue(tick, undefined, { id: 'first' });
      const last = await loom.enqueue(sum, undefined, { dependsOn: [first, 'first'] });
      expect((await loom.tasks.get(last.id))?.state).toBe('deferred');
      await loom.worker().start();
      expect(await last.result()).toEqual([1, ['first finished'], null]);
    });

    it('is refused for dependencies that cannot be', async () => {
      const loom = harness.loom([tick]);
      await loom.enqueue(tick, undefined, { id: 'theirs', user: 'them' });
      const enqueue = (options: EnqueueOptions) => loom.enqueue(tick, undefined, options);
      await expect(enqueue({ dependsOn: ['none'] })).rejects.toBeInstanceOf(UnknownDependencyError);
      await expect(enqueue({ dependsOn: ['theirs'] })).rejects.toBeInstanceOf(
        CrossUserDependencyError,
      );
      const allowed = { dependsOn: ['theirs'], allowCrossUser: true };
      expect(await enqueue(allowed)).toMatchObject({ created: true });
      await expect(enqueue({ id: 'me', dependsOn: ['me'] })).rejects.toMatchObject({
        code: expect.stringMatching(/^DEPENDENCY_CYCLE$/),
      });
    });

    it('needs a user when that is required', async () => {
      const loom = harness.loom([tick], { requireUser: true });
      await expect(loom.enqueue(tick)).rejects.toThrow('requireUser');
      await expect(loom.run(tick)).rejects.toThrow('requireUser');
      expect(await loom.enqueue(tick, undefined, { user: 'u' })).toMatchObject({ created: true });
    });

    it('checks the input by its schema, here and at the worker', async () => {
      const sized = task('sized', { input: length, output: length }, async (n) => 'x'.repeat(n));
      const loom = harness.loom([sized]);
      await loom.worker().start();
      expect(await (await loom.enqueue(sized, 'four')).result()).toBe(4);
      const wrong = loom.enqueue(sized, 7 as unknown as string);
      await expect(wrong).rejects.toMatchObject({ code: 'INVALID_PAYLOAD', path: '$.name[0]' });
      const past = await loom.enqueueByName('sized', 7);
      await expect(past.result()).rejects.toMatchObject({ failureType: 'invalid-payload' });
    });

    it('works for code that is elsewhere, by reference or by name', async () => {
      const producer = harness.loom([]);
      const remote = ref<typeof echo>('echo');
      const handles = [
        await producer.enqueue(remote, 'a'),
        await producer.enqueueByName('echo', 'b'),
      ];
      await harness.loom([echo]).worker().start();
      expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(['a', 'b']);
      await expect(producer.run(remote, 'a')).rejects.toMatchObject({ code: 'UNKNOWN_TASK' });
    });

    it('takes another codec', async () => {
      const codec = {
        encode: (value: unknown) => JSON.stringify({ at: (value as Date).getTime() }),
        decode: (text: string) => new Date(JSON.parse(text).at),
      };
      const next = task('next', async (at: Date) => new Date(at.getTime() + 1));
      const loom = harness.loom([next], { codec });
      await loom.worker().start();
      expect(await (await loom.enqueue(next, new Date(5))).result()).toEqual(new Date(6));
      const refused = loom.enqueue(next, 'no date' as unknown as Date);
      await expect(refused).rejects.toBeInstanceOf(InvalidPayloadError);
    });

    it.each<[string, EnqueueOptions]>([
      ['priority', { priority: 'urgent' as 'high' }],
      ['priority', { priority: 7 as 6 }],
      ['queue', { queue: 'no spaces' }],
      ['user', { user: '' }],
      ['cost', { cost: 0 }],
      ['cost', { cost: Number.NaN }],
      ['retries', { retries: -1 }],
      ['retries', { retries: 1.5 }],
      ['backoff.kind', { backoff: { kind: 'linear' as 'fixed' } }],
      ['backoff.base', { backoff: { base: '1 s' as '1s' } }],
      ['timeout', { timeout: 0 }],
      ['expiresIn', { expiresIn: -1 }],
      ['executeAfter', { delay: 1, executeAfter: 1 }],
      ['executeAfter', { executeAfter: new Date(Number.NaN) }],
      ['dependsOn', { dependsOn: 'x' as unknown as string[] }],
      ['dependsOn', { dependsOn: Array.from({ length: 201 }, (_, at) => `t${at}`) }],
      ['onUpstreamFailure', { onUpstreamFailure: 'ignore' as 'run' }],
      ['onMissing', { onMissing: 'wait' as 'block' }],
      ['idempotency', { idempotency: { policy: 'reject' } }],
      ['idempotency.policy', { idempotencyKey: 'k', idempotency: { policy: 'no' as 'reject' } }],
      ['idempotency.ttl', { idempotencyKey: 'k', idempotency: { ttl: 0 } }],
      ['traceparent', { traceparent: 'no' }],
      ['onDuplicate', { onDuplicate: 'no' as 'return' }],
    ])('refuses a wrong %s before anything is sent', async (option, options) => {
      const loom = harness.loom([tick]);
      const error = await loom.enqueue(tick, undefined, options).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error.option).toBe(option);
      expect(await loom.tasks.counts()).toMatchObject({ queued: 0, scheduled: 0 });
    });

    it('that has an expiry ends as expired when no worker starts it', async () => {
      const loom = harness.loom([tick]);
      const handle = await loom.enqueue(tick, undefined, { expiresIn: '10s' });
      await harness.clock.advance('11s');
      await harness.backend.tasks.tick();
      await expect(handle.result()).rejects.toMatchObject({ failureType: 'expired' });
    });

    it('after a moment starts then', async () => {
      const loom = harness.loom([tick]);
      const at = new Date(harness.clock.now() + 60_000);
      const handle = await loom.enqueue(tick, undefined, { executeAfter: at });
      expect(await loom.tasks.get(handle.id)).toMatchObject({
        state: 'scheduled',
        dueAt: at.getTime(),
      });
    });
  });

  describe('enqueueMany', () => {
    it('stores all in order, of one definition or of several', async () => {
      const loom = harness.loom([echo, tick]);
      await loom.worker().start();
      const same = await loom.enqueueMany(echo, ['a', 'b', 'c'], { user: 'u' });
      expect(await Promise.all(same.map((one) => one.result()))).toEqual(['a', 'b', 'c']);
      const [text, number] = await loom.enqueueMany([call(echo, 'x'), call(tick)]);
      expect([await text.result(), await number.result()]).toEqual(['x', 1]);
      expect(await loom.enqueueMany(echo, [])).toEqual([]);
    });

    it('stores nothing when one is refused', async () => {
      const loom = harness.loom([echo]);
      await loom.users.set('u', { maxQueued: 2 });
      const tooMany = loom.enqueueMany(echo, ['a', 'b', 'c'], { user: 'u' });
      const error = await tooMany.catch((thrown) => thrown);
      expect(error).toBeInstanceOf(BatchRefusedError);
      expect(error).toMatchObject({ cause: { code: 'QUEUE_FULL' } });
      const wrong = loom.enqueueMany([call(echo, 'a'), call(echo, 'b', { cost: -1 })]);
      await expect(wrong).rejects.toMatchObject({ index: 1, cause: { option: 'cost' } });
      expect(await loom.tasks.counts()).toMatchObject({ queued: 0 });
    });

    it('answers for each when it need not be all', async () => {
      const loom = harness.loom([echo]);
      await loom.enqueue(echo, 'before', { id: 'taken' });
      const calls = [
        call(echo, 'a'),
        call(echo, 'other', { id: 'taken' }),
        call(echo, 1n as unknown as string),
        call(echo, 'b'),
      ];
      const answers = await loom.enqueueMany(calls, { atomic: false });
      expect(answers.map((answer) => (answer.ok ? 'stored' : answer.error.code))).toEqual([
        'stored',
        'TASK_CONFLICT',
        'INVALID_PAYLOAD',
        'stored',
      ]);
    });

    it('takes dependencies within the batch, forward and back, and finds cycles', async () => {
      const loom = harness.loom([tick]);
      await loom.worker().start();
      const one = (id: string, dependsOn: readonly string[]) =>
        call(tick, undefined, { id, dependsOn });
      const diamond = [one('d', ['b', 'c']), one('b', ['a']), one('c', ['a']), one('a', [])];
      const handles = await loom.enqueueMany(diamond);
      await Promise.all(handles.map((handle) => handle.result()));
      const cycle = loom.enqueueMany([one('x', ['y']), one('y', ['z']), one('z', ['x'])]);
      const error = await cycle.catch((thrown) => thrown);
      expect(error).toBeInstanceOf(DependencyCycleError);
      expect(error.message).toContain('x → y → z → x');
      expect(await loom.tasks.get('x')).toBeUndefined();
    });

    it('is sent again without doubling', async () => {
      const loom = harness.loom([echo]);
      const calls = [call(echo, 'a', { id: '1' }), call(echo, 'b', { id: '2' })];
      await loom.enqueueMany(calls);
      const again = await loom.enqueueMany(calls);
      expect(again.map(({ created }) => created)).toEqual([false, false]);
      expect(await loom.tasks.counts()).toMatchObject({ queued: 2 });
    });

    it('refuses what would not be all or none', async () => {
      const loom = harness.loom([echo]);
      const options = { id: 'x' } as object;
      await expect(loom.enqueueMany(echo, ['a'], options)).rejects.toThrow('id');
      const rejecting = [call(echo, 'a', { onDuplicate: 'reject' })];
      await expect(loom.enqueueMany(rejecting)).rejects.toThrow('onDuplicate');
    });
  });

  describe('a handle', () => {
    it('gives up after its timeout, and the task goes on', async () => {
      const loom = harness.loom([echo]);
      const handle = await loom.enqueue(echo, 'a');
      const waiting = handle.result({ timeout: '100ms' }).catch((thrown: unknown) => thrown);
      await harness.clock.advance(100);
      expect(await waiting).toBeInstanceOf(ResultTimeoutError);
      await loom.worker().start();
      expect(await handle.result({ timeout: 0 }).catch(() => 'later')).toBeDefined();
      expect(await handle.result()).toBe('a');
    });

    it('follows its signal', async () => {
      const loom = harness.loom([echo]);
      const handle = await loom.enqueue(echo, 'a');
      const stop = new AbortController();
      const waiting = handle.result({ signal: stop.signal });
      stop.abort(new RangeError('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(handle.result({ signal: stop.signal })).rejects.toThrow('enough');
    });

    it('says when the task is gone', async () => {
      const loom = harness.loom([echo]);
      await loom.worker().start();
      const handle = await loom.enqueue(echo, 'a');
      await handle.result();
      await harness.clock.advance('2m');
      await loom.tasks.remove(handle.id);
      await expect(handle.result()).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    it('ends with its client', async () => {
      const loom = harness.loom([echo]);
      const handle = await loom.enqueue(echo, 'a');
      const waiting = handle.result().catch((thrown: unknown) => thrown);
      await harness.quiet();
      const closed = loom.close({ timeout: 0 });
      await harness.clock.advance(0);
      await closed;
      expect(await waiting).toBeInstanceOf(ClosedError);
      await expect(loom.enqueue(echo, 'b')).rejects.toBeInstanceOf(ClosedError);
      expect(() => loom.worker()).toThrow(ClosedError);
    });
  });
});
