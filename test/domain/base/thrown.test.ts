/** Every thrown value is read as data, in bounds, and never throws again. */
import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asData, fieldsAsData } from '../../../src/base/as-data.ts';
import { messageOf } from '../../../src/base/message-of.ts';
import { errorFrom, lineOf, namedLineOf, thrownOf } from '../../../src/base/thrown.ts';
import { errorOf, errorText } from '../../../src/codec/task-error.ts';
import { Fatal, isOwn } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';

const throwing = (): never => {
  throw new Error('a trap');
};

/** Refuses everything that can be asked of an object. */
const hostile = (): object => {
  const traps = Object.getOwnPropertyNames(Reflect).map((name) => [name, throwing]);
  return new Proxy({}, Object.fromEntries(traps));
};

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const getter = (key: string, base: object): object =>
  Object.defineProperty(base, key, { get: throwing, enumerable: true, configurable: true });

type Make = () => unknown;

const FIELDS = ['name', 'message', 'code', 'stack', 'cause', 'errors'] as const;

/** Makes values of all kinds, below each other in all the ways in which errors hold others. */
const anything: fc.Arbitrary<Make> = fc.letrec<{ make: Make; holder: Make }>((tie) => ({
  make: fc.oneof(
    { maxDepth: 3 },
    fc
      .anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
      .map((value) => () => value),
    fc
      .constantFrom(Symbol('s'), throwing, null, undefined, Number.NaN, 10n ** 400n)
      .map((value) => () => value),
    fc.string({ unit: 'binary', maxLength: 3_000 }).map((text) => () => text),
    fc.constantFrom<Make>(hostile, revoked, () => '\u0000\ud800'.repeat(20_000)),
    fc.constantFrom(...FIELDS).map((key) => () => getter(key, new Error('m'))),
    tie('holder'),
  ),
  holder: fc
    .record({
      isError: fc.boolean(),
      isRound: fc.boolean(),
      fields: fc.dictionary(fc.constantFrom(...FIELDS), tie('make'), { maxKeys: 3 }),
      errors: fc.array(tie('make'), { maxLength: 3 }),
    })
    .map(({ isError, isRound, fields, errors }) => () => {
      const base = isError ? new Error('m') : {};
      const define = (key: string, value: unknown): void => {
        try {
          Object.defineProperty(base, key, { value, enumerable: true, configurable: true });
        } catch {
          // A stack is made of name and message when it is first touched: these may be hostile.
        }
      };
      define(
        'errors',
        errors.map((make) => make()),
      );
      for (const [key, make] of Object.entries(fields)) define(key, make());
      if (isRound) define('cause', base);
      return base;
    }),
})).make;

// F7
it('reads every thrown value, within its bounds, and never throws', () => {
  fc.assert(
    fc.property(anything, (make) => {
      const thrown = make();
      const facts = thrownOf(thrown);
      expect(typeof facts.name).toBe('string');
      expect(typeof facts.message).toBe('string');
      const text = errorText(thrown);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.errorBytes);
      const stored = errorOf(text);
      expect(stored?.name).toBe(facts.name);
      expect(lineOf(facts)).not.toMatch(/[\r\n]/);
      expect(namedLineOf(facts).length).toBeLessThan(700);
      expect(typeof messageOf(thrown)).toBe('string');
      // A thread or process sends the facts, and they are read from the error that is made of them.
      expect(thrownOf(errorFrom(facts))).toEqual(facts);
      expect(structuredClone(facts)).toEqual(facts);
    }),
    { numRuns: 150 },
  );
});

// F16
it('makes data of any value, field by field, and never throws', () => {
  fc.assert(
    fc.property(anything, anything, (make, makeOther) => {
      const [first, second] = [make(), makeOther()];
      const text = JSON.stringify(fieldsAsData({ kept: 'o-7', first, second }));
      expect(JSON.parse(text)).toMatchObject({ kept: 'o-7' });
      expect(text.length).toBeLessThan(9_000_000);
      structuredClone(asData(first));
    }),
    { numRuns: 150 },
  );
});

describe('what people are told', () => {
  it.each([
    [
      'its cause',
      new TypeError('fetch failed', { cause: new Error('connect X') }),
      'fetch failed: connect X',
    ],
    ['a plain object', { status: 503, reason: 'try later' }, '{"status":503,"reason":"try later"}'],
    [
      'what was collected',
      new AggregateError([new Error('a'), new Error('b')], 'All promises were rejected'),
      'All promises were rejected: a; b',
    ],
    [
      'what a system says by its parts alone',
      new Error('fetch failed', {
        cause: Object.assign(new AggregateError([new Error('::1'), new Error('127.0.0.1')]), {
          code: 'E',
        }),
      }),
      'fetch failed: ::1; 127.0.0.1',
    ],
    [
      'a cause that the message names',
      new Error('no (why)', { cause: new Error('why') }),
      'no (why)',
    ],
    [
      'a code in place of a message',
      Object.assign(new Error(), { code: 'ECONNRESET' }),
      'ECONNRESET',
    ],
    ['nothing but a name', new RangeError(), 'RangeError'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a text', 'boom', 'boom'],
    ['a symbol', Symbol('why'), 'Symbol(why)'],
    ['the first line', new Error('\n one\r\n two'), 'one'],
    // F7
  ])('tells %s', (_, thrown, line) => {
    expect(lineOf(thrownOf(thrown))).toBe(line);
  });

  // F7
  it('ends where causes go round, and after so many', () => {
    const error = new Error('a', { cause: new Error('b') });
    Object.assign(error.cause as Error, { cause: error });
    expect(lineOf(thrownOf(error))).toBe('a: b');
    let deep = new Error('end');
    for (let at = 0; at < 100; at++) deep = new Error(`m${at}`, { cause: deep });
    expect(lineOf(thrownOf(deep))).toBe('m99: m98: m97: m96: m95: m94: m93: m92');
  });
});

// F7
it('reads errors of another realm as errors', () => {
  const thrown: unknown = runInContext(
    `Object.assign(new RangeError('far', { cause: new Error('why') }), { code: 7 })`,
    createContext(),
  );
  expect(thrown).not.toBeInstanceOf(Error);
  const facts = { name: 'RangeError', message: 'far', code: 7, cause: { message: 'why' } };
  expect(thrownOf(thrown)).toMatchObject(facts);
});

// F7
it('keeps a chain of causes with their stacks, in the store and out of it', () => {
  const thrown = new TypeError('outer', { cause: new RangeError('inner') });
  const stored = errorOf(errorText(thrown));
  const inner = { name: 'RangeError', message: 'inner', stack: expect.stringContaining('inner') };
  expect(stored).toMatchObject({ name: 'TypeError', cause: inner });
  expect(errorFrom(stored ?? thrownOf(''))).toMatchObject({ cause: inner, stack: thrown.stack });
});

// F8
it('a brand is no field: nothing that is copied, or looks the same, is taken for ours', () => {
  const ours = new Fatal('x');
  expect(isOwn(ours, 'FATAL')).toBe(true);
  for (const foreign of [
    Object.assign(new Error('x'), ours),
    { ...ours, name: 'Fatal', own: true },
    structuredClone(ours),
    hostile(),
    revoked(),
    null,
    'FATAL',
  ]) {
    expect(isOwn(foreign)).toBe(false);
  }
  const back = errorFrom(thrownOf(ours));
  expect(isOwn(back, 'FATAL') && !back.retryable).toBe(true);
});
