/** Where the public API takes a step: which kinds it takes there, and why it refuses the others. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { call } from '../../../src/enqueue/call.ts';
import { testLoom } from '../../../src/testing.ts';
import type { DynamicContext } from '../../../src/workflow/dynamic-context.ts';
import { type Flow, flow } from '../../../src/workflow/flow.ts';
import { notation, parseNotation } from '../../../src/workflow/notation/notation.ts';
import { toAscii } from '../../../src/workflow/notation/render-ascii.ts';
import { toDot } from '../../../src/workflow/notation/render-dot.ts';
import { toMermaid } from '../../../src/workflow/notation/render-mermaid.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { embedded, type Harness, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

type Some = Step<number, unknown, unknown>;

const plus = task('plus', (n: number) => n + 1);

/** One step of each kind; each makes 3 of 2. */
const STEPS = {
  task: plus,
  dynamic: dynamic('chooses', async (n: number, ctx) => ctx.next(plus, n)),
  pipeline: plus.pipe(task('same', (n: number) => n)).as('piped'),
} as const satisfies Record<string, Some>;

type Kind = keyof typeof STEPS;

const RUN = 'a task that is not a run: enqueue() stores a pipeline or dynamic task';
const SEVERAL = 'one task: a pipeline has several';
const NO_VALUE = 'a text, xcomKey(…), or the definition of a task';

/** A place that takes steps. */
interface Place {
  /** As the reports of the API spell it. */
  readonly name: string;
  readonly take: (step: Some, harness: Harness) => unknown;
  /** Kinds that are refused there, with the reason. */
  readonly refused?: Partial<Record<Kind, string>>;
}

const clientOf = (harness: Harness): Fairloom => harness.loom([plus, ...Object.values(STEPS)]);

/** Calls something of a context, and gives what the handler gives then. */
const handler =
  (use: (ctx: DynamicContext<number>, step: Some) => unknown) =>
  (step: Some, harness: Harness): Promise<unknown> =>
    clientOf(harness).run(
      dynamic('holder', { retries: 0 }, async (_: number, ctx) => (await use(ctx, step)) as number),
      1,
    );

const test = (use: (loom: ReturnType<typeof testLoom>, step: never) => unknown) => {
  return async (step: Some): Promise<void> => {
    const loom = testLoom([plus]);
    try {
      use(loom, step as never);
    } finally {
      await loom.close();
    }
  };
};

const MANY = { pipeline: RUN, dynamic: RUN };

/** Every place of the public API that takes a step. */
const PLACES: readonly Place[] = [
  { name: 'enqueue', take: (step, h) => clientOf(h).enqueue(step, 2) },
  { name: 'handle', take: (step, h) => clientOf(h).handle(step, 'id') },
  { name: 'handle', take: (step, h) => clientOf(h).runs.handle(step, 'id') },
  { name: 'run', take: (step, h) => clientOf(h).run(step, 2) },
  { name: 'run', take: handler((ctx, step) => ctx.run(step, 2)) },
  { name: 'next', take: handler((ctx, step) => ctx.next(step, 2)) },
  { name: 'goto', take: handler((ctx, step) => ctx.goto(step, 2)) },
  { name: 'nextTask', take: handler((ctx, step) => ctx.nextTask(step, 2)) },
  { name: 'get', take: handler((ctx, step) => ctx.upstream.get(step)) },
  {
    name: 'pull',
    take: handler((ctx, step) => ctx.xcom.pull(step as never)),
    refused: { pipeline: NO_VALUE },
  },
  {
    name: 'pull',
    take: (step, h) => clientOf(h).xcom.pull(step as never),
    refused: { pipeline: NO_VALUE },
  },
  {
    name: 'delete',
    take: (step, h) => clientOf(h).xcom.delete(step as never),
    refused: { pipeline: NO_VALUE },
  },
  {
    name: 'enqueueMany',
    take: (step, h) => clientOf(h).enqueueMany(step as never, [2] as never),
    refused: MANY,
  },
  { name: 'call', take: (step) => call(step as never, 2 as never), refused: MANY },
  {
    name: 'task',
    take: (step, h) => clientOf(h).schedules.set('a', { every: '1h', task: step, input: 2 }),
  },
  {
    name: 'task',
    take: (step, h) => clientOf(h).schedules.on('a', { event: 'paid', task: step, input: 2 }),
  },
  { name: 'tasks', take: (step, h) => h.loom([step]) },
  { name: 'testLoom', take: (step) => testLoom([step]).close() },
  { name: 'pipe', take: (step) => plus.pipe(step as never) },
  { name: 'each', take: (step) => each(step) },
  { name: 'parallel', take: (step) => parallel({ a: step }) },
  { name: 'parallel', take: (step) => parallel(plus, step) },
  { name: 'step', take: (step) => flow('f', (f: Flow<number>) => f.step(step as never, 2)) },
  { name: 'notation', take: (step) => notation`${plus} >> ${step}` },
  { name: 'parseNotation', take: (step) => parseNotation('one', { one: step }) },
  { name: 'toAscii', take: (step) => toAscii(step) },
  { name: 'toDot', take: (step) => toDot(step) },
  { name: 'toMermaid', take: (step) => toMermaid(step) },
  {
    name: 'stub',
    take: test((loom, step) => loom.stub(step, () => 1)),
    refused: { pipeline: SEVERAL },
  },
  { name: 'fail', take: test((loom, step) => loom.fail(step)), refused: { pipeline: SEVERAL } },
  { name: 'spy', take: test((loom, step) => loom.spy(step)), refused: { pipeline: SEVERAL } },
];

/** A parameter or an option that is a step, in the reports of the API. */
const TAKES =
  /^ *(?:export function |readonly )?(\w+)\??(?:: |.*[( .]\w+\??: (?:readonly )?|.*\w+ extends )(?:Step<|StepOf<|Task<|AnyStep\b|SomeStep\b|Drawable\b|TaskSource\b|ManySource\b|XComSource\b|Readonly<Record<string, AnyStep>>)/;

/** Names of all that takes a step, as the reports of the API have them. */
function placesOfReports(): readonly string[] {
  const reports = ['fairloom', 'fairloom-types', 'fairloom-testing'].map((name) =>
    readFileSync(new URL(`../../../etc/${name}.api.md`, import.meta.url), 'utf8'),
  );
  const lines = reports.join('\n').split('\n');
  const names = lines.filter((line) => !/^(?:export (?:type|interface|class) |\])/.test(line));
  return names.flatMap((line) => TAKES.exec(line)?.[1] ?? []);
}

/** Makes steps of names or functions, and takes none; or is a part of a type. */
const NO_PLACES = ['as', 'ref'];

// F90
it('the list has every place of the API that takes a step', () => {
  const listed = new Set(PLACES.map(({ name }) => name));
  const found = new Set(placesOfReports().filter((name) => !NO_PLACES.includes(name)));
  expect([...found].sort()).toEqual([...listed].sort());
});

embedded((open) => {
  const harness = opened(open);

  // F90
  describe.each(PLACES.map((place, at) => ({ at, ...place })))('$name ($at)', (place) => {
    const { take, refused = {} } = place;

    it.each(Object.keys(STEPS) as Kind[])(
      'takes a step that is a %s, or says why not',
      async (kind) => {
        const taken = (async () => take(STEPS[kind], harness))();
        const why = refused[kind];
        const outcome = await taken.then(
          () => 'taken',
          (error: unknown) => error,
        );
        if (why === undefined) expect(outcome).toBe('taken');
        else {
          expect(outcome).toMatchObject({
            code: 'INVALID_OPTION',
            message: expect.stringContaining(why),
          });
        }
      },
    );

    it('refuses what is no step', async () => {
      const taken = (async () => take({ name: 'plus' } as never, harness))();
      expect(await refusal(taken)).toMatchObject({ code: 'INVALID_OPTION' });
    });
  });

  // F90
  it.each(Object.entries(STEPS))(
    'a step that is a %s gives its result by either handle',
    async (_, step) => {
      const some: Some = step;
      const loom = clientOf(harness);
      await loom.worker().start();
      const handle = await loom.enqueue(some, 2, { user: 'ann' });
      expect(await settled(harness, handle.result())).toBe(3);
      expect(await settled(harness, loom.handle(some, handle.id).result())).toBe(3);
    },
  );

  // F90
  it('a step in place of an id is refused', async () => {
    const wrong = clientOf(harness).enqueue(plus, 1, { dependsOn: [plus as never] });
    expect(await refusal(wrong)).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('handles of enqueue()'),
    });
  });
});
