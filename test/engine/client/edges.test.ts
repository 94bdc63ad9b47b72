/** Whom a task may come to depend on, and what cannot be told: as a caller and a handler see it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { call } from '../../../src/enqueue/call.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const secret = task('secret', async () => 'secret');
const read = task('read', async (_: number, ctx) => ctx.upstream.all);
const slow = task('slow', { retries: 0 }, async () => 1);

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  beforeEach(async () => {
    loom = harness.loom([secret, read, slow]);
  });

  describe('an id that another user stores', () => {
    // F60
    it('gives its result only to tasks that ask for another user’s', async () => {
      const wait = { dependsOn: ['x'], onMissing: 'block' } as const;
      const b = await loom.enqueue(read, 1, { ...wait, user: 'bob' });
      const open = await loom.enqueue(read, 2, { ...wait, user: 'bob', allowCrossUser: true });
      const own = await loom.enqueue(read, 3, { ...wait, user: 'ann' });
      const x = await loom.enqueue(secret, undefined, { id: 'x', user: 'ann' });
      await loom.worker().start();
      expect(await x.result()).toBe('secret');
      const upstream = [{ taskId: 'x', state: 'finished', result: 'secret' }];
      expect(await open.result()).toMatchObject(upstream);
      expect(await own.result()).toMatchObject(upstream);
      expect(await loom.tasks.get(b.id)).toMatchObject({ state: 'deferred', blockedBy: ['x'] });
      const { obstacles } = await loom.tasks.explain(b.id);
      expect(obstacles[0]?.text).toBe('it waits for x (a task of another user has this id)');
    });

    // F60
    it('is not read either by who went on without it', async () => {
      const b = await loom.enqueue(read, 1, {
        ...{ user: 'bob', delay: 1_000, dependsOn: ['x'], onMissing: 'satisfied' },
      });
      await loom.worker().start();
      const x = await loom.enqueue(secret, undefined, { id: 'x', user: 'ann' });
      expect(await x.result()).toBe('secret');
      await harness.clock.advance(1_000);
      const [fact] = (await b.result()) as readonly object[];
      expect(fact).toMatchObject({ taskId: 'x', state: 'missing' });
      expect(fact).not.toHaveProperty('result');
    });
  });

  describe('a task that others wait for', () => {
    // F67
    it('is refused with an error of its own when a cycle cannot be told', async () => {
      const many = (count: number, dependsOn: readonly string[]): Promise<readonly string[]> => {
        const calls = Array.from({ length: count }, () =>
          call(slow, undefined, { user: 'ann', dependsOn, onMissing: 'block' }),
        );
        return loom.enqueueMany(calls).then((handles) => handles.map(({ id }) => id));
      };
      const roots = await many(LIMITS.dependencies, []);
      const ends = await many(Math.ceil(LIMITS.cycleEdges / LIMITS.dependencies) + 1, roots);
      await many(LIMITS.cycleFan + 1, ['x']);
      const options = { id: 'x', user: 'ann', dependsOn: ends } as const;
      const error = await loom.enqueue(slow, undefined, options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        ...{ code: 'DEPENDENCY_LIMIT', retryable: false, taskId: 'x', limit: LIMITS.cycleEdges },
      });
      await expect(loom.enqueueMany([call(slow, undefined, options)])).rejects.toMatchObject({
        code: 'BATCH_REFUSED',
        cause: { code: 'DEPENDENCY_LIMIT' },
      });
      expect(await loom.tasks.get('x')).toBeUndefined();
    });

    // F67
    it('does not come back by a redrive to wait for them', async () => {
      const wait = { user: 'ann', dependsOn: ['x'], onMissing: 'block', expiresIn: 1_000 } as const;
      await loom.enqueue(slow, undefined, { ...wait, id: 'b' });
      await loom.enqueue(slow, undefined, { id: 'c', user: 'ann', dependsOn: ['b'] });
      await loom.worker().start();
      await harness.clock.advance(1_000);
      await harness.until(async () => (await loom.tasks.get('b'))?.state === 'failed');
      await loom.enqueue(slow, undefined, { id: 'x', user: 'ann', dependsOn: ['c'] });
      await expect(loom.tasks.redrive('b')).rejects.toMatchObject({
        code: 'DEPENDENCY_CYCLE',
        path: ['b', 'x', 'c', 'b'],
      });
      const { changed, skipped } = await loom.dead.redrive({ all: true });
      expect({ changed, skipped }).toEqual({ changed: 0, skipped: 1 });
      await loom.tasks.cancel('c');
      await harness.until(async () => (await loom.tasks.get('x'))?.state === 'canceled');
      await loom.tasks.redrive('b');
      expect((await loom.tasks.get('b'))?.state).not.toBe('failed');
    });
  });
});
