/** Slots that were not fired in time, by what a schedule says of missed slots and of overlaps. */
import { describe, expect, it } from 'vitest';
import type { MissedPolicy, OverlapPolicy } from '../../../src/domain/port/schedule.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

/** What four slots that are ten minutes apart come to, after 45 minutes without a scheduler. */
interface Cell {
  /** Slots whose task was stored, the first is 1. */
  readonly stored: readonly number[];
  /** Those that ran to their end, in order. */
  readonly ran: readonly number[];
  /** At most so many at the same time. */
  readonly atOnce: number;
  readonly missed: number;
  readonly overlapped: number;
}

const NONE: Cell = { stored: [], ran: [], atOnce: 0, missed: 4, overlapped: 0 };
const LATEST: Cell = { stored: [4], ran: [4], atOnce: 1, missed: 3, overlapped: 0 };
const ALL: Cell = { stored: [1, 2, 3, 4], ran: [1, 2, 3, 4], atOnce: 1, missed: 0, overlapped: 0 };

/** `unset`: `overlap` is not given. The same table stands in docs/guide/schedules.md. */
const TABLE: Readonly<Record<MissedPolicy, Readonly<Record<OverlapPolicy | 'unset', Cell>>>> = {
  skip: {
    ...{ unset: NONE, skip: NONE, allow: NONE },
    ...{ 'queue-one': NONE, 'cancel-previous': NONE },
  },
  one: {
    ...{ unset: LATEST, skip: LATEST, allow: LATEST },
    ...{ 'queue-one': LATEST, 'cancel-previous': LATEST },
  },
  all: {
    unset: ALL,
    skip: { ...ALL, stored: [1], ran: [1], overlapped: 3 },
    allow: { ...ALL, atOnce: 4 },
    'queue-one': { ...ALL, stored: [1, 2], ran: [1, 2], overlapped: 2 },
    'cancel-previous': { ...ALL, ran: [4] },
  },
};

const CELLS = Object.entries(TABLE).flatMap(([missed, row]) =>
  Object.entries(row).map(([overlap, cell]) => [missed, overlap, cell] as const),
);

eachBackend((open) => {
  const harness = opened(open);

  describe('slots that were missed', () => {
    // F140
    it.each(CELLS)('missed: %s, overlap: %s', async (missed, overlap, cell) => {
      const start = harness.clock.now();
      const nth = (id: string): number => (Number(id.split('.').at(-1)) - start) / 600_000;
      const ran: number[] = [];
      let [running, atOnce] = [0, 0];
      const work = task('work', { retries: 0 }, async (_: unknown, ctx) => {
        running++;
        atOnce = Math.max(atOnce, running);
        await ctx.sleep('1s');
        running--;
        ran.push(nth(ctx.taskId));
      });
      const loom = harness.loom([work]);
      await loom.schedules.set('s', {
        ...{ every: '10m', task: work, input: undefined },
        missed: missed as MissedPolicy,
        ...(overlap === 'unset' ? {} : { overlap: overlap as OverlapPolicy }),
      });
      await harness.clock.advance('45m');
      const scheduler = loom.scheduler();
      await scheduler.start();
      await harness.quiet();
      await scheduler.stop();
      const states = ['queued', 'deferred', 'canceled'] as const;
      const pages = await Promise.all(
        states.map((state) =>
          harness.backend.inspect.list({ state, user: 'default' }, { limit: 9 }),
        ),
      );
      const stored = pages.flatMap(({ items }) => items.map(({ id }) => nth(id))).sort();
      await loom.worker({ concurrency: 10, scheduler: false }).start();
      await harness.clock.advance('1m');
      const info = await loom.schedules.get('s');
      const { missedSlots, overlappedSlots: overlapped } = info ?? {};
      expect({ stored, ran, atOnce, missed: missedSlots, overlapped }).toEqual(cell);
    });
  });

  // F140
  it('a slot in time is passed over while tasks that catch up run', async () => {
    const work = task('work', async (_: unknown, ctx) => ctx.sleep('15m'));
    const loom = harness.loom([work]);
    await loom.schedules.set('s', { every: '10m', task: work, input: undefined, missed: 'all' });
    await harness.clock.advance('25m');
    await loom.worker().start();
    await harness.clock.advance('6m');
    expect(await loom.schedules.get('s')).toMatchObject({ fired: 2, overlappedSlots: 1 });
  });

  // F140
  it('an overlap that is set later holds for missed slots too', async () => {
    const work = task('work', async () => undefined);
    const loom = harness.loom([work]);
    await loom.schedules.set('s', { every: '10m', task: work, input: undefined, missed: 'all' });
    await loom.schedules.update('s', { overlap: 'skip' });
    await loom.schedules.update('s', { missedCap: 50 });
    await harness.clock.advance('45m');
    const scheduler = loom.scheduler();
    await scheduler.start();
    await harness.quiet();
    expect(await loom.schedules.get('s')).toMatchObject({ fired: 1, overlappedSlots: 3 });
    await scheduler.stop();
  });
});
