/** What handlers throw, in every host: what is kept of it, what people are told, what it decides. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fatal, RunFailedError, TaskFailedError } from '../../../src/domain/errors/errors.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import type { TaskOptions } from '../../../src/workflow/task-options.ts';
import { processTask, threadTask } from '../../../src/workflow/tasks/module-task.ts';
import { embedded, type Harness, openMemory } from '../../support/backends.ts';
import { type SecondCopy, secondCopy } from '../../support/processes/second-copy.ts';
import { settled } from '../../support/runs.ts';
import { observe } from '../../support/workers.ts';

const module = new URL('../../fixtures/throwing-handlers.mjs', import.meta.url);
const handlers: Readonly<Record<string, Act>> = await import(module.href);

/** What a run needs to be more than a task. */
const after = task('after', async (input: unknown) => input);

type Act = (input: unknown, ctx: never) => Promise<unknown>;

/** The same handler in each host. */
const HOSTS = {
  plain: (name: string, options: TaskOptions) =>
    task<unknown, unknown>(name, options, handlers[name] as never),
  thread: (name: string, options: TaskOptions) =>
    threadTask<(input: unknown) => Promise<unknown>>(name, {
      ...options,
      module,
      exportName: name,
    }),
  process: (name: string, options: TaskOptions) =>
    processTask<(input: unknown) => Promise<unknown>>(name, {
      ...options,
      module,
      exportName: name,
    }),
};

const hosts = Object.entries(HOSTS);

const THROWN: readonly (readonly [string, object, string])[] = [
  [
    'fetch',
    { name: 'TypeError', message: 'fetch failed', cause: expect.anything() },
    'fetch failed: ',
  ],
  [
    'plain',
    { name: 'Error', message: '{"status":503,"reason":"try later"}' },
    '{"status":503,"reason":"try later"}',
  ],
  [
    'any',
    {
      name: 'AggregateError',
      errors: [
        { name: 'Error', message: 'a' },
        { name: 'TypeError', message: 'b' },
      ],
    },
    'All promises were rejected: a; b',
  ],
  ['getter', { name: 'Error', message: '[cannot be read]' }, '[cannot be read]'],
  ['null', { name: 'Error', message: 'null' }, 'null'],
  ['revoked', { name: 'Error', message: '[cannot be read]' }, '[cannot be read]'],
  ['symbol', { name: 'Error', message: 'Symbol(why)' }, 'Symbol(why)'],
  ['circular', { message: 'outer', cause: { message: 'inner' } }, 'outer: inner'],
];

let copy: SecondCopy;
beforeAll(async () => {
  copy = await secondCopy();
});
afterAll(() => copy.remove());

embedded((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  // F7
  it.each(hosts)('keeps what was thrown in a %s, and tells it in one line', async (_, host) => {
    const step = host('thrower', { retries: 0 });
    const loom = harness.loom([step]);
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    for (const [how, kept, line] of THROWN) {
      const handle = await loom.enqueue(step, how);
      const failed: unknown = await handle.result().catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(TaskFailedError);
      expect(failed).toMatchObject({
        message: expect.stringContaining(`failed (error): ${line}`),
        cause: expect.any(Error),
      });
      const { error } = (await loom.tasks.get(handle.id)) ?? {};
      expect(error).toMatchObject(kept);
      expect(seen.of('task.failed').at(-1)?.error).toEqual(error);
    }
  });

  // F7
  it('a run that failed has the causes behind its node, driven and dispatched', async () => {
    const step = HOSTS.plain('thrower', { retries: 0 });
    const one = step.pipe(after);
    const loom = harness.loom([one]);
    await loom.worker().start();
    for (const form of ['driven', 'dispatched'] as const) {
      const handle = await loom.enqueue(one, 'circular', { form });
      const failed: unknown = await handle.result().catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(RunFailedError);
      expect(failed).toMatchObject({
        message: expect.stringContaining('outer: inner'),
        cause: { message: 'outer', cause: { message: 'inner' } },
      });
    }
  });

  // F8
  it.each(hosts)('in a %s errors of another copy steer, lookalikes do not', async (_, host) => {
    const backoff = { kind: 'fixed', base: '1s', jitter: 'none' } as const;
    const own = host('steerer', { retries: 1, backoff });
    const foreign = host('thrower', { retries: 1, backoff });
    const loom = harness.loom([own, foreign]);
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    const { url } = copy;

    const fatal = await loom.enqueue(own, { url, how: 'fatal' });
    await expect(fatal.result()).rejects.toMatchObject({ message: expect.stringContaining('why') });
    const invalid = await loom.enqueue(own, { url, how: 'invalid' });
    await expect(invalid.result()).rejects.toMatchObject({ failureType: 'invalid-result' });
    expect(seen.of('task.retried')).toEqual([]);
    expect((await loom.tasks.get(fatal.id))?.error).toMatchObject({ code: 'FATAL', own: true });

    const later = await loom.enqueue(own, { url, how: 'later', first: 1 });
    await seen.count('task.released', 1);
    expect(await loom.tasks.get(later.id)).toMatchObject({ state: 'scheduled' });

    for (const how of ['lookalike', 'later']) {
      const before = seen.of('task.retried').length;
      const handle = await loom.enqueue(foreign, how);
      await seen.count('task.retried', before + 1);
      await harness.clock.advance('1s');
      await expect(handle.result()).rejects.toMatchObject({ failureType: 'error' });
      const error = (await loom.tasks.get(handle.id))?.error;
      expect(error?.code).toBe(how === 'later' ? 'RETRY_AFTER' : 'FATAL');
      expect(error?.own).toBeUndefined();
    }
    expect(seen.of('task.released')).toHaveLength(1);
  });

  // F8
  it('a node of a run is steered by another copy, and by no lookalike', async () => {
    const calls: unknown[] = [];
    let ended = 0;
    const backoff = { kind: 'fixed', base: '1s', jitter: 'none' } as const;
    const counted = (name: string) =>
      task(name, { retries: 1, backoff }, async (input: unknown, ctx) => {
        calls.push(name);
        try {
          return await handlers[name]?.(input, ctx as never);
        } finally {
          ended++;
        }
      }).pipe(after);
    const [own, foreign] = [counted('steerer'), counted('thrower')];
    const loom = harness.loom([own, foreign]);
    await loom.worker().start();
    for (const form of ['driven', 'dispatched'] as const) {
      const before = ended;
      const fatal = await loom.enqueue(own, { url: copy.url, how: 'fatal' }, { form });
      // It loads the copy, for which no time passes on this clock.
      await harness.until(() => ended > before);
      await expect(settled(harness, fatal.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
      expect(calls.splice(0)).toEqual(['steerer']);
      const other = await loom.enqueue(foreign, 'lookalike', { form });
      await expect(settled(harness, other.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
      expect(calls.splice(0)).toEqual(['thrower', 'thrower']);
    }
  });
});

describe('in this process', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await openMemory();
  });
  afterEach(() => harness.close());

  // F8
  it('what a thread throws of our own is of our own class here', async () => {
    const { url } = copy;
    const call = harness
      .loom([])
      .run(HOSTS.thread('steerer', { retries: 0 }), { url, how: 'fatal' });
    await expect(call).rejects.toBeInstanceOf(Fatal);
    await expect(call).rejects.toMatchObject({ cause: { name: 'RangeError', message: 'why' } });
  });
});

describe('a module that cannot be loaded yet', () => {
  let folder: string;
  let harness: Harness;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fairloom-module-'));
    harness = await openMemory();
  });
  afterEach(async () => {
    await harness.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['thread', threadTask<() => Promise<number>>],
    ['process', processTask<() => Promise<number>>],
    // F9
  ] as const)('a %s that has not loaded its module is not used again', async (_, define) => {
    const sign = join(folder, 'starting-up');
    const file = join(folder, 'handler.mjs');
    writeFileSync(sign, '');
    writeFileSync(
      file,
      `import { existsSync } from 'node:fs';
       if (existsSync(${JSON.stringify(sign)})) throw new Error('starting up');
       export default () => process.pid;`,
    );
    const backoff = { kind: 'fixed', base: '1s', jitter: 'none' } as const;
    const step = define('late', {
      module: pathToFileURL(file),
      retries: 2,
      backoff,
    });
    const loom = harness.loom([step]);
    const worker = loom.worker({ concurrency: 1 });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(step);
    await seen.count('task.retried', 1);
    expect(seen.of('task.retried')[0]?.error.message).toBe('starting up');
    rmSync(sign);
    await harness.clock.advance('1s');
    expect(await handle.result()).toEqual(expect.any(Number));
    expect(await loom.run(step)).toEqual(expect.any(Number));
  });
});
