/** What the compiler must know, and what it must refuse. Compiled, never run. */
import { expectTypeOf, test } from 'vitest';
import {
  type Call,
  call,
  commandTask,
  containerTask,
  type Enqueued,
  Fairloom,
  handlerTask,
  type Input,
  memory,
  type Output,
  processTask,
  ref,
  type Task,
  type TaskHandle,
  type TaskHandler,
  task,
  threadTask,
} from '../../src/index.ts';
import { testLoom } from '../../src/testing.ts';
import type { AnyStep, Exit, StandardSchemaV1, Upstream } from '../../src/types.ts';

const hello = task('hello', async (who: string) => `Hello, ${who}!`);
const tick = task('tick', async () => 1);
const total = task('total', async (rows: { n: number }[]) => rows.length);
const loom = new Fairloom({ backend: memory(), tasks: [hello, tick] });
declare const maybe: string | undefined;

test('a task is known by its function', () => {
  expectTypeOf(hello).toEqualTypeOf<Task<string, string>>();
  expectTypeOf(tick).toEqualTypeOf<Task<void, number>>();
  expectTypeOf<Input<typeof total>>().toEqualTypeOf<{ n: number }[]>();
  expectTypeOf<Output<typeof total>>().toEqualTypeOf<number>();
  expectTypeOf<Exit<typeof total>>().toEqualTypeOf<never>();
  expectTypeOf(hello.as('other')).toEqualTypeOf<Task<string, string>>();
  const sync = task('sync', (n: number) => n > 1);
  expectTypeOf(sync).toEqualTypeOf<Task<number, boolean>>();
  const usual = { retries: 2 };
  expectTypeOf(task('t', usual, async (x: number) => x)).toEqualTypeOf<Task<number, number>>();
  const steps: readonly AnyStep[] = [hello, tick, total];
  expectTypeOf(steps).toExtend<readonly AnyStep[]>();
});

test('run and enqueue take the input and give the output', async () => {
  expectTypeOf(await loom.run(hello, 'Ada')).toEqualTypeOf<string>();
  expectTypeOf(await loom.run(tick)).toEqualTypeOf<number>();
  const handle = await loom.enqueue(hello, 'x', { user: maybe, priority: 'high' });
  expectTypeOf(handle).toEqualTypeOf<TaskHandle<string>>();
  expectTypeOf(await handle.result({ timeout: '1m' })).toEqualTypeOf<string>();
  await loom.enqueue(tick);
  await loom.enqueue(tick, undefined, { user: 'a', delay: '5m', timeout: 'none', priority: 6 });
  const byName = await loom.enqueueByName('hello', { any: 'thing' });
  expectTypeOf(byName).toEqualTypeOf<TaskHandle<unknown>>();
});

test('run and enqueue refuse what does not fit', () => {
  // @ts-expect-error missing input
  void loom.run(hello);
  // @ts-expect-error wrong input
  void loom.run(hello, 42);
  // @ts-expect-error missing input
  void loom.enqueue(hello);
  // @ts-expect-error no such priority
  void loom.enqueue(hello, 'x', { priority: 'urgent' });
  // @ts-expect-error no such priority
  void loom.enqueue(hello, 'x', { priority: 7 });
  // @ts-expect-error no duration
  void loom.enqueue(hello, 'x', { delay: '5 minutes' });
  // @ts-expect-error no such option
  void loom.enqueue(hello, 'x', { dealy: '5m' });
  // @ts-expect-error functions cannot be stored
  void loom.enqueue(hello, 'x', { backoff: () => 5 });
  // @ts-expect-error options that are undefined are fine, null is not
  void loom.enqueue(hello, 'x', { user: null });
});

test('the input is that of the step, also under another name', async () => {
  const generic = async <O>(step: Task<string, O>): Promise<O[]> => {
    expectTypeOf(loom.enqueue(step, 'a')).resolves.toEqualTypeOf<TaskHandle<O>>();
    const handles = await loom.enqueueMany(step, ['a', 'b']);
    expectTypeOf(handles).toEqualTypeOf<TaskHandle<O>[]>();
    return Promise.all(handles.map((handle) => handle.result()));
  };
  expectTypeOf(generic(hello)).resolves.toEqualTypeOf<string[]>();
  const either = {} as typeof hello | typeof total;
  // @ts-expect-error one of them takes rows
  void loom.enqueue(either, 'a');
  // @ts-expect-error one of them takes rows
  void loom.enqueueMany(either, ['a']);
  const open = task('open', async (input: { to: string } | undefined) => input?.to);
  void loom.enqueue(open);
  void loom.enqueue(open, undefined, { user: 'a' });
  void loom.enqueue(open, { to: 'a' });
  const wide = task('wide', async (input: unknown) => input);
  void loom.enqueue(wide, { any: 'thing' });
  const data: readonly { to: string; more: number }[] = [];
  // What is known to have more is no typo.
  void loom.enqueueMany(open, data);
});

test('enqueueMany keeps the types in their order', async () => {
  const calls = await loom.enqueueMany([
    call(hello, 'a'),
    call(tick),
    call(total, [{ n: 1 }], { user: 'u' }),
  ]);
  expectTypeOf(calls).toEqualTypeOf<[TaskHandle<string>, TaskHandle<number>, TaskHandle<number>]>();
  expectTypeOf(await loom.enqueueMany(hello, ['a', 'b'])).toEqualTypeOf<TaskHandle<string>[]>();
  const each = await loom.enqueueMany(hello, ['a'], { atomic: false });
  expectTypeOf(each).toEqualTypeOf<Enqueued<string>[]>();
  const told = await loom.enqueueMany([call(hello, 'a')], { atomic: false });
  expectTypeOf(told).toEqualTypeOf<Enqueued<unknown>[]>();
  const list: Call<string>[] = [];
  expectTypeOf(await loom.enqueueMany(list)).toEqualTypeOf<TaskHandle<string>[]>();
  // @ts-expect-error wrong input
  call(hello, 1);
  // @ts-expect-error missing input
  call(hello);
  // @ts-expect-error wrong inputs
  void loom.enqueueMany(hello, [1, 2]);
  // @ts-expect-error many tasks cannot share an id
  void loom.enqueueMany(hello, ['a'], { id: 'x' });
});

test('a schema sets the types of the input', () => {
  const schema = {} as StandardSchemaV1<{ a: string }, { a: number }>;
  const parsed = task('parsed', { input: schema, retries: 1 }, async (i) => i.a + 1);
  expectTypeOf<Input<typeof parsed>>().toEqualTypeOf<{ a: string }>();
  expectTypeOf<Output<typeof parsed>>().toEqualTypeOf<number>();
  const options = { input: schema, retries: 2 };
  const again = task('again', options, async (i) => i.a + 1);
  expectTypeOf<Input<typeof again>>().toEqualTypeOf<{ a: string }>();
  // @ts-expect-error the schema gives a number
  task('wrong', { input: schema }, async (i: { a: string }) => i.a);
});

test('upstreams are typed by their definition', () => {
  task('down', async (_: undefined, ctx) => {
    const upstream = ctx.upstream.get(total);
    expectTypeOf(upstream).toEqualTypeOf<Upstream<number> | undefined>();
    if (upstream?.state === 'finished') expectTypeOf(upstream.result).toEqualTypeOf<number>();
    // @ts-expect-error a failed upstream has no result
    if (upstream?.state === 'failed') void upstream.result;
    // @ts-expect-error nothing of it can be written
    ctx.attempt = 2;
  });
});

test('code elsewhere has the types of the real one', async () => {
  const remote = ref<typeof hello>('hello');
  expectTypeOf(await loom.enqueue(remote, 'x')).toEqualTypeOf<TaskHandle<string>>();
  // @ts-expect-error wrong input
  void loom.enqueue(remote, 1);
  const module = new URL('file:///hash.js');
  const hash = threadTask<(input: { file: string }) => Promise<string>>('hash', { module });
  expectTypeOf(hash).toEqualTypeOf<Task<{ file: string }, string>>();
  // @ts-expect-error a module is needed
  threadTask<(n: number) => number>('none', {});
  new Fairloom({ backend: memory(), tasks: [hello, remote, hash] });
  new Fairloom({ backend: memory(), tasks: { hello, helper: () => 1 } });
});

test('handlers elsewhere keep the types of what they are', () => {
  const module = new URL('file:///hash.js');
  const hash = processTask<(input: { file: string }) => Promise<string>>('hash', { module });
  expectTypeOf(hash).toEqualTypeOf<Task<{ file: string }, string>>();
  // @ts-expect-error a module is needed
  processTask<(n: number) => number>('none', {});

  const output = {} as StandardSchemaV1<unknown, { frames: number }>;
  const args = (input: { file: string }) => ['--', input.file];
  const probe = commandTask('probe', { command: 'ffprobe', args, output });
  expectTypeOf(probe).toEqualTypeOf<Task<{ file: string }, { frames: number }>>();
  const text = commandTask('text', { command: 'wc', args: ['-l'], stdout: 'text' });
  expectTypeOf(text).toEqualTypeOf<Task<unknown, string>>();
  const given = commandTask<number, boolean>('given', { command: 'true' });
  expectTypeOf(given).toEqualTypeOf<Task<number, boolean>>();
  // @ts-expect-error one text is no list
  commandTask('shell', { command: 'ls', args: '-l' });
  // @ts-expect-error a command is needed
  commandTask('none', {});
  // @ts-expect-error text has no schema of something else
  commandTask('both', { command: 'wc', stdout: 'text', output });

  const resize = containerTask('resize', { image: 'acme/resize:3', args, stdout: 'text' });
  expectTypeOf(resize).toEqualTypeOf<Task<{ file: string }, string>>();
  // @ts-expect-error an image is needed
  containerTask('none', { args: [] });
  // @ts-expect-error no such option
  containerTask('typo', { image: 'a', volumes: [] });

  const embed = handlerTask<string, number[]>('embed', { handler: 'gpu' });
  expectTypeOf(embed).toEqualTypeOf<Task<string, number[]>>();
  const gpu: TaskHandler = { run: async (input, ctx) => [input, ctx.taskId] };
  new Fairloom({ backend: memory(), tasks: [hash, probe, text, embed], handlers: { gpu } });
  // @ts-expect-error a handler can run
  new Fairloom({ backend: memory(), handlers: { gpu: {} } });
});

test('settings and options refuse typos', () => {
  void loom.users.set('u', { weight: 2, rate: { limit: 5, per: '1m' }, maxRunning: 'default' });
  // @ts-expect-error no such setting
  void loom.users.set('u', { wieght: 2 });
  // @ts-expect-error a rate has a time
  void loom.users.set('u', { rate: { limit: 5 } });
  loom.worker({ queues: { a: 1 }, stealTargets: 'any', lease: '5s' });
  // @ts-expect-error "any" or a list
  loom.worker({ stealTargets: 'all' });
  // @ts-expect-error no such event
  loom.worker().on('task.gone', () => undefined);
  // @ts-expect-error no such option
  task('x', { retry: 5 }, async () => undefined);
});

test('the testing kit is typed', () => {
  const t = testLoom([hello]);
  t.stub(hello, (who) => who.toUpperCase());
  // @ts-expect-error wrong output
  t.stub(hello, () => 1);
  const spy = t.spy(hello);
  expectTypeOf(spy.returned).returns.resolves.toHaveProperty('input').toEqualTypeOf<string>();
  void t.clock.advance('1h');
  // @ts-expect-error no duration
  void t.clock.advance('one hour');
});
