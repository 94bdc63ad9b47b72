/** Definitions: what they refuse, and what they hold. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, RetryAfter } from '../../src/domain/errors/errors.ts';
import { type StandardSchemaV1, validate } from '../../src/workflow/standard-schema.ts';
import { definitionOf, ref, task } from '../../src/workflow/task-definition.ts';
import type { TaskOptions } from '../../src/workflow/task-options.ts';
import { threadTask } from '../../src/workflow/tasks/module-task.ts';
import { retryAfter } from '../../src/workflow/tasks/retry-after.ts';

const schema: StandardSchemaV1<string, string> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};

describe('a definition', () => {
  it('has a name, options and code', () => {
    const fn = async (n: number): Promise<number> => n;
    const definition = definitionOf(task('double', { retries: 2, queue: 'q' }, fn));
    expect(definition).toMatchObject({
      type: 'task',
      name: 'double',
      options: { retries: 2, queue: 'q' },
      code: { kind: 'function', handler: fn },
    });
  });

  it('has another name by as()', () => {
    const one = task('one', { input: schema, output: schema }, (text) => text);
    const two = one.as('two');
    expect(definitionOf(two)).toMatchObject({ name: 'two', input: schema, output: schema });
    expect(definitionOf(two).code).toBe(definitionOf(one).code);
    expect(() => one.as('no spaces')).toThrow(InvalidOptionError);
  });

  it('has its code elsewhere, or in a thread', () => {
    expect(definitionOf(ref('far'))).toMatchObject({ name: 'far', code: { kind: 'elsewhere' } });
    const module = new URL('file:///handlers.mjs');
    const hash = threadTask<(n: number) => number>('hash', { module, exportName: 'run', cost: 2 });
    expect(definitionOf(hash)).toMatchObject({
      options: { cost: 2 },
      code: { kind: 'thread', module: { url: 'file:///handlers.mjs', exportName: 'run' } },
    });
  });

  it.each<[string, TaskOptions]>([
    ['retries', { retries: -1 }],
    ['retries', { retries: 1_000_001 }],
    ['backoff', { backoff: 'fixed' as unknown as never }],
    ['backoff.jitter', { backoff: { jitter: 'some' as 'full' } }],
    ['backoff.max', { backoff: { max: 'never' as '1s' } }],
    ['timeout', { timeout: 'never' as 'none' }],
    ['queue', { queue: '' }],
    ['priority', { priority: 0 as 1 }],
    ['cost', { cost: Number.POSITIVE_INFINITY }],
    ['expiresIn', { expiresIn: 0 }],
    ['decider', { decider: {} as never }],
    ['output', { output: {} as never }],
    ['input', { input: {} as never }],
  ])('refuses a wrong %s', (option, options) => {
    expect(() => task('wrong', options, async () => undefined)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        option: expect.stringMatching(new RegExp(`wrong(\\.|: )${option}$`)),
      }),
    );
  });

  it('refuses what is no name, no function, no options, no URL', () => {
    expect(() => task('', async () => undefined)).toThrow(InvalidOptionError);
    expect(() => task('x', undefined as never)).toThrow(InvalidOptionError);
    expect(() => task('x', {}, 'no function' as never)).toThrow(InvalidOptionError);
    expect(() => task('x', null as never, async () => undefined)).toThrow(InvalidOptionError);
    expect(() => threadTask('x', { module: './hash.js' as unknown as URL })).toThrow(
      InvalidOptionError,
    );
    expect(() => definitionOf({ name: 'x' })).toThrow(InvalidOptionError);
  });
});

describe('retryAfter', () => {
  it('makes what a handler throws', () => {
    expect(retryAfter('30s')).toMatchObject({ delayMs: 30_000, countAttempt: true });
    const quiet = retryAfter(5, { countAttempt: false, message: 'busy' });
    expect(quiet).toBeInstanceOf(RetryAfter);
    expect(quiet).toMatchObject({ delayMs: 5, countAttempt: false, message: 'busy' });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '1 s', '99999d'])('refuses %s', (wait) => {
    expect(() => retryAfter(wait as 1)).toThrow(InvalidOptionError);
  });
});

describe('a schema', () => {
  const answering = (answer: unknown): StandardSchemaV1 => ({
    '~standard': { version: 1, vendor: 'test', validate: () => answer },
  });

  it('answers at once or later', async () => {
    expect(validate(answering({ value: 1 }), 0)).toEqual({ ok: true, value: 1 });
    const later = validate(answering(Promise.resolve({ issues: [{ message: 'no' }] })), 0);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toEqual({ ok: false, path: '$', message: 'no' });
  });

  it('names the place in any of its forms', () => {
    const path = ['a', { key: 'b' }, 3, { key: 4 }];
    expect(validate(answering({ issues: [{ message: 'no', path }] }), 0)).toMatchObject({
      path: '$.a.b[3][4]',
    });
    expect(validate(answering({ issues: [] }), 0)).toMatchObject({
      ok: false,
      message: 'does not match its schema',
    });
  });
});
