/** What takes a step whose kind is not known, and what must refuse it. Compiled, never run. */
import { expectTypeOf, test } from 'vitest';
import {
  call,
  dynamic,
  each,
  event,
  Fairloom,
  type Flow,
  flow,
  memory,
  notation,
  type Output,
  type Pipeline,
  parallel,
  parseNotation,
  type RunHandle,
  type Step,
  type TaskHandle,
  task,
  toAscii,
} from '../../src/index.ts';
import type { StepKind, Upstream } from '../../src/types.ts';

/** A task or a pipeline. */
declare const step: Step<number, string>;
declare const none: Step<void, string>;
const size = task('size', async (text: string) => text.length);
const loom = new Fairloom({ backend: memory(), tasks: [step, size] });

// F90
test('a client takes a step of either kind', async () => {
  const handle = await loom.enqueue(step, 1, { user: 'ann', priority: 'high' });
  expectTypeOf(handle).toEqualTypeOf<TaskHandle<string> | RunHandle<string>>();
  expectTypeOf(await handle.result()).toEqualTypeOf<string>();
  await loom.enqueue(none);
  expectTypeOf(await loom.handle(step, 'id').result()).toEqualTypeOf<string>();
  expectTypeOf(await loom.runs.handle(step, 'id').result()).toEqualTypeOf<string>();
  expectTypeOf(await loom.run(step, 1)).toEqualTypeOf<string>();
  expectTypeOf(step.type).toEqualTypeOf<StepKind>();
  await loom.schedules.set('a', { every: '1m', task: step, input: 1 });
  await loom.schedules.on('b', { event: 'paid', task: step, input: 1 });
  expectTypeOf(event('paid', 'k')).toBeObject();
});

// F90
test('what is built of steps takes a step of either kind', () => {
  expectTypeOf(step.pipe(size)).toEqualTypeOf<Pipeline<number, number>>();
  expectTypeOf<Output<ReturnType<typeof group>>>().toEqualTypeOf<{ a: string; b: number }>();
  expectTypeOf(each(step)).toEqualTypeOf<Pipeline<readonly number[], string[]>>();
  const whole = flow('f', (f: Flow<number>) => f.step(step, f.input));
  expectTypeOf(whole).toEqualTypeOf<Pipeline<number, string>>();
  void notation`${step} >> ${size}`;
  void parseNotation('step >> size', { step, size });
  void toAscii(step);
});

const group = () => parallel({ a: step, b: task('b', (n: number) => n) });

// F90
test('a context takes a step of either kind', () => {
  dynamic('d', async (n: number, ctx) => {
    expectTypeOf(await ctx.run(step, n)).toEqualTypeOf<string>();
    expectTypeOf(ctx.upstream.get(step)).toEqualTypeOf<Upstream<string> | undefined>();
    if (n > 2) return ctx.goto(step, n);
    return n > 1 ? ctx.nextTask(step, n) : ctx.next(step, n);
  });
});

// F90
test('what stores many tasks, and what reads a value of a task, refuses what may be a pipeline', () => {
  // @ts-expect-error it may be a pipeline, which is a run
  void loom.enqueueMany(step, [1]);
  // @ts-expect-error it may be a pipeline, which is a run
  call(step, 1);
  // @ts-expect-error it may be a pipeline, which hands on no value
  void loom.xcom.pull(step);
  // @ts-expect-error a step is no task that is stored
  void loom.enqueue(size, 'x', { dependsOn: [step] });
});

// F90
test('a step of either kind still has an input', () => {
  // @ts-expect-error missing input
  void loom.enqueue(step);
  // @ts-expect-error wrong input
  void loom.enqueue(step, 'x');
  // @ts-expect-error no such option
  void loom.enqueue(step, 1, { usr: 'ann' });
});
