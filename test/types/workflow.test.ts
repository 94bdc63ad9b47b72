/** What the compiler must know of workflows, and what it must refuse. Compiled, never run. */
import { expectTypeOf, test } from 'vitest';
import { Fairloom, memory, type RunHandle } from '../../src/index.ts';
import { type Channel, type ChannelOf, channel } from '../../src/workflow/channel.ts';
import { type Flow, flow, type Ref } from '../../src/workflow/flow.ts';
import { groupPolicy, type MemberResult } from '../../src/workflow/group-policy.ts';
import {
  notation,
  parseNotation,
  type UntypedPipeline,
} from '../../src/workflow/notation/notation.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import type {
  AnyStep,
  Exit,
  Input,
  Output,
  Pipeline,
  Step,
  Task,
} from '../../src/workflow/step.ts';
import { dynamic, task } from '../../src/workflow/task-definition.ts';

const tick = task('tick', async () => 1);
const fetchRows = task('fetch', async (d: { day: string }) => [{ n: 1, day: d.day }]);
const total = task('total', async (rows: { n: number }[]) => rows.length);
const peak = task('peak', async (rows: { n: number }[]) => rows[0]?.n ?? 0);
const publish = task('publish', async (r: { total: number; peak: number }) => `${r.total}`);
const lenient = { policy: 'bestEffort' } as const;

test('a pipeline takes what its first step takes and gives what its last gives', () => {
  const report = fetchRows.pipe(parallel({ total, peak })).pipe(publish).as('report');
  expectTypeOf(report).toEqualTypeOf<Pipeline<{ day: string }, string>>();
  expectTypeOf<Input<typeof report>>().toEqualTypeOf<{ day: string }>();
  expectTypeOf<Output<typeof report>>().toEqualTypeOf<string>();
  expectTypeOf<Exit<typeof report>>().toEqualTypeOf<never>();
  const steps: readonly AnyStep[] = [tick, fetchRows, report, parallel({ total, peak })];
  expectTypeOf(steps).toExtend<readonly AnyStep[]>();
});

test('a member that is defined in place takes what it says, or nothing', () => {
  const both = parallel({ one: task('one', () => 1), two: task('two', async (_: unknown) => 'b') });
  expectTypeOf(both).toEqualTypeOf<Pipeline<void, { one: number; two: string }>>();
  const pair = parallel(
    tick,
    task('one', () => 'a'),
  );
  expectTypeOf(pair).toEqualTypeOf<Pipeline<void, [number, string]>>();
});

test('a step refuses what the one before does not give', () => {
  // @ts-expect-error rows are no totals
  fetchRows.pipe(publish);
  // @ts-expect-error the peak is missing
  fetchRows.pipe(parallel({ total })).pipe(publish);
  // @ts-expect-error no step
  fetchRows.pipe('total');
  // @ts-expect-error a task that takes nothing gets nothing
  fetchRows.pipe(tick);
  // @ts-expect-error definitions are not promises
  void fetchRows.then;
});

test('inputs and outputs vary as those of functions do', () => {
  const wide = task('wide', async (x: { n: number } | undefined) => x?.n ?? 0);
  expectTypeOf(wide).toExtend<Step<{ n: number }, number | string>>();
  expectTypeOf(total).not.toExtend<Step<unknown, number>>();
  expectTypeOf(total).not.toExtend<Step<{ n: number }[], string>>();
  const piped = task('one', async () => ({ n: 1, more: true })).pipe(wide);
  expectTypeOf(piped).toEqualTypeOf<Pipeline<void, number>>();
});

test('a group gives a record or a tuple, of results where members may fail', () => {
  expectTypeOf<Output<ReturnType<typeof tuple>>>().toEqualTypeOf<[number, number]>();
  const tuple = () => parallel(total, peak);
  const best = parallel({ total, peak }, lenient);
  expectTypeOf<Output<typeof best>>().toEqualTypeOf<{
    total: MemberResult<number>;
    peak: MemberResult<number>;
  }>();
  const some = parallel({ total, peak }, { policy: { atLeast: 1 }, failFast: true, name: 'some' });
  expectTypeOf<Output<typeof some>>().toEqualTypeOf<Output<typeof best>>();
  const critical = parallel({ total, peak }, { policy: { critical: ['total'] } });
  expectTypeOf<Output<typeof critical>>().toEqualTypeOf<{
    total: number;
    peak: MemberResult<number>;
  }>();
  const own = parallel(
    { total, peak },
    { policy: groupPolicy('own', (members) => members.length > 0) },
  );
  expectTypeOf<Output<typeof own>>().toEqualTypeOf<Output<typeof best>>();
  const named = parallel({ total, peak }, { policy: { name: 'own' } });
  expectTypeOf<Output<typeof named>>().toEqualTypeOf<Output<typeof best>>();
  const strict = parallel({ total, peak }, { policy: 'strict', timeout: '5m', concurrency: 2 });
  expectTypeOf<Output<typeof strict>>().toEqualTypeOf<{ total: number; peak: number }>();
});

test('members of a group all take its input', () => {
  const both = parallel({
    a: task('a', async (x: { a: number }) => x.a),
    b: task('b', async (x: { b: string }) => x.b),
  });
  expectTypeOf<Input<typeof both>>().toEqualTypeOf<{ a: number } & { b: string }>();
  const tuple = parallel(
    total,
    task('day', async (x: { day: string }[]) => x.length),
  );
  expectTypeOf<Input<typeof tuple>>().toEqualTypeOf<{ n: number }[] & { day: string }[]>();
});

test('groups refuse typos', () => {
  // @ts-expect-error unknown critical member
  parallel({ total, peak }, { policy: { critical: ['tota'] } });
  // @ts-expect-error no such policy
  parallel({ total, peak }, { policy: 'lenient' });
  // @ts-expect-error no duration
  parallel({ total, peak }, { timeout: '5 minutes' });
  // @ts-expect-error no such option
  parallel({ total, peak }, { retries: 1 });
  // @ts-expect-error no step
  parallel({ total: 1 });
  // @ts-expect-error members of each() have no names
  each(total, { policy: { critical: ['0'] } });
});

test('each takes and gives arrays', () => {
  const all = each(publish, { concurrency: 50, policy: 'strict' });
  expectTypeOf(all).toEqualTypeOf<Pipeline<readonly { total: number; peak: number }[], string[]>>();
  expectTypeOf<Output<ReturnType<typeof some>>>().toEqualTypeOf<MemberResult<string>[]>();
  const some = () => each(publish, { policy: { atLeast: 3 } });
  const mapped = task('many', async () => [{ total: 1, peak: 2 }]).pipe(all);
  expectTypeOf<Output<typeof mapped>>().toEqualTypeOf<string[]>();
});

test('a flow wires refs, parts of refs, and values', () => {
  const same = flow('report', (f: Flow<{ day: string }>) => {
    expectTypeOf(f.input.get('day')).toEqualTypeOf<Ref<string>>();
    const rows = f.step(fetchRows, f.input);
    f.step(fetchRows, { day: f.input.get('day') }, { as: 'again', after: [rows] });
    f.step(total, [{ n: 1 }, { n: f.step(tick, undefined) }]);
    return f.step(publish, { total: f.step(total, rows), peak: 5 });
  });
  expectTypeOf(same).toEqualTypeOf<Pipeline<{ day: string }, string>>();
  const part = flow('part', (f: Flow<{ day: string }>) =>
    f.step(fetchRows, f.input).get(0).get('n'),
  );
  expectTypeOf<Output<typeof part>>().toEqualTypeOf<number>();
});

test('a flow refuses wrong wires', () => {
  // @ts-expect-error a day is no rows
  flow('bad', (f: Flow<{ day: string }>) => f.step(total, f.input));
  // @ts-expect-error no such part
  flow('bad', (f: Flow<{ day: string }>) => f.step(fetchRows, { day: f.input.get('month') }));
  // @ts-expect-error the peak is missing
  flow('bad', (f: Flow<number>) => f.step(publish, { total: f.input }));
  // @ts-expect-error a number is no text
  flow('bad', (f: Flow<number>) => f.step(fetchRows, { day: f.input }));
  // @ts-expect-error a flow gives a ref
  flow('bad', () => 5);
  // @ts-expect-error a step that may end otherwise has no place in a flow
  flow('bad', (f: Flow<number>) => f.step(classify, f.input));
});

const vip = task('vip', async (v: number) => ({ tier: 'vip' as const, v }));
const std = task('std', async (v: number) => ({ tier: 'std' as const, v }));
const alarm = task('alarm', async (_why: string) => undefined);
const classify = dynamic('classify', async (v: number, ctx) => {
  if (v < 0) return ctx.goto(alarm, `negative ${v}`);
  return v > 100 ? ctx.next(vip, v) : ctx.next(std, v);
});

test('a dynamic task gives what its targets give, and may end with what goto gives', () => {
  expectTypeOf<Output<typeof classify>>().toEqualTypeOf<
    { tier: 'vip'; v: number } | { tier: 'std'; v: number }
  >();
  expectTypeOf<Exit<typeof classify>>().toEqualTypeOf<undefined>();
  const say = task('say', async (r: { tier: string; v: number }) => `${r.tier}:${r.v}`);
  expectTypeOf(classify.pipe(say)).toEqualTypeOf<Pipeline<number, string, undefined>>();
  const ends = dynamic('ends', async (n: number, ctx) => (n > 1 ? ctx.terminate('big') : n));
  expectTypeOf(ends).toEqualTypeOf<Task<number, number, string>>();
  expectTypeOf<Exit<ReturnType<typeof group>>>().toEqualTypeOf<string | undefined>();
  const group = () => parallel({ ends, classify });
});

test('a loop of its own takes its own input', () => {
  interface State {
    readonly step: number;
  }
  const tune = dynamic('tune', { maxCycles: 20 }, async (s: State, ctx) =>
    ctx.canIterate && ctx.cycle < 3 ? ctx.again({ step: s.step + 1 }) : s,
  );
  expectTypeOf<Output<typeof tune>>().toEqualTypeOf<State>();
  const canceled = dynamic('c', async (n: number, ctx) => (n > 1 ? ctx.cancelRun('why') : n));
  expectTypeOf<Output<typeof canceled>>().toEqualTypeOf<number>();
  const graflow = dynamic('g', async (n: number, ctx) =>
    n > 1 ? ctx.nextIteration(n - 1) : ctx.nextTask(vip, n),
  );
  expectTypeOf<Output<typeof graflow>>().toEqualTypeOf<Output<typeof vip>>();
  const quiet = dynamic('quiet', (n: number, ctx) => (n > 1 ? ctx.again(n - 1) : undefined));
  // @ts-expect-error another input than its own
  dynamic('bad', { maxCycles: 2 }, async (s: { n: number }, ctx) => ctx.again({ m: s.n }));
  // @ts-expect-error ordinary tasks have no control
  task('bad', async (v: number, ctx) => ctx.next(vip, v));
  // @ts-expect-error the input of the target is missing
  dynamic('bad', async (_: number, ctx) => ctx.next(vip));
  // @ts-expect-error F12 what it asked for is not returned
  dynamic('bad', async (n: number, ctx) => {
    ctx.next(vip, n);
  });
  // @ts-expect-error F12 nor here, and with options
  dynamic('bad', { maxCycles: 2 }, (n: number, ctx) => {
    if (ctx.canIterate) ctx.again(n);
  });
  expectTypeOf<Output<typeof quiet>>().toEqualTypeOf<undefined>();
  // @ts-expect-error no such option
  dynamic('bad', { cycles: 2 }, async (n: number) => n);
});

test('two definitions that name each other need one annotation', () => {
  interface State {
    readonly n: number;
  }
  const agent: Task<State, { done: boolean }> = dynamic('agent', async (s: State, ctx) =>
    s.n > 3 ? { done: true } : ctx.next(tool, s),
  );
  const tool = dynamic('tool', async (s: State, ctx) => ctx.next(agent, { n: s.n + 1 }));
  expectTypeOf(tool).toEqualTypeOf<Task<State, { done: boolean }>>();
});

test('a run knows what its pipeline takes and gives', async () => {
  const loom = new Fairloom({ backend: memory() });
  const report = fetchRows.pipe(parallel({ total, peak })).pipe(publish);
  const run = await loom.enqueue(report, { day: 'x' }, { user: 'a', form: 'driven' });
  expectTypeOf(run).toEqualTypeOf<RunHandle<string>>();
  expectTypeOf(await run.result({ timeout: '1m' })).toEqualTypeOf<string>();
  expectTypeOf(await loom.run(report, { day: 'x' })).toEqualTypeOf<string>();
  await loom.enqueue(tick.pipe(task('next', (n: number) => n)));
  for await (const { node } of run.nodes()) expectTypeOf(node).toEqualTypeOf<string>();
  // @ts-expect-error missing input
  void loom.enqueue(report);
  // @ts-expect-error wrong input
  void loom.enqueue(report, { day: 1 });
  // @ts-expect-error no such form
  void loom.enqueue(report, { day: 'x' }, { form: 'both' });
  // @ts-expect-error a task has no form
  void loom.enqueue(tick, undefined, { form: 'driven' });
});

test('a channel knows its values', () => {
  const stats = channel<{ count: number; rows: string[] }>('stats');
  expectTypeOf(stats).toEqualTypeOf<Channel<{ count: number; rows: string[] }>>();
  const open = {} as ChannelOf<{ count: number; rows: string[] }>;
  void open.add('count', 1);
  void open.append('rows', 'x');
  expectTypeOf(open.get('count')).resolves.toEqualTypeOf<number | undefined>();
  // @ts-expect-error rows are no number
  void open.add('rows', 1);
  // @ts-expect-error rows are texts
  void open.append('rows', 1);
  // @ts-expect-error no such key
  void open.get('cuont');
});

test('types end at the notation', () => {
  const text = parseNotation('a >> b', { total, peak });
  expectTypeOf(text).toEqualTypeOf<UntypedPipeline>();
  expectTypeOf(notation`${fetchRows} >> (${total} | ${peak})`).toEqualTypeOf<UntypedPipeline>();
  // @ts-expect-error its output is not known
  text.pipe(publish);
  // @ts-expect-error no step
  void notation`${1}`;
});
