/** Tasks that keep the version of their code: old workers, new ones, and both; keys, schedules, explain. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { ref, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const resize = (version: string) =>
  task('resize', { version }, async (n: number) => `${version}:${n}`);
const v1 = resize('1');
const v2 = resize('2');
const v10 = resize('10');
const plain = task('resize', async (n: number) => `plain:${n}`);
const latest = task(
  'resize',
  { version: '2', versioning: 'latest' },
  async (n: number) => `2:${n}`,
);
const other = task('other', async () => 'other');

eachBackend((open) => {
  const harness = opened(open);

  const stateOf = async (loom: Fairloom, id: string): Promise<string> =>
    (await loom.tasks.get(id))?.state ?? 'missing';

  describe('a task with a version', () => {
    it('is left to workers that have it, and holds no other up', async () => {
      const old = harness.loom([v1, other]);
      const made = harness.loom([v2]);
      await old.worker().start();
      const kept = await made.enqueue(v2, 1);
      expect(await settled(harness, (await old.enqueue(other)).result())).toBe('other');
      expect(await settled(harness, (await old.enqueue(v1, 7)).result())).toBe('1:7');
      expect(await made.tasks.get(kept.id)).toMatchObject({
        name: 'resize',
        version: '2',
        state: 'queued',
      });
      const { obstacles } = await made.tasks.explain(kept.id);
      expect(obstacles[0]).toMatchObject({
        kind: 'no-worker',
        text: 'it needs version 2 of resize; live workers of queue default have 1',
        command: 'fairloom versions',
      });
      await made.worker().start();
      expect(await settled(harness, kept.result())).toBe('2:1');
      // A rollback: new tasks wait for new workers, and the old ones go on.
      expect(await settled(harness, (await old.enqueue(v1, 8)).result())).toBe('1:8');
    });

    it('says who it waits for when a worker of another version came first', async () => {
      const made = harness.loom([v2]);
      const worker = made.worker({ id: 'new' });
      await worker.start();
      worker.pause();
      const kept = await made.enqueue(v2, 1);
      await harness.loom([v1]).worker().start();
      const first = async () => (await made.tasks.explain(kept.id)).obstacles[0];
      await harness.until(async () => (await first())?.kind === 'parked');
      expect(await first()).toMatchObject({
        kind: 'parked',
        text: 'a worker of queue default that does not have version 2 of resize reached it first: it waits for new',
      });
      worker.resume();
      expect(await settled(harness, kept.result())).toBe('2:1');
    });

    it('keeps its version through retries, a redrive by new code, and an hour without its code', async () => {
      let fails = true;
      const breaking = task(
        'resize',
        { version: '1', retries: 1, backoff: { base: 1 } },
        async (n: number) => {
          if (fails) throw new Error('not yet');
          return `1:${n}`;
        },
      );
      const old = harness.loom([breaking]);
      const worker = old.worker();
      await worker.start();
      const handle = await old.enqueue(breaking, 3);
      await settled(harness, refusal(handle.result()));
      await worker.stop();
      fails = false;
      const made = harness.loom([v2]);
      await made.worker().start();
      await made.tasks.redrive(handle.id);
      await harness.quiet();
      expect(await made.tasks.get(handle.id)).toMatchObject({ version: '1', state: 'queued' });
      const failed = refusal(made.handle(v1, handle.id).result());
      expect(await settled(harness, failed)).toMatchObject({
        why: { type: 'unknown-task' },
      });
      expect(harness.clock.now()).toBeGreaterThan(LIMITS.unknownTaskMs);
      await old.worker().start();
      await made.tasks.redrive(handle.id);
      expect(await settled(harness, made.handle(v1, handle.id).result())).toBe('1:3');
    });

    it('may be of several versions in one process, and the name alone means the newest', async () => {
      const loom = harness.loom([v2, v10, v1]);
      await loom.worker().start();
      const results = [v1, v2, v10, latest, ref<typeof v1>('resize')].map(async (each) =>
        (await loom.enqueue(each, 5)).result(),
      );
      expect(await settled(harness, Promise.all(results))).toEqual([
        ...['1:5', '2:5', '10:5', '10:5', '10:5'],
      ]);
      const byName = await loom.enqueueByName('resize@2', 6);
      const unpinned = await loom.enqueueByName('resize@2', 7, { versioning: 'latest' });
      expect(await settled(harness, byName.result())).toBe('2:6');
      expect(await settled(harness, unpinned.result())).toBe('10:7');
      expect(await refusal(loom.enqueueByName('resize@', 6))).toMatchObject({
        code: 'INVALID_OPTION',
      });
      expect(await refusal(loom.enqueueByName('resize@1@2', 6))).toMatchObject({
        code: 'INVALID_OPTION',
      });
    });

    it('leaves what was enqueued without a version to the definition without one', async () => {
      const loom = harness.loom([v2, plain]);
      await loom.worker().start();
      expect(await settled(harness, (await loom.enqueue(plain, 1)).result())).toBe('plain:1');
      expect(await settled(harness, (await loom.enqueue(v2, 1)).result())).toBe('2:1');
    });

    it('refuses two handlers of one name and version, and what is no version', () => {
      expect(() => harness.loom([v1, resize('1')])).toThrow(/one handler per name and version/);
      expect(() => resize('a@b')).toThrow(/version/);
      const wrong = { versioning: 'newest' } as never;
      expect(() => task('one', wrong, async () => 1)).toThrow(/versioning/);
      expect(() => ref('one', { version: '' })).toThrow(/version/);
    });

    it('can be canceled, paused and put first while no worker has its code', async () => {
      const old = harness.loom([v1]);
      const worker = old.worker({ concurrency: 1 });
      await worker.start();
      const made = harness.loom([v2]);
      const [low, gone, high] = [
        await made.enqueue(v2, 1, { priority: 'low' }),
        await made.enqueue(v2, 2),
        await made.enqueue(v2, 3, { priority: 'critical' }),
      ];
      await harness.quiet();
      expect(await made.tasks.cancel(gone.id)).toMatchObject({ kind: 'canceled' });
      await made.queues.pause('default');
      const order: number[] = [];
      const noting = task('resize', { version: '2' }, async (n: number) => {
        order.push(n);
        return String(n);
      });
      await harness.loom([noting]).worker({ concurrency: 2 }).start();
      await harness.clock.advance('5s');
      expect(order).toEqual([]);
      await made.queues.resume('default');
      await settled(harness, Promise.all([low.result(), high.result()]));
      expect(order).toEqual([3, 1]);
    });
  });

  describe('keys', () => {
    it('of idempotency do not swallow calls of new code', async () => {
      const loom = harness.loom([v1, v2]);
      const options = { idempotencyKey: 'order-7' };
      const first = await loom.enqueue(v1, 1, options);
      const second = await loom.enqueue(v2, 1, options);
      expect(second).toMatchObject({ created: true, conflict: false });
      expect(await loom.enqueue(v1, 1, options)).toMatchObject({ id: first.id, created: false });
      expect(await loom.enqueue(v2, 1, options)).toMatchObject({ id: second.id, created: false });
      expect(await loom.tasks.get(second.id)).toMatchObject({ idempotencyKey: 'order-7' });
      const taken = { ...options, idempotency: { policy: 'reject' } } as const;
      expect(await refusal(loom.enqueue(v2, 1, taken))).toMatchObject({
        code: 'KEY_TAKEN',
        key: 'order-7',
      });
      // Without a version one key is one task, for all callers.
      const shared = await loom.enqueue(v1, 1, { ...options, versioning: 'latest' });
      expect(shared.created).toBe(true);
      expect(await loom.enqueue(latest, 1, options)).toMatchObject({
        id: shared.id,
        created: false,
      });
    });

    it('of debounce and throttle neither', async () => {
      const loom = harness.loom([v1, v2]);
      for (const options of [
        { debounce: { key: 'd', wait: '5s' } },
        { throttle: { key: 't', per: '5s' } },
      ] as const) {
        const first = await loom.enqueue(v1, 1, options);
        const second = await loom.enqueue(v2, 2, options);
        expect(second.id).not.toBe(first.id);
        expect((await loom.enqueue(v2, 3, options)).id).toBe(second.id);
      }
    });

    it('an id of another version is a conflict, and says so', async () => {
      const loom = harness.loom([v1, v2]);
      await loom.enqueue(v1, 1, { id: 'a' });
      expect(await loom.enqueue(v1, 1, { id: 'a' })).toMatchObject({ created: false });
      expect(await refusal(loom.enqueue(v2, 1, { id: 'a' }))).toMatchObject({
        code: 'TASK_CONFLICT',
      });
    });
  });

  it('a schedule fires with the version of the client that set it', async () => {
    const old = harness.loom([v1]);
    const made = harness.loom([v2]);
    const every = { every: '1m' } as const;
    expect(await old.schedules.set('s', { task: v1, input: 1, ...every })).toMatchObject({
      task: 'resize',
      version: '1',
    });
    await made.worker().start();
    const first = await made.schedules.run('s');
    expect(await made.tasks.get(first.id)).toMatchObject({ name: 'resize', version: '1' });
    await made.schedules.update('s', { every: '2m' });
    expect(await made.schedules.get('s')).toMatchObject({ version: '1' });
    await made.schedules.set('s', { task: v2, input: 1, ...every });
    const second = await made.schedules.run('s');
    expect(await settled(harness, second.result())).toBe('2:1');
    expect(await stateOf(made, first.id)).toBe('queued');
  });

  it('listings find a name with any version, and one version by both', async () => {
    const loom = harness.loom([v1, v2, plain]);
    const ids = [];
    for (const each of [v1, v2, plain]) ids.push((await loom.enqueue(each, 1, { delay: '1h' })).id);
    const named = async (name: string): Promise<readonly string[]> =>
      (await loom.tasks.list({ state: 'scheduled', name })).items.map(({ id }) => id);
    expect((await named('resize')).toSorted()).toEqual(ids.toSorted());
    expect(await named('resize@2')).toEqual([ids[1]]);
    expect(await named('resiz')).toEqual([]);
    expect(await refusal(named('resize@'))).toMatchObject({ code: 'INVALID_OPTION' });
    await loom.worker().start();
    for (const id of ids) await loom.tasks.runNow(id);
    await harness.quiet();
  });

  it('figures, events and contexts have the name without its version', async () => {
    const seen: string[] = [];
    const loom = harness.loom([v1]);
    const worker = loom.worker();
    worker.on('task.finished', ({ name }) => seen.push(name));
    await worker.start();
    const upstream = await loom.enqueue(v1, 1);
    const reader = task(
      'reader',
      { version: '3' },
      async (_: undefined, ctx) => ctx.upstream.get(v1)?.state,
    );
    const readers = harness.loom([reader]);
    await readers.worker().start();
    const after = await readers.enqueue(reader, undefined, { dependsOn: [upstream] });
    expect(await settled(harness, after.result())).toBe('finished');
    expect(seen).toEqual(['resize']);
  });

  describe('loom.versions', () => {
    it('tells per version what needs it, and who has it', async () => {
      const loom = harness.loom([v1, v2]);
      const user = 'ann';
      await loom.enqueue(v1, 1, { user });
      await loom.enqueue(v1, 2, { user, delay: '1h' });
      const [last] = await loom.enqueueMany(v2, [3], { user });
      await loom.enqueue(v1, 4, { user, dependsOn: last === undefined ? [] : [last] });
      await loom.schedules.set('s', { task: v1, input: 1, every: '1d' });
      await harness
        .loom([v2])
        .worker({ id: 'new', queues: ['elsewhere'] })
        .start();
      await harness.quiet();
      const tasks = { scheduled: 0, deferred: 0, queued: 0, started: 0 };
      expect(await loom.versions()).toEqual({
        complete: true,
        looked: 4,
        versions: [
          {
            name: 'resize',
            version: '2',
            tasks: { ...tasks, queued: 1 },
            runs: 0,
            schedules: 0,
            needed: 1,
            workers: ['new'],
          },
          {
            name: 'resize',
            version: '1',
            tasks: { ...tasks, queued: 1, scheduled: 1, deferred: 1 },
            runs: 0,
            schedules: 1,
            needed: 4,
            workers: [],
          },
          { name: 'resize', tasks, runs: 0, schedules: 0, needed: 0, workers: ['new'] },
        ],
      });
      expect(await loom.versions({ limit: 2 })).toMatchObject({ complete: false, looked: 2 });
      expect(await refusal(loom.versions({ limit: 0 }))).toMatchObject({ code: 'INVALID_OPTION' });
    });
  });
});
