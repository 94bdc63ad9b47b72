/** What is logged: lines with stable names, and nothing of what tasks carry. */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import { BackendUnavailableError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { LOG_LEVELS } from '../../../src/logging/log-events.ts';
import { safeLogger, stderrLogger } from '../../../src/logging/logger.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { observe } from '../../support/workers.ts';

/** Stands in every input, result and error. */
const SECRET = 'hunter2';

/** So often it is large enough to be warned of. */
const LARGE = Math.ceil(LIMITS.payloadWarnBytes / SECRET.length) + 1;

interface Line {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: LogFields;
}

function keeper(lines: Line[]): Logger {
  const keep = (level: keyof Logger) => {
    return (message: string, fields: LogFields = {}) => void lines.push({ level, message, fields });
  };
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
}

/** As much of a line as any logger could show. */
const shown = (lines: readonly Line[]): string =>
  inspect(lines, { depth: 12, showHidden: true, maxStringLength: null });

const named = (lines: readonly Line[]): readonly unknown[] =>
  lines.map(({ fields }) => fields['event']);

eachBackend((open) => {
  let harness: Harness;
  let lines: Line[];
  beforeEach(async () => {
    harness = await open();
    lines = [];
  });
  afterEach(() => harness.close());

  it.each([
    [false, SECRET],
    [true, 'the reason why'],
  ])(
    // F20
    'no line tells of inputs and results, nor of errors with logErrors %s',
    async (logErrors, why) => {
      const log = keeper(lines);
      const good = task('good', async (input: string) => input);
      const bad = task('bad', { retries: 1, backoff: { kind: 'fixed', base: '1s' } }, async () => {
        throw new RangeError(why, { cause: new Error(why) });
      });
      const slow = task('slow', (_: string, ctx) => {
        return new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error(why)));
        });
      });
      const large = task('large', async () => SECRET.repeat(LARGE));
      const notes = channel<{ text: string }>('notes');
      const writes = task('writes', async (_: string, ctx) => {
        await ctx.channel(notes).set('text', SECRET);
        await ctx.xcom.push('key', SECRET);
        return SECRET;
      });
      const loom = harness.loom([good, bad, slow, large, writes], { log, logErrors });
      const worker = loom.worker({ concurrency: 10 });
      const seen = observe(worker);
      await worker.start();
      await loom.enqueue(good, SECRET);
      await loom.enqueue(good, SECRET.repeat(LARGE));
      await loom.enqueue(bad, undefined);
      await loom.enqueue(large, undefined);
      await loom.enqueue(writes.pipe(good.as('next')).as('run'), SECRET);
      const { id } = await loom.enqueue(slow, SECRET);
      await seen.count('task.retried', 1);
      await harness.clock.advance('5s');
      await seen.count('task.failed', 1);
      await loom.tasks.cancel(id, { reason: SECRET });
      await seen.count('task.canceled', 1);
      await loom.enqueue(slow, SECRET);
      await harness.clock.advance('1s');
      const closing = loom.close();
      await harness.clock.advance('1m');
      await closing;
      expect(named(lines)).toContain('value.large');
      const errors = lines.filter(({ fields }) => fields['error'] === 'RangeError');
      const reason = logErrors ? why : undefined;
      expect(errors).toMatchObject([
        { level: 'warn', fields: { event: 'attempt.failed', name: 'bad', attempt: 1, reason } },
        { level: 'error', fields: { event: 'task.failed', name: 'bad', attempt: 2, reason } },
      ]);
      expect(shown(lines)).not.toContain(SECRET);
    },
  );

  // F20
  it('a failed run has one line for each attempt of its nodes, and one that names the node', async () => {
    const bad = task(
      'bad',
      { retries: 1, backoff: { base: 0 } },
      async (_: number): Promise<string> => {
        throw new TypeError('fetch failed', { cause: new Error('connect X') });
      },
    );
    const good = task('good', async () => 1);
    const step = good.pipe(bad).as('nightly');
    const loom = harness.loom([step], { log: keeper(lines) });
    await loom.worker().start();
    for (const form of ['driven', 'dispatched'] as const) {
      lines.length = 0;
      const handle = await loom.enqueue(step, undefined, { form, user: 'acme' });
      await expect(settled(harness, handle.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
      const told = lines.filter(({ fields }) => 'reason' in fields);
      const common = { user: 'acme', run: handle.id, node: 'bad', error: 'TypeError' };
      const fields = { ...common, reason: 'fetch failed: connect X' };
      expect(told[0]).toMatchObject({ level: 'warn', fields: { ...fields, attempt: 1 } });
      expect(told.at(-1)).toMatchObject({ level: 'error', fields });
      expect(told.filter(({ level }) => level === 'error')).toHaveLength(1);
      expect(told).toHaveLength(form === 'driven' ? 3 : 2);
    }
  });

  // F20
  it('a member of a group that fails has its lines', async () => {
    const bad = task('bad', { retries: 0 }, async (n: number) => {
      if (n === 2) throw new Error('two');
      return n;
    });
    const step = each(bad);
    const loom = harness.loom([step], { log: keeper(lines) });
    await loom.worker().start();
    const handle = await loom.enqueue(step, [1, 2]);
    await expect(settled(harness, handle.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
    const told = lines.filter(({ fields }) => 'reason' in fields);
    expect(told).toMatchObject([
      { level: 'error', fields: { name: 'bad', run: handle.id, attempt: 1, reason: 'two' } },
      { level: 'error', fields: { task: handle.id, error: 'GroupFailedError' } },
    ]);
  });

  it('a call that fails is told once, without what it carried', async () => {
    const log = keeper(lines);
    let fails = 2;
    const { tasks } = harness.backend;
    const broken = Object.assign(Object.create(tasks), {
      lease: tasks.lease.bind(tasks),
      settle: async (request: Parameters<typeof tasks.settle>[0]) => {
        if (fails-- > 0) throw new BackendUnavailableError('settle', new Error('away'));
        return tasks.settle(request);
      },
    });
    const good = task('good', async (input: string) => input);
    const loom = harness.loom([good], { log, backend: { ...harness.backend, tasks: broken } });
    const worker = loom.worker({ id: 'w1' });
    const seen = observe(worker);
    await worker.start();
    await loom.enqueue(good, SECRET);
    await seen.count('worker.error', 1);
    await harness.clock.advance('10s');
    await seen.count('worker.error', 2);
    await seen.count('task.finished', 1);
    const told = lines.filter(({ fields }) => fields['event'] === 'worker.call-failed');
    expect(told).toMatchObject([
      { level: 'warn', fields: { worker: 'w1', operation: 'settle and lease' } },
    ]);
    expect(shown(lines)).not.toContain(SECRET);
  });

  it('every line has a name of the table, and its level', async () => {
    const log = keeper(lines);
    const good = task('good', async () => 'done');
    const decider = (): never => {
      throw new Error('no decision');
    };
    const loom = harness.loom([good], { log });
    const worker = loom.worker({ decider });
    worker.on('task.finished', () => {
      throw new Error('deaf');
    });
    const seen = observe(worker);
    await worker.start();
    await loom.enqueue(good);
    await loom.enqueueByName('nobody');
    await seen.count('task.finished', 1);
    await harness.clock.advance('10s');
    const names = ['worker.call-failed', 'listener.threw', 'task.unserved'];
    expect(named(lines)).toEqual(expect.arrayContaining(names));
    const levels = new Map<unknown, keyof Logger>(Object.entries(LOG_LEVELS));
    for (const { level, fields } of lines) expect(level).toBe(levels.get(fields['event']));
  });
});

describe('the default log', () => {
  it('shows level, name and message, then the other fields; no debug', () => {
    const written: string[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    const log = safeLogger(stderrLogger, 'info');
    log.warn('it is full', { event: 'backend.warning' });
    log.warn('lease failed', { event: 'worker.call-failed', error: new TypeError('no') });
    log.info('said by a handler', { task: 't1' });
    log.debug('nothing', { event: 'backend.opened' });
    write.mockRestore();
    expect(written).toEqual([
      'fairloom warn backend.warning: it is full\n',
      'fairloom warn worker.call-failed: lease failed {"error":"TypeError: no"}\n',
      'fairloom info: said by a handler {"task":"t1"}\n',
    ]);
  });
});
