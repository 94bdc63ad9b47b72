/**
 * Typical mistakes, each on one line, and what a compiler must say of it: at «…», in these words. They
 * are the first line of its message; where versions word it differently, one is `TypeScript 7`'s.
 */
export interface Mistake {
  /** The title of its test. */
  readonly title: string;
  /** What is wrong stands in «…». */
  readonly code: string;
  readonly says: string;
  /** What TypeScript 7 says instead. */
  readonly says7?: string;
  /** What its further lines say, where the first one cannot name what is missing. */
  readonly names?: string;
}

/** What stands before the mistakes. */
export const SETUP = `
import { Fairloom, call, channel, commandTask, dynamic, each, flow, memory } from 'fairloom';
import { parallel, task, xcomKey, type Flow } from 'fairloom';
import type { StandardSchemaV1 } from 'fairloom/types';

const hello = task('hello', async (who: string) => \`Hello, \${who}!\`);
const tick = task('tick', async () => 1);
const mail = task('mail', async (m: { to: string; replyTo?: string | undefined }) => m.to);
const fetchRows = task('rows', async (d: { day: string }) => [{ n: 1, day: d.day }]);
const total = task('total', async (rows: { n: number }[]) => rows.length);
const report = fetchRows.pipe(total).as('report');
const greet = mail.pipe(hello).as('greet');
const rate = xcomKey<number>('rate');
const counts = channel<{ count: number }>('counts');
const loom = new Fairloom({ backend: memory(), tasks: [hello, report] });
declare const schema: StandardSchemaV1<{ a: string }, { a: number }>;
export { call, commandTask, counts, dynamic, each, flow, greet, parallel, rate, schema, tick };
export type { Flow };
`;

/** Mistakes of every kind but a property too many. */
export const MISTAKES: readonly Mistake[] = [
  {
    title: 'enqueue: a wrong input',
    code: 'void loom.enqueue(hello, «42»);',
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
  },
  {
    title: 'enqueue: an unknown option',
    code: "void loom.enqueue(hello, 'a', { «usr»: 'ann' });",
    says: "TS2561: Object literal may only specify known properties, but 'usr' does not exist in type 'EnqueueOptions'. Did you mean to write 'user'?",
  },
  {
    title: 'enqueue: a delay that is none',
    code: "void loom.enqueue(hello, 'a', { «delay»: '5 minutes' });",
    says: `TS2322: Type '"5 minutes"' is not assignable to type 'Duration | undefined'.`,
  },
  {
    title: 'enqueue: an unknown priority',
    code: "void loom.enqueue(hello, 'a', { «priority»: 'urgent' });",
    says: `TS2322: Type '"urgent"' is not assignable to type 'Priority | undefined'.`,
  },
  {
    title: 'enqueue: a missing input',
    code: 'void loom.«enqueue»(hello);',
    says: 'TS2554: Expected 2-3 arguments, but got 1.',
  },
  {
    title: 'enqueue: a missing field',
    code: "void loom.enqueue(mail, «{ replyTo: 'b' }»);",
    names: "Property 'to' is missing",
    says: "TS2345: Argument of type '{ replyTo: string; }' is not assignable to parameter of type '{ to: string; replyTo?: string | undefined; }'.",
    says7:
      "TS2741: Property 'to' is missing in type '{ replyTo: string; }' but required in type '{ to: string; replyTo?: string | undefined; }'.",
  },
  {
    title: 'enqueue: an input for a task that takes none',
    code: 'void loom.enqueue(tick, «5»);',
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'void'.",
  },
  {
    title: 'enqueue: a name in place of a task',
    code: "void loom.enqueue(«'hello'», 'a');",
    says: "TS2345: Argument of type 'string' is not assignable to parameter of type 'StepOf<StepKind, unknown, unknown, unknown>'.",
  },
  {
    title: 'enqueue: an unknown option of a run',
    code: "void loom.enqueue(report, { day: 'x' }, { «frm»: 'driven' });",
    says: "TS2561: Object literal may only specify known properties, but 'frm' does not exist in type 'RunEnqueueOptions'. Did you mean to write 'form'?",
  },
  {
    title: 'enqueue: an option of tasks for a run',
    code: "void loom.enqueue(report, { day: 'x' }, { «debounce»: { key: 'k', wait: '1s' } });",
    says: "TS2353: Object literal may only specify known properties, and 'debounce' does not exist in type 'RunEnqueueOptions'.",
  },
  {
    title: 'enqueueMany: one wrong input',
    code: "void loom.enqueueMany(hello, ['a', «2», 'b']);",
    says: "TS2322: Type 'number' is not assignable to type 'string'.",
  },
  {
    title: 'enqueueMany: one input in place of a list',
    code: "void loom.enqueueMany(hello, «'a'»);",
    says: "TS2345: Argument of type 'string' is not assignable to parameter of type 'readonly string[]'.",
  },
  {
    title: 'enqueueMany: an unknown option',
    code: "void loom.enqueueMany(hello, ['a'], { «usr»: 'ann' });",
    says: "TS2561: Object literal may only specify known properties, but 'usr' does not exist in type 'EnqueueManyOptions<true>'. Did you mean to write 'user'?",
  },
  {
    title: 'enqueueMany: an id for many',
    code: "void loom.enqueueMany(hello, ['a'], { «id»: 'x' });",
    says: "TS2353: Object literal may only specify known properties, and 'id' does not exist in type 'EnqueueManyOptions<true>'.",
  },
  {
    title: 'enqueueMany: an unknown option beside calls',
    code: "void loom.enqueueMany([call(hello, 'a')], { «atomc»: false });",
    says: "TS2561: Object literal may only specify known properties, but 'atomc' does not exist in type 'CallsOptions<true>'. Did you mean to write 'atomic'?",
  },
  {
    title: 'enqueueMany: a task in place of a call',
    code: 'void loom.enqueueMany([call(tick), «hello»]);',
    says: "TS2741: Property '[output]' is missing in type 'Task<string, string, never>' but required in type 'Call<unknown>'.",
  },
  {
    title: 'enqueueMany: a pipeline',
    code: "void loom.enqueueMany(«report», [{ day: 'x' }]);",
    says: "TS2345: Argument of type 'Pipeline<{ day: string; }, number, never>' is not assignable to parameter of type 'ManySource'.",
  },
  {
    title: 'call: a wrong input',
    code: 'void loom.enqueueMany([call(hello, «1»)]);',
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
  },
  {
    title: 'run: a wrong input',
    code: 'void loom.run(hello, «42»);',
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
  },
  {
    title: 'run: an unknown option',
    code: "void loom.run(hello, 'a', { «usr»: 'ann' });",
    says: "TS2561: Object literal may only specify known properties, but 'usr' does not exist in type 'RunOptions'. Did you mean to write 'user'?",
  },
  {
    title: 'run: its result taken for something else',
    code: "export const «sum»: number = await loom.run(hello, 'a');",
    says: "TS2322: Type 'string' is not assignable to type 'number'.",
  },
  {
    title: 'result: taken for something else',
    code: "export const «size»: number = await (await loom.enqueue(hello, 'a')).result();",
    says: "TS2322: Type 'string' is not assignable to type 'number'.",
  },
  {
    title: 'result: an unknown option',
    code: "void (await loom.enqueue(hello, 'a')).result({ «timeut»: '5s' });",
    says: "TS2561: Object literal may only specify known properties, but 'timeut' does not exist in type 'ResultOptions'. Did you mean to write 'timeout'?",
  },
  {
    title: 'schedules.set: a wrong input',
    code: "void loom.schedules.set('a', { every: '1m', task: hello, «input»: 5 });",
    says: "TS2322: Type 'number' is not assignable to type 'ScheduleInput<string>'.",
  },
  {
    title: 'schedules.set: a function that gives a wrong input',
    code: "void loom.schedules.set('a', { every: '1m', task: fetchRows, «input»: (slot) => slot.date });",
    says: "TS2322: Type '(slot: SlotReferences) => string' is not assignable to type 'ScheduleInput<NoInfer<{ day: string; }>>'.",
  },
  {
    title: 'schedules.set: a missing input',
    code: "void loom.schedules.set('a', «{ every: '1m', task: hello }»);",
    names: "Property 'input' is missing",
    says: `TS2345: Argument of type '{ every: "1m"; task: Task<string, string, never>; }' is not assignable to parameter of type 'ScheduleOptions<string, string, never>'.`,
  },
  {
    title: 'schedules.set: a length that is none',
    code: "void loom.schedules.set('a', { «every»: '1 minute', task: tick });",
    says: `TS2322: Type '"1 minute"' is not assignable to type 'Duration | undefined'.`,
  },
  {
    title: 'schedules.set: an unknown option',
    code: "void loom.schedules.set('a', { every: '1m', task: tick, «overlp»: 'skip' });",
    says: "TS2561: Object literal may only specify known properties, but 'overlp' does not exist in type 'ScheduleOptions<void, number, never>'. Did you mean to write 'overlap'?",
  },
  {
    title: 'task: an unknown option',
    code: "task('t', { «retry»: 3 }, async (n: number) => n);",
    says: "TS2353: Object literal may only specify known properties, and 'retry' does not exist in type 'TaskOptionsOf<number, number>'.",
  },
  {
    title: 'task: a wrong option',
    code: "task('t', { «priority»: 'urgent' }, async (n: number) => n);",
    says: `TS2322: Type '"urgent"' is not assignable to type 'Priority | undefined'.`,
  },
  {
    title: 'task: a handler that takes no such input',
    code: "task('t', { «input»: schema }, async (i: { a: string }) => i.a);",
    says: "TS2322: Type 'StandardSchemaV1<{ a: string; }, { a: number; }>' is not assignable to type 'StandardSchemaV1<{ a: string; }, { a: string; }>'.",
  },
  {
    title: 'dynamic: an unknown option',
    code: "dynamic('d', { «maxCycle»: 3 }, async (n: number) => n);",
    says: "TS2561: Object literal may only specify known properties, but 'maxCycle' does not exist in type 'DynamicOptions'. Did you mean to write 'maxCycles'?",
  },
  {
    title: 'dynamic: a wrong input of what comes next',
    code: "dynamic('d', async (n: number, ctx) => ctx.next(hello, «n»));",
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
  },
  {
    title: 'commandTask: an unknown option',
    code: "commandTask('c', { «comand»: 'ls' });",
    says: "TS2561: Object literal may only specify known properties, but 'comand' does not exist in type 'CommandTaskOptions<unknown, unknown, Stdout>'. Did you mean to write 'command'?",
  },
  {
    title: 'commandTask: arguments in one text',
    code: "commandTask('c', { command: 'ls', «args»: '-l' });",
    says: "TS2322: Type 'string' is not assignable to type 'readonly string[] | ((input: unknown) => readonly string[]) | undefined'.",
  },
  {
    title: 'pipe: the wrong order',
    code: 'fetchRows.pipe(«hello»);',
    says: "TS2345: Argument of type 'Task<string, string, never>' is not assignable to parameter of type 'Step<{ n: number; day: string; }[], string, never>'.",
  },
  {
    title: 'pipe: a group that gives something else',
    code: 'fetchRows.pipe(parallel({ total })).pipe(«total»);',
    says: "TS2345: Argument of type 'Task<{ n: number; }[], number, never>' is not assignable to parameter of type 'Step<{ total: number; }, number, never>'.",
  },
  {
    title: 'parallel: an unknown option',
    code: 'parallel({ total }, { «concurency»: 3 });',
    says: `TS2561: Object literal may only specify known properties, but 'concurency' does not exist in type 'ParallelOptions<"total", "strict">'. Did you mean to write 'concurrency'?`,
  },
  {
    title: 'parallel: an unknown policy',
    code: "parallel({ total }, { «policy»: 'bestefort' });",
    says: `TS2820: Type '"bestefort"' is not assignable to type 'ParallelPolicy<"total"> | undefined'. Did you mean '"bestEffort"'?`,
  },
  {
    title: 'parallel: an unknown member',
    code: "parallel({ total }, { policy: { critical: [«'tota'»] } });",
    says: `TS2322: Type '"tota"' is not assignable to type '"total"'.`,
  },
  {
    title: 'parallel: what is no step',
    code: 'parallel({ total, «peak»: 5 });',
    says: "TS2322: Type 'number' is not assignable to type 'SomeStep'.",
  },
  {
    title: 'parallel: what is no step in a tuple',
    code: 'parallel(total, «5»);',
    says: "TS2345: Argument of type 'number' is not assignable to parameter of type 'SomeStep'.",
  },
  {
    title: 'each: an unknown option',
    code: 'each(hello, { «concurency»: 3 });',
    says: `TS2561: Object literal may only specify known properties, but 'concurency' does not exist in type 'EachOptions<"strict">'. Did you mean to write 'concurrency'?`,
  },
  {
    title: 'each: an unknown policy',
    code: "each(hello, { «policy»: 'bestefort' });",
    says: `TS2820: Type '"bestefort"' is not assignable to type 'EachPolicy | undefined'. Did you mean '"bestEffort"'?`,
  },
  {
    title: 'flow: a wrong input of a step',
    code: "flow('f', (f: Flow<string>) => f.step(total, «f.input»));",
    says: "TS2345: Argument of type 'Ref<string>' is not assignable to parameter of type 'Wire<NoInfer<{ n: number; }[]>>'.",
  },
  {
    title: 'xcom: a wrong value',
    code: "void loom.xcom.push(rate, «'many'»);",
    says: "TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
  },
  {
    title: 'xcom: an unknown option',
    code: "void loom.xcom.pull(rate, { «usr»: 'ann' });",
    says: "TS2561: Object literal may only specify known properties, but 'usr' does not exist in type 'XComWhere'. Did you mean to write 'user'?",
  },
  {
    title: 'channel: a wrong value',
    code: "task('t', async (_: number, ctx) => ctx.channel(counts).add('count', «'1'»));",
    says: "TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
  },
  {
    title: 'worker: an unknown option',
    code: 'loom.worker({ «concurency»: 3 });',
    says: "TS2561: Object literal may only specify known properties, but 'concurency' does not exist in type 'WorkerOptions'. Did you mean to write 'concurrency'?",
  },
  {
    title: 'users.set: an unknown setting',
    code: "void loom.users.set('ann', { «wieght»: 2 });",
    says: "TS2561: Object literal may only specify known properties, but 'wieght' does not exist in type 'UserOptions'. Did you mean to write 'weight'?",
  },
  {
    title: 'new Fairloom: an unknown option',
    code: 'new Fairloom({ backend: memory(), «taks»: [hello] });',
    says: "TS2561: Object literal may only specify known properties, but 'taks' does not exist in type 'FairloomOptions'. Did you mean to write 'tasks'?",
  },
];

/** Properties that the input of a step does not have. */
export const EXCESS: readonly Mistake[] = [
  {
    title: 'enqueue: a property too many',
    code: "void loom.enqueue(mail, { to: 'a', «replyto»: 'b' });",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'enqueue: a property too many for a pipeline',
    code: "void loom.enqueue(greet, { to: 'a', «replyto»: 'b' });",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'enqueueMany: a property too many',
    code: "void loom.enqueueMany(mail, [{ to: 'a' }, { to: 'a', «replyto»: 'b' }]);",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'call: a property too many',
    code: "void loom.enqueueMany([call(mail, { to: 'a', «replyto»: 'b' })]);",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'run: a property too many',
    code: "void loom.run(mail, { to: 'a', «replyto»: 'b' });",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'run: a property too many for a pipeline',
    code: "void loom.run(greet, { to: 'a', «replyto»: 'b' });",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'schedules.set: a property too many',
    code: "void loom.schedules.set('a', { every: '1m', task: mail, input: { to: 'a', «replyto»: 'b' } });",
    says: "TS2353: Object literal may only specify known properties, and 'replyto' does not exist in type 'ScheduleInput<NoInfer<{ to: string; replyTo?: string | undefined; }>>'.",
  },
  {
    title: 'flow: a property too many',
    code: "flow('f', (f: Flow<string>) => f.step(mail, { to: f.input, «replyto»: 'b' }));",
    says: "TS2353: Object literal may only specify known properties, and 'replyto' does not exist in type 'Wire<NoInfer<{ to: string; replyTo?: string | undefined; }>>'.",
  },
  {
    title: 'ctx.run: a property too many',
    code: "task('t', async (to: string, ctx) => ctx.run(mail, { to, «replyto»: 'b' }));",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'ctx.next: a property too many',
    code: "dynamic('d', async (to: string, ctx) => ctx.next(mail, { to, «replyto»: 'b' }));",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
  {
    title: 'ctx.goto: a property too many',
    code: "dynamic('d', async (to: string, ctx) => ctx.goto(mail, { to, «replyto»: 'b' }));",
    says: "TS2561: Object literal may only specify known properties, but 'replyto' does not exist in type '{ to: string; replyTo?: string | undefined; }'. Did you mean to write 'replyTo'?",
  },
];
