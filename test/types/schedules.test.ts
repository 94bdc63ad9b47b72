/** What the compiler must know of schedules, and what it must refuse. Compiled, never run. */
import { expectTypeOf, test } from 'vitest';
import { Fairloom, memory, type ScheduleInfo, task } from '../../src/index.ts';
import type { SlotReferences } from '../../src/types.ts';

const hello = task('hello', async (who: string) => `Hello, ${who}!`);
const report = task('report', async (input: { day: string }) => input.day);
const tick = task('tick', async () => 1);
const loom = new Fairloom({ backend: memory(), tasks: [hello, tick] });

test('a schedule knows the input of what it starts', () => {
  const set = loom.schedules.set('a', { every: '1m', task: tick });
  expectTypeOf(set).toEqualTypeOf<Promise<ScheduleInfo>>();
  void loom.schedules.set('a', { cron: '@daily', task: hello, input: 'Ada' });
  void loom.schedules.set('a', {
    ...{ cron: '@daily', task: report },
    input: (slot) => {
      expectTypeOf(slot).toEqualTypeOf<SlotReferences>();
      return { day: slot.date };
    },
  });
  void loom.schedules.set('a', {
    cron: '@daily',
    task: hello.pipe(tick.as('last') as never),
    input: 'x',
  });
  // @ts-expect-error: its task takes a text
  void loom.schedules.set('a', { cron: '@daily', task: hello, input: 5 });
  // @ts-expect-error: its task needs an input
  void loom.schedules.set('a', { cron: '@daily', task: hello });
  // @ts-expect-error: the function must give what the task takes
  void loom.schedules.set('a', { cron: '@daily', task: report, input: (slot) => slot.date });
});

test('options that would tie tasks to one moment are none', () => {
  // @ts-expect-error: many tasks cannot share an id
  void loom.schedules.set('a', { every: '1m', task: tick, id: 'x' });
  // @ts-expect-error: nor wait for one task
  void loom.schedules.set('a', { every: '1m', task: tick, dependsOn: ['x'] });
  // @ts-expect-error: a policy that there is not
  void loom.schedules.set('a', { every: '1m', task: tick, overlap: 'maybe' });
  // @ts-expect-error: no length
  void loom.schedules.set('a', { every: '1 minute', task: tick });
});
