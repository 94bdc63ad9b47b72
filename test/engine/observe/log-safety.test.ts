/** Calls of a log: each field by itself, in every host, and none of them throws. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from '../../../src/base/logger.ts';
import { type LogLevel, safeLogger, stderrLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { processTask, threadTask } from '../../../src/workflow/tasks/module-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { keepLog } from '../../support/processes/processes.ts';

const module = new URL('../../fixtures/throwing-handlers.mjs', import.meta.url);
const { logger } = await import(module.href);
type Act = (input: unknown) => Promise<unknown>;

const HOSTS = {
  plain: task<unknown, unknown>('logger', logger),
  thread: threadTask<Act>('logger', { module, exportName: 'logger' }),
  process: processTask<Act>('logger', { module, exportName: 'logger' }),
};

let harness: Harness;
beforeEach(async () => {
  harness = await openMemory();
});
afterEach(() => harness.close());

it.each(Object.entries(HOSTS))(
  // F16
  'a field that cannot be shown costs no other, in a %s',
  async (host, step) => {
    const log = keepLog();
    expect(await harness.loom([step], { log }).run(step, 1, { user: 'u' })).toBe('done');
    const [line] = await log.said('x');
    const fields = { order: 'o-7', name: 'logger', user: 'u', hidden: '[cannot be read]' };
    expect(line).toMatchObject({ level: 'warn', fields });
    expect(line?.fields?.['failed']).toMatchObject({ name: 'RangeError', cause: { message: 'c' } });
    expect(await log.said('bare')).toMatchObject([{ fields: { error: { message: 'as fields' } } }]);
    if (host === 'plain') return;
    expect(line?.fields).toMatchObject({
      retry: '[Function retry]',
      circular: { name: 'loop', self: '[Circular]' },
      big: '5n',
      symbol: 'Symbol(s)',
      deep: { below: { below: expect.anything() } },
    });
  },
);

describe('the log on stderr', () => {
  const written = (run: (log: Logger) => void, level: LogLevel = 'info'): string => {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
    try {
      run(safeLogger(stderrLogger, level));
    } finally {
      spy.mockRestore();
    }
    return lines.join('');
  };

  // F16
  it('shows every field that it can, and bounds the rest', () => {
    const circular: Record<string, unknown> = { a: 1 };
    circular['self'] = circular;
    const text = written((log) =>
      log.warn('x', { order: 'o-7', circular, f() {}, big: 1n, long: Array(1e5).fill(0) }),
    );
    expect(text).toMatch(
      /^fairloom warn: x \{"order":"o-7","circular":\{"a":1,"self":"\[Circular\]"\}/,
    );
    expect(text).toContain('"f":"[Function f]","big":"1n"');
    expect(text).toContain('99900 more');
  });

  // F20
  it('has lines from its level up', () => {
    const all = (log: Logger): void => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level);
    };
    const shown = (level: LogLevel): number => written(all, level).split('\n').length - 1;
    const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];
    expect(levels.map(shown)).toEqual([4, 3, 2, 1, 0]);
  });

  // F16
  it('takes what a logger of the user refuses, at once or later', async () => {
    const throws = (): never => {
      throw new Error('no transport');
    };
    const late = (): never => Promise.reject(new Error('no transport')) as never;
    const own = { debug: throws, info: late, warn: throws, error: late };
    expect(written(() => safeLogger(own, 'debug').warn('kept', { a: 1 }))).toBe(
      'fairloom warn: kept {"a":1}\n',
    );
    const lines: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    safeLogger(own, 'debug').error('later');
    await vi.waitFor(() => expect(lines).toEqual(['fairloom error: later\n']));
  });

  // F16
  it('gives a logger plain data when it cannot take what it was given', () => {
    const lines: string[] = [];
    const json = (_: string, fields: unknown): void => void lines.push(JSON.stringify(fields));
    safeLogger({ debug: json, info: json, warn: json, error: json }, 'debug').info('x', { n: 1n });
    expect(lines).toEqual(['{"n":"1n"}']);
  });
});
