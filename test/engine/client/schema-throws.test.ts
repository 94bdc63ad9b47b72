/** A schema whose own code throws has refused, at every place where a schema is asked. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { call } from '../../../src/enqueue/call.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { event } from '../../../src/workflow/event.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { xcomKey } from '../../../src/workflow/xcom-key.ts';
import { filesBelow, read } from '../../support/files.ts';
import { refusal } from '../../support/runs.ts';

const THROWN = new RangeError('no table of prices');

/** Throws what is no mistake in the value. */
function broken(): never {
  throw THROWN;
}

const schemaOf = (validate: (value: unknown) => unknown): StandardSchemaV1<unknown, unknown> => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

const KINDS = {
  throws: schemaOf(broken),
  rejects: schemaOf(async () => broken()),
  'answers with what cannot be read': schemaOf(() => ({
    get issues() {
      return broken();
    },
  })),
};

/** Files that ask schemas, each with its places below. */
const PLACES = {
  'src/enqueue/task-maker.ts': ['enqueue', 'enqueueMany', 'schedules.set'],
  'src/client/local-run.ts': ['run', 'ctx.run'],
  'src/runs/calls/run-submission.ts': ['enqueue of a run'],
  'src/runs/calls/edits.ts': ['rerun'],
  'src/client/facades/signals.ts': ['signal'],
  'src/client/facades/publish.ts': ['publish'],
  'src/client/facades/asks-facade.ts': ['asks.answer'],
  'src/attempt/xcom.ts': ['xcom.push', 'xcom.pull'],
  'src/attempt/channels.ts': ['channel.set', 'channel.get'],
  'src/attempt/waits.ts': ['ctx.waitFor a signal', 'ctx.waitFor an event', 'ctx.ask'],
  'src/attempt/handler-call.ts': ['input of a handler', 'output of a handler'],
} as const;

type PlaceName = (typeof PLACES)[keyof typeof PLACES][number];

const refused = (code: string, text: RegExp): unknown =>
  expect.objectContaining({
    ...{ code, path: '$', message: expect.stringMatching(text), cause: THROWN },
  });

it('every file that asks a schema has its places here', () => {
  const asking = filesBelow('src', /\.ts$/).filter((path) =>
    /import \{[^}]*\b(?:validate|checkedBy)\b[^}]*\} from '[./\w]*\/standard-schema\.ts'/.test(
      read(path),
    ),
  );
  expect(asking.toSorted()).toEqual(Object.keys(PLACES).toSorted());
});

describe.each(Object.entries(KINDS))('a schema that %s', (_kind, schema) => {
  let loom: Fairloom;
  const strict = task('strict', { input: schema, retries: 0 }, async (n: unknown) => n);
  const lax = task('lax', { retries: 0 }, async (n: unknown) => n);
  const last = lax.pipe(strict).as('last');
  const first = strict.pipe(lax).as('first');
  const output = task('output', { output: schema, retries: 0 }, async () => 1);
  const key = { name: 'key', strict: xcomKey('key', schema), lax: xcomKey('key') };
  const values = {
    strict: channel<{ n: unknown }>('values', { schemas: { n: schema } }),
    lax: channel<{ n: unknown }>('values'),
  };
  let body: (ctx: TaskContext) => Promise<unknown> = async () => undefined;
  const seen: unknown[] = [];
  const acts = task('acts', { retries: 0 }, async (_: unknown, ctx) => {
    const result = body(ctx);
    await result.catch((error: unknown) => {
      // What suspends the handler is none of its errors.
      if (error instanceof Error) seen.push(error);
    });
    return result;
  });

  beforeEach(() => {
    seen.length = 0;
    loom = new Fairloom({
      backend: memory(),
      tasks: [strict, lax, last, first, output, acts],
      log: silentLogger,
    });
  });
  afterEach(() => loom.close({ timeout: 0 }));

  /** What the handler meets in a call; `then` brings what it waits for. */
  async function inHandler(
    call: typeof body,
    then: (id: string) => Promise<unknown> = async () => undefined,
  ): Promise<unknown> {
    body = call;
    await loom.worker().start();
    const handle = await loom.enqueue(acts, null);
    await then(handle.id);
    await handle.result().catch(() => undefined);
    return seen.at(-1);
  }

  /** How a task fails. */
  async function failure(name: string): Promise<unknown> {
    await loom.worker().start();
    const handle = await loom.enqueueByName(name, 1);
    await handle.result().catch(() => undefined);
    const error = (await loom.tasks.attempts(handle.id))[0]?.error;
    expect(error?.cause).toMatchObject({ name: 'RangeError', message: THROWN.message });
    return Object.assign(new Error(), error, { path: '$', cause: THROWN });
  }

  async function askOf(id: string): Promise<string> {
    for (;;) {
      const one = (await loom.asks.list()).items.find((ask) => ask.id.startsWith(id));
      if (one !== undefined) return one.id;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const question = { title: 'Q', choices: ['yes'] as const };
  const answer = { choice: 'yes', by: 'ann', form: 1 } as const;

  const CALLS: Readonly<Record<PlaceName, () => Promise<unknown>>> = {
    enqueue: () => refusal(loom.enqueue(strict, 1)),
    enqueueMany: async () => Object(await refusal(loom.enqueueMany([call(strict, 1)]))).cause,
    'schedules.set': () =>
      refusal(loom.schedules.set('s', { every: '1h', task: strict, input: 1 })),
    run: () => refusal(loom.run(strict, 1)),
    'ctx.run': () => inHandler((ctx) => ctx.run(strict, 1)),
    'enqueue of a run': () => refusal(loom.enqueue(first, 1)),
    rerun: async () => {
      await loom.worker().start();
      const run = await loom.enqueue(last, 1);
      await run.result().catch(() => undefined);
      return refusal(loom.runs.rerun(run.id, { from: 'strict', input: 2 }));
    },
    signal: () => refusal(loom.signal('id', signal('go', schema), 1)),
    publish: () => refusal(loom.publish('go', 'key', 1, { schema })),
    'asks.answer': () => refusal(loom.asks.answer('id.1', answer, { schema })),
    'xcom.push': () => inHandler((ctx) => ctx.xcom.push(key.strict, 1)),
    'xcom.pull': () =>
      inHandler(async (ctx) => {
        await ctx.xcom.push(key.lax, 1);
        return ctx.xcom.pull(key.strict);
      }),
    'channel.set': () => inHandler((ctx) => ctx.channel(values.strict).set('n', 1)),
    'channel.get': () =>
      inHandler(async (ctx) => {
        await ctx.channel(values.lax).set('n', 1);
        return ctx.channel(values.strict).get('n');
      }),
    'ctx.waitFor a signal': () =>
      inHandler(
        (ctx) => ctx.waitFor(signal('go', schema)),
        (id) => loom.signal(id, 'go', 1),
      ),
    'ctx.waitFor an event': async () => {
      await loom.publish('go', 'key', 1);
      return inHandler((ctx) => ctx.waitFor(event('go', 'key', schema), { within: '1h' }));
    },
    'ctx.ask': () =>
      inHandler(
        (ctx) => ctx.ask({ ...question, form: schema }),
        async (id) => loom.asks.answer(await askOf(id), answer),
      ),
    'input of a handler': () => failure('strict'),
    'output of a handler': () => failure('output'),
  };

  it.each(Object.values(PLACES).flat())('has refused: %s', async (place) => {
    const ofResult = place === 'output of a handler';
    const [code, what] = ofResult ? ['INVALID_RESULT', 'result'] : ['INVALID_PAYLOAD', 'payload'];
    const text = new RegExp(`^${what} at \\$: its schema threw: ${THROWN.message}( \\(.+\\))?$`);
    expect(await CALLS[place]()).toEqual(refused(code, text));
  });
});
