/** The named cases about what callers hand in: an exact round trip, or a typed refusal. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, InvalidPayloadError } from '../../../src/domain/errors/errors.ts';
import type { EnqueueOptions } from '../../../src/enqueue/enqueue-options.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

class Point {
  readonly x = 1;
}

/** Values that come back as they were. */
const KEPT: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53 + 2,
  '',
  'text',
  '\u0000',
  '\u2028',
  'é',
  '💥',
  '"\\/\b\f\n\r\t',
  '</script>',
  'undefined',
  'null',
  '{}',
  [],
  [[]],
  [null],
  {},
  { a: 1, b: 'two' },
  { '': 1 },
  { 'a.b': { 'c d': [1, { e: null }] } },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`),
  Object.assign(Object.create(null), { bare: true }),
  'x'.repeat(1_000_000),
];

/** Values that JSON would change, and where. */
const REFUSED: readonly (readonly [name: string, value: unknown, path: string])[] = [
  ['NaN', Number.NaN, '$'],
  ['Infinity', { deep: [Number.POSITIVE_INFINITY] }, '$.deep[0]'],
  ['bigint', { n: 1n }, '$.n'],
  ['symbol', [Symbol('s')], '$[0]'],
  ['function', { f: () => 1 }, '$.f'],
  ['Date', { at: new Date(0) }, '$.at'],
  ['invalid Date', new Date(Number.NaN), '$'],
  ['Map', new Map([[1, 2]]), '$'],
  ['Set', new Set([1]), '$'],
  ['RegExp', /x/, '$'],
  ['Error', new Error('x'), '$'],
  ['class instance', { point: new Point() }, '$.point'],
  ['Buffer', Buffer.from('x'), '$'],
  ['typed array', new Uint8Array(2), '$'],
  ['Promise', Promise.resolve(1), '$'],
  ['boxed number', Object(1), '$'],
  ['undefined in an array', [1, undefined], '$[1]'],
  ['a hole', new Array(1), '$[0]'],
  ['toJSON', { toJSON: () => 1 }, '$'],
  ['lone surrogate', { s: '\ud800' }, '$.s'],
  ['lone surrogate in a key', { '\udfff': 1 }, '$["\\udfff"]'],
  ['cycle', cyclic, '$.self'],
  ['a getter that throws', Object.defineProperty({}, 'x', { enumerable: true, get: fail }), '$'],
  ['too much', 'x'.repeat(1_048_577), '$'],
  ['too much in UTF-8', 'é'.repeat(600_000), '$'],
];

function fail(): never {
  throw new RangeError('no');
}

eachBackend((open) => {
  const harness = opened(open);

  // O94
  describe('payloads', () => {
    it('come back exactly, as input and as result', async () => {
      const echo = task('echo', async (value: unknown) => value);
      const loom = harness.loom([echo]);
      await loom.worker({ concurrency: 20 }).start();
      const handles = await Promise.all(KEPT.map((value) => loom.enqueue(echo, value)));
      const results = await Promise.all(handles.map((handle) => handle.result()));
      expect(results).toEqual(KEPT);
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
    });

    it.each(REFUSED)('are refused with the path: %s', async (_name, value, path) => {
      const echo = task('echo', async (input: unknown) => input);
      const loom = harness.loom([echo]);
      const error = await loom.enqueue(echo, value).then(fail, (thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidPayloadError);
      expect((error as InvalidPayloadError).path.startsWith(path)).toBe(true);
      expect(await loom.tasks.counts()).toMatchObject({ queued: 0 });
    });

    it.each(REFUSED)('as results end the task without a retry: %s', async (_name, value, path) => {
      let starts = 0;
      const give = task('give', async () => {
        starts++;
        // A promise is awaited, so it is hidden in an object.
        return value instanceof Promise ? { value } : value;
      });
      const loom = harness.loom([give]);
      await loom.worker().start();
      const handle = await loom.enqueue(give);
      await expect(handle.result()).rejects.toMatchObject({
        failureType: 'invalid-result',
        message: expect.stringContaining(value instanceof Promise ? '$.value' : path),
      });
      expect(starts).toBe(1);
    });

    it('every value that a handler throws becomes an error that can be read', async () => {
      const hostile = Object.defineProperty(new Error('x'), 'message', { get: fail });
      const thrown: readonly unknown[] = [
        undefined,
        null,
        'text',
        42n,
        Symbol('s'),
        cyclic,
        hostile,
        new Error('\ud800'),
        new Error('x'.repeat(100_000)),
        Object.create(null),
      ];
      let next = 0;
      const throwing = task('throwing', { retries: 0 }, async () => {
        throw thrown[next++];
      });
      const loom = harness.loom([throwing]);
      await loom.worker({ concurrency: 1 }).start();
      for (const one of thrown) {
        const handle = await loom.enqueue(throwing);
        await expect(handle.result(), String(typeof one)).rejects.toMatchObject({
          code: 'TASK_FAILED',
        });
        const info = await loom.tasks.get(handle.id);
        expect(JSON.stringify(info?.error).length).toBeLessThan(20_000);
      }
    });

    it('that cannot be read end their task, and no other', async () => {
      const parse = task('parse', async (n: number) => n);
      const loom = harness.loom([parse]);
      await harness.backend.tasks.enqueue([damaged('bad')], { atomic: true });
      const handles = await loom.enqueueMany(parse, [1, 2, 3]);
      await loom.worker().start();
      expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([1, 2, 3]);
      await harness.until(async () => (await loom.tasks.get('bad'))?.state === 'failed');
      const bad = await loom.tasks.get('bad');
      expect(bad).toMatchObject({ failureType: 'invalid-payload' });
      expect(bad).not.toHaveProperty('input');
    });
  });

  // O82
  describe('delays', () => {
    it.each([-1, -0, '-5s', 0])('%s means now', async (delay) => {
      const quick = task('quick', async () => 'ran');
      const loom = harness.loom([quick]);
      await loom.worker().start();
      const options = { delay } as EnqueueOptions;
      expect(await (await loom.enqueue(quick, undefined, options)).result()).toBe('ran');
    });

    it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e308, '5', '5 minutes', null, {}, '11000d'])(
      '%s is refused',
      async (delay) => {
        const quick = task('quick', async () => 'ran');
        const loom = harness.loom([quick]);
        const options = { delay } as unknown as EnqueueOptions;
        await expect(loom.enqueue(quick, undefined, options)).rejects.toBeInstanceOf(
          InvalidOptionError,
        );
      },
    );
  });

  // O93
  describe('ids', () => {
    const ids = ['0', '1', '-1', '1e3', 'a:b', '{x}', ' ', 'é', '💥', '__proto__', 'constructor'];
    const nasty = [...ids, '\u0000', '../../', 'a\nb', '"', '*', 'x'.repeat(128)];

    it('are opaque: of tasks, of users, as keys', async () => {
      const own = task('own', async (_: undefined, ctx) => `${ctx.taskId}|${ctx.user}`);
      const loom = harness.loom([own]);
      await loom.worker().start();
      for (const id of nasty) {
        const options = { id, user: id, idempotencyKey: id };
        const handle = await loom.enqueue(own, undefined, options);
        expect(await handle.result()).toBe(`${id}|${id}`);
        expect(await loom.tasks.get(id)).toMatchObject({ id, user: id, state: 'finished' });
      }
    });

    it.each(['', 'x'.repeat(129), 'é'.repeat(65), '\ud800', 7, null, {}, '~own'])(
      '%j is refused',
      async (id) => {
        const own = task('own', async () => undefined);
        const loom = harness.loom([own]);
        const options = { id } as EnqueueOptions;
        await expect(loom.enqueue(own, undefined, options)).rejects.toBeInstanceOf(
          InvalidOptionError,
        );
      },
    );
  });
});

function damaged(id: string) {
  return {
    id,
    name: 'parse',
    queue: 'default',
    user: 'default',
    level: 3 as const,
    cost: 1,
    payload: '{"unfinished',
    options: '{}',
    dependsOn: [],
    edges: {
      onFailure: 'wait' as const,
      onCancel: 'cancel' as const,
      onMissing: 'refuse' as const,
      allowCrossUser: false,
    },
  };
}
