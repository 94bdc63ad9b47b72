/** What a definition says holds wherever the definition stands: option by place by form. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Task } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import type { TaskOptions } from '../../../src/workflow/task-options.ts';
import { embedded, type Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

type Handler = (n: number, ctx: TaskContext) => unknown;
type Asked = Task<number, unknown>;

const first = task('first', (n: number) => n);
const list = task('list', (n: number) => [n]);

/** Where a definition can stand, and in which form that is carried out. */
const PLACES = {
  alone: [(x: Asked) => x, undefined],
  'behind a node, dispatched': [(x: Asked) => first.pipe(x), 'dispatched'],
  'behind a node, driven': [(x: Asked) => first.pipe(x), 'driven'],
  'in a group, dispatched': [(x: Asked) => first.pipe(parallel({ x })), 'dispatched'],
  'in a group, driven': [(x: Asked) => first.pipe(parallel({ x })), 'driven'],
  'in a group of pipelines': [(x: Asked) => parallel({ x: first.pipe(x) }), 'driven'],
  'in each': [(x: Asked) => list.pipe(each(x)), undefined],
  'behind a dynamic task': [
    (x: Asked) => dynamic('choose', (n: number, ctx) => ctx.next(x, n)),
    undefined,
  ],
  'in a handler': [
    (x: Asked) => task('asks', { retries: 0 }, (n: number, ctx) => ctx.run(x, n)),
    undefined,
  ],
  'under a schedule': [(x: Asked) => first.pipe(x), 'schedule'],
  'here and now': [(x: Asked) => first.pipe(x), 'local'],
} as const;
type Place = keyof typeof PLACES;
const ALL = Object.keys(PLACES) as readonly Place[];

/** Those where it is a task of the queue, which has a place there and may wait. */
const QUEUED: readonly Place[] = [
  'alone',
  'behind a node, dispatched',
  'in a group, dispatched',
  'in a group, driven',
  'in each',
];

embedded((open) => {
  let harness: Harness;
  let calls: number;
  beforeEach(async () => {
    harness = await open();
    calls = 0;
  });
  afterEach(() => harness.close());

  interface Started {
    readonly loom: Fairloom;
    readonly result: Promise<unknown>;
  }

  async function start(
    place: Place,
    options: TaskOptions,
    handler: Handler,
    said: object = {},
  ): Promise<Started> {
    const [stepOf, form] = PLACES[place];
    const asked: Asked = task('asked', options, (n: number, ctx) => {
      calls++;
      return handler(n, ctx);
    });
    const step = stepOf(asked) as never;
    const loom = harness.loom([step, asked as never]);
    await loom.worker({ concurrency: 5 }).start();
    if (form === 'local') return { loom, result: loom.run(step, 1 as never) };
    if (form === 'schedule') {
      await loom.schedules.set('s', { task: step, input: 1, every: '1h' } as never);
      return { loom, result: (await loom.schedules.run('s')).result() };
    }
    const how = form === undefined ? said : { form, ...said };
    const run = (await loom.enqueue(step, 1 as never, how as never)) as RunHandle<unknown>;
    return { loom, result: run.result() };
  }

  const said = ({ result }: Started): Promise<string> =>
    settled(harness, result).then(
      (value) => `gave ${JSON.stringify(value)}`,
      (error: unknown) => `${error}`,
    );

  describe('an option of a definition', () => {
    // F3
    it.each(ALL)('retries and backoff: %s', async (place) => {
      const backoff = { kind: 'fixed', base: '2s', jitter: 'none' } as const;
      const begin = harness.clock.now();
      const run = await start(place, { retries: 2, backoff }, () => {
        if (calls < 3) throw new Error('not yet');
        return 'done';
      });
      expect(await said(run)).toContain('done');
      expect(calls).toBe(3);
      expect(harness.clock.now() - begin).toBeGreaterThanOrEqual(4_000);
    });

    // F3
    it.each(ALL)('timeout: %s', async (place) => {
      const run = await start(place, { retries: 0, timeout: '700ms' }, (_, ctx) =>
        aborted(ctx.signal),
      );
      expect(await said(run)).toMatch(/timeout|TimedOut/);
      expect(calls).toBe(1);
    });

    // F3
    it.each(ALL)('decider: %s', async (place) => {
      const run = await start(
        place,
        {
          decider: (outcome) =>
            outcome.type === 'failed'
              ? { type: 'finish', result: '"borne"' }
              : { type: 'finish', result: '"other"' },
        },
        () => {
          throw new Error('broken');
        },
      );
      expect(await said(run)).toContain('borne');
      expect(calls).toBe(1);
    });

    // F3
    it.each(ALL.filter((place) => place !== 'here and now'))('xcom: %s', async (place) => {
      const run = await start(place, { xcom: true }, () => 'handed on');
      expect(await said(run)).toContain('handed on');
      expect((await run.loom.xcom.list()).items).toMatchObject([{ key: 'asked' }]);
    });

    // F3
    it.each(QUEUED)('queue, priority and cost: %s', async (place) => {
      const options = { queue: 'nobody', priority: 'high', cost: 3 } as const;
      const run = await start(place, options, () => 'never');
      await harness.clock.advance(2_000);
      const [waits] = (
        await run.loom.tasks.list({ state: 'queued', user: 'default', name: 'asked' })
      ).items;
      expect(waits).toMatchObject({ queue: 'nobody', priority: 4, cost: 3 });
      expect(calls).toBe(0);
      run.result.catch(() => undefined);
    });

    // F3
    it.each(QUEUED)('what the enqueue says of the place goes before it: %s', async (place) => {
      const options = { queue: 'nobody', priority: 'high', cost: 3 } as const;
      const how = { queue: 'default', priority: 'low', cost: 2 };
      const run = await start(place, options, () => 'done', how);
      expect(await said(run)).toContain('done');
      const ended = (await run.loom.tasks.list({ state: 'finished', name: 'asked' })).items;
      expect(ended).toMatchObject([{ queue: 'default', priority: 2, cost: 2 }]);
    });

    // F3
    it.each(QUEUED)('expiresIn, in a queue without workers: %s', async (place) => {
      const run = await start(place, { queue: 'nobody', expiresIn: '200ms' }, () => 'never');
      await said(run);
      const dead = (await run.loom.dead.list()).items.filter(({ name }) => name === 'asked');
      expect(dead).toMatchObject([{ failureType: 'expired' }]);
      expect(calls).toBe(0);
    });
  });

  describe('the time that expiresIn gives', () => {
    it.each(['driven', 'dispatched'] as const)(
      // F3
      'begins when the node is released, and is over with its start: %s',
      async (form) => {
        const slow = task('slow', async (n: number, ctx) => {
          await new Promise<void>((resolve) => void harness.clock.setTimer(5_000, resolve));
          return ctx.signal.aborted ? -1 : n;
        });
        const brief = task('brief', { expiresIn: '1s', retries: 1 }, slow0);
        const step = slow.pipe(parallel({ brief }));
        const loom = harness.loom([step]);
        await loom.worker({ concurrency: 5 }).start();
        const run = await loom.enqueue(step, 1, { form });
        expect(await settled(harness, run.result())).toEqual({ brief: 'done' });
      },
    );

    async function slow0(_: number): Promise<string> {
      await new Promise<void>((resolve) => void harness.clock.setTimer(3_000, resolve));
      return 'done';
    }

    it.each(['driven', 'dispatched'] as const)(
      // F3
      'ends a run that is not begun, and a node whose code no worker has: %s',
      async (form) => {
        const brief = task('brief', { expiresIn: '1s' }, slow0);
        const step = brief.pipe(task('last', (text: string) => text)).as('one');
        const far = first.pipe(task('far', { expiresIn: '3s' }, slow0)).as('two');
        const loom = harness.loom([first]);
        const idle = await harness.loom([step, far]).enqueue(step, 1, { form });
        await harness.clock.advance(1_500);
        await harness.backend.tasks.tick();
        expect((await loom.tasks.get(idle.id))?.state).toBe('failed');
        await loom.worker().start();
        const begin = harness.clock.now();
        const run = await harness.loom([far]).enqueue(far, 1, { form });
        await expect(settled(harness, run.result())).rejects.toThrow('expired');
        expect(harness.clock.now() - begin).toBeLessThan(10_000);
        expect(harness.clock.now() - begin).toBeGreaterThanOrEqual(3_000);
      },
    );

    // F3
    it('begins for each member of a group when its turn in that comes', async () => {
      const brief = task('brief', { expiresIn: '1s' }, slow0);
      const step = list.pipe(task('three', () => [1, 2, 3])).pipe(each(brief, { concurrency: 1 }));
      const loom = harness.loom([step]);
      await loom.worker({ concurrency: 5 }).start();
      const run = await loom.enqueue(step, 1);
      expect(await settled(harness, run.result())).toEqual(['done', 'done', 'done']);
    });
  });
});
