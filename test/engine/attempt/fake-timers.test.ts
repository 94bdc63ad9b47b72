/** Tests of users that fake the globals of time, as `vi.useFakeTimers()` does by default. */
import { afterEach, expect, inject, it, vi } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { testLoom } from '../../../src/testing/test-loom.ts';
import { task } from '../../../src/workflow/task-definition.ts';

const hello = task('hello', async (who: string) => `Hello, ${who}!`);

/** The defaults, and everything there is to be faked. */
const FAKES: readonly (readonly [name: string, options: Parameters<typeof vi.useFakeTimers>[0]])[] =
  [
    ['the defaults', undefined],
    [
      'microtasks too',
      { toFake: ['queueMicrotask', 'setImmediate', 'setTimeout', 'setInterval', 'Date'] },
    ],
  ];

afterEach(() => vi.useRealTimers());

// F11
it.each(FAKES)('testLoom drains and advances under fake timers: %s', async (_name, options) => {
  vi.useFakeTimers(options);
  const t = testLoom([hello]);
  const handle = await t.enqueue(hello, 'Ada');
  const late = await t.enqueue(hello, 'Bob', { delay: '1h' });
  await t.drain();
  expect(await handle.result()).toBe('Hello, Ada!');
  await t.clock.advance('1h');
  expect(await late.result()).toBe('Hello, Bob!');
  await t.close();
});

const BACKENDS = [
  ['memory', () => memory()],
  ['redis', () => redis(inject('redisUrl'), { prefix: `fake-${process.pid}-${Math.random()}` })],
] as const;

it.each(
  BACKENDS.flatMap(([name, open]) => FAKES.map((fake) => [name, fake[0], open, fake[1]] as const)),
  // F11
)('%s enqueues, works, waits and closes under fake timers: %s', async (_, __, open, fakes) => {
  vi.useFakeTimers(fakes);
  const loom = new Fairloom({ backend: open(), tasks: [hello], log: silentLogger });
  const worker = loom.worker();
  await worker.start();
  const handle = await loom.enqueue(hello, 'Ada');
  expect(await handle.result({ timeout: '20s' })).toBe('Hello, Ada!');
  const delayed = await loom.enqueue(hello, 'Bob', { delay: 20 });
  expect(await delayed.result({ timeout: '20s' })).toBe('Hello, Bob!');
  await loom.close();
});
