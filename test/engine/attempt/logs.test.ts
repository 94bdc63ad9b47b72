/** The log of a task: which lines are kept, for how long, and that keeping them costs no task anything. */
import { describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import type { TaskLogLine, TaskLogOptions } from '../../../src/client/facades/task-logs.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { BackendUnavailableError, Fatal } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

const fast = { backoff: { base: 0 } } as const;

async function linesOf(
  loom: Fairloom,
  id: string,
  options: TaskLogOptions = {},
): Promise<readonly TaskLogLine[]> {
  const lines: TaskLogLine[] = [];
  for await (const line of loom.tasks.logs(id, options)) lines.push(line);
  return lines;
}

/** `warn text {"a":1} #2 node`, of the first attempt without its number. */
async function shown(loom: Fairloom, id: string): Promise<readonly string[]> {
  const lines = await linesOf(loom, id);
  return lines.map(({ level, message, fields, attempt, node }) =>
    [
      level,
      message,
      ...(fields === undefined ? [] : [JSON.stringify(fields)]),
      ...(attempt === 1 ? [] : [`#${attempt}`]),
      ...(node === undefined ? [] : [node]),
    ].join(' '),
  );
}

/** Logs on every level, and ends as it is told. */
async function talking(how: 'well' | 'badly', ctx: TaskContext): Promise<string> {
  ctx.log.debug('quiet');
  ctx.log.info('begins', { how });
  ctx.log.warn('hm');
  ctx.log.error('oh');
  if (how === 'badly') throw new Fatal('no');
  return how;
}

const talk = task('talk', { retries: 0 }, talking);

const ALL = ['info begins {"how":"badly"}', 'warn hm', 'error oh'];

eachBackend((open) => {
  const harness = opened(open);

  /** Runs it to its end, of any kind. */
  async function ended(loom: Fairloom, id: string): Promise<void> {
    const state = async (): Promise<string> => (await loom.tasks.get(id))?.state ?? 'gone';
    await harness.until(async () => ['finished', 'failed', 'canceled'].includes(await state()));
  }

  describe('what is kept', () => {
    it('of an attempt that fails: all but what is for debugging', async () => {
      const loom = harness.loom([talk]);
      await loom.worker().start();
      const { id } = await loom.enqueue(talk, 'badly');
      await ended(loom, id);
      expect(await shown(loom, id)).toEqual(ALL);
      const [first, , last] = await linesOf(loom, id);
      expect(first?.at).toBe(harness.clock.now());
      expect(await linesOf(loom, id, { from: first?.next ?? 0 })).toHaveLength(2);
      expect(await linesOf(loom, id, { from: last?.next ?? 0 })).toEqual([]);
      expect(await loom.streams.list(id)).toEqual([]);
    });

    it('of one that succeeds at once: nothing, and no call for it', async () => {
      const calls: string[] = [];
      const backend = flakyBackend(harness.backend, ({ operation }) => {
        calls.push(operation);
        return undefined;
      });
      const loom = harness.loom([talk], { backend });
      await loom.worker().start();
      const handle = await loom.enqueue(talk, 'well');
      await handle.result();
      expect(await shown(loom, handle.id)).toEqual([]);
      expect(calls).not.toContain('streams.append');
    });

    it.each([
      ['always', 'well', 3],
      ['always', 'badly', 3],
      ['never', 'badly', 0],
      ['failures', 'badly', 3],
      ['failures', 'well', 0],
    ] as const)('by its definition, or by the defaults: %s, %s', async (keepLogs, how, count) => {
      const other = keepLogs === 'never' ? 'always' : 'never';
      const own = task('own', { keepLogs, retries: 0 }, talking);
      const one = harness.loom([own], { defaults: { keepLogs: other } });
      await one.worker().start();
      const { id } = await one.enqueue(own, how);
      await ended(one, id);
      expect(await linesOf(one, id)).toHaveLength(count);
      const two = harness.loom([talk], { defaults: { keepLogs } });
      await two.worker().start();
      const second = await two.enqueue(talk, how);
      await ended(two, second.id);
      expect(await linesOf(two, second.id)).toHaveLength(count);
    });

    it('of one that takes longer than a second: what it says, once a second, until it ends', async () => {
      const [more, done] = [gate(), gate()];
      const slow = task('slow', async (_: undefined, ctx) => {
        ctx.log.info('one');
        await more.passed;
        ctx.log.info('two');
        ctx.log.info('three');
        await done.passed;
        ctx.log.info('four');
      });
      const loom = harness.loom([slow]);
      await loom.worker().start();
      const { id } = await loom.enqueue(slow);
      await harness.quiet();
      const follow = linesOf(harness.loom([]), id, { follow: true });
      expect(await shown(loom, id)).toEqual([]);
      await harness.clock.advance(LIMITS.reportMs - 1);
      expect(await shown(loom, id)).toEqual([]);
      await harness.clock.advance(1);
      expect(await shown(loom, id)).toEqual(['info one']);
      more.open();
      await harness.quiet();
      expect(await shown(loom, id)).toEqual(['info one']);
      await harness.clock.advance(LIMITS.reportMs);
      expect(await shown(loom, id)).toEqual(['info one', 'info two', 'info three']);
      done.open();
      await ended(loom, id);
      expect((await follow).map(({ message }) => message)).toEqual(['one', 'two', 'three', 'four']);
    });

    it('of all attempts, by their numbers, and after a redrive', async () => {
      const flaky = task('flaky', { retries: 1, ...fast }, async (_: undefined, ctx) => {
        ctx.log.info('tries');
        throw new Error('again');
      });
      const loom = harness.loom([flaky]);
      await loom.worker().start();
      const handle = await loom.enqueue(flaky);
      await settled(harness, refusal(handle.result()));
      expect(await shown(loom, handle.id)).toEqual(['info tries', 'info tries #2']);
      await loom.tasks.redrive(handle.id);
      await settled(harness, refusal(loom.handle(flaky, handle.id).result()));
      expect(await shown(loom, handle.id)).toHaveLength(4);
    });

    it('of one whose result is refused, that gives itself back, or is canceled', async () => {
      const refuses: StandardSchemaV1<number, number> = {
        '~standard': { version: 1, vendor: 'x', validate: () => ({ issues: [{ message: 'no' }] }) },
      };
      const invalid = task('invalid', { output: refuses }, async (_: undefined, ctx) => {
        ctx.log.info('gives');
        return 1;
      });
      const started = gate();
      const canceled = task('canceled', async (_: undefined, ctx) => {
        ctx.log.info('works');
        started.open();
        await new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => {
            ctx.log.warn('leaves');
            reject(ctx.signal.reason);
          });
        });
      });
      const loom = harness.loom([invalid, canceled]);
      await loom.worker().start();
      const one = await loom.enqueue(invalid);
      await ended(loom, one.id);
      expect(await shown(loom, one.id)).toEqual(['info gives']);
      const two = await loom.enqueue(canceled);
      await started.passed;
      await loom.tasks.cancel(two.id);
      await settled(harness, refusal(two.result()));
      expect(await shown(loom, two.id)).toEqual(['info works', 'warn leaves']);
    });

    it('the newest lines, as many as there is room for', async () => {
      const chatter = task('chatter', { retries: 1, ...fast }, async (wide: boolean, ctx) => {
        const text = wide ? 'x'.repeat(900) : '';
        for (let n = 0; n < 1_000; n++) ctx.log.info(`${n}${text}`);
        throw new Error('again');
      });
      const loom = harness.loom([chatter]);
      await loom.worker().start();
      const narrow = await loom.enqueue(chatter, false);
      await settled(harness, refusal(narrow.result()));
      const lines = await linesOf(loom, narrow.id);
      expect(lines.at(-1)).toMatchObject({ message: '999', attempt: 2 });
      expect(lines.at(-200)).toMatchObject({ message: '800', attempt: 2 });
      // The oldest goes when as many are there without it: never less than is promised.
      expect(lines.length).toBeLessThanOrEqual(2 * LIMITS.logLines);
      const wide = await loom.enqueue(chatter, true);
      await settled(harness, refusal(wide.result()));
      const long = await linesOf(loom, wide.id);
      expect(long.at(-1)?.message).toMatch(/^999x/);
      const bytes = long.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
      expect(bytes).toBeLessThan(3 * LIMITS.logBytes);
      expect(long.length).toBeGreaterThan(40);
    });

    it('every value that was logged, as data', async () => {
      const circle: Record<string, unknown> = { a: undefined, n: Number.NaN, b: 2n };
      circle['self'] = circle;
      const odd = task('odd', { retries: 0 }, async (_: undefined, ctx) => {
        const log = ctx.log as unknown as Logger & { info(...args: readonly unknown[]): void };
        log.info('\ud800 lone', { text: '\udfff', '\udead': 1 });
        log.info('circle', circle as LogFields);
        log.info(Symbol('s') as never, 7 as never);
        log.info('x'.repeat(5_000));
        log.info('long', { text: 'y'.repeat(9_000) });
        log.info('');
        throw new Error('no');
      });
      const loom = harness.loom([odd]);
      await loom.worker().start();
      const { id } = await loom.enqueue(odd);
      await ended(loom, id);
      const lines = await linesOf(loom, id);
      expect(lines.map(({ message, fields }) => [message.length, fields])).toEqual([
        [6, { text: '\udfff', '\udead': 1 }],
        [6, { n: 'NaN', b: '2n', self: expect.anything() }],
        ['Symbol(s)'.length, { value: 7 }],
        [LIMITS.logMessageChars + 1, undefined],
        [4, undefined],
        [0, undefined],
      ]);
    });
  });

  describe('runs', () => {
    const leaf = task('leaf', { keepLogs: 'always' }, async (n: number, ctx) => {
      ctx.log.info(`leaf ${n}`);
      return n;
    });
    const list = task('list', { keepLogs: 'always' }, async (n: number, ctx) => {
      ctx.log.info('list');
      return [n, n + 1];
    });

    it.each(['driven', 'dispatched'] as const)(
      'keep the lines of nodes with the task that runs them (%s)',
      async (form) => {
        const line = list
          .pipe(task('sum', async (all: readonly number[]) => all.length))
          .as('line');
        const loom = harness.loom([line]);
        await loom.worker().start();
        const options = form === 'driven' ? { form } : {};
        const handle = await loom.enqueue(line, 1, options as never);
        await settled(harness, handle.result());
        const { nodes } = (await loom.runs.get(handle.id)) ?? { nodes: [] };
        const node = nodes.find(({ node: name }) => name === 'list');
        const lines = await shown(loom, form === 'driven' ? handle.id : (node?.taskId ?? ''));
        expect(lines).toEqual([form === 'driven' ? 'info list list' : 'info list']);
      },
    );

    it('keep those of members with the members', async () => {
      const group = list.pipe(each(leaf, { name: 'leaves' })).as('group');
      const loom = harness.loom([group]);
      await loom.worker({ concurrency: 4 }).start();
      const handle = await loom.enqueue(group, 1);
      await settled(harness, handle.result());
      const { items } = await loom.tasks.list({ state: 'finished' });
      const all = await Promise.all(items.map(({ id }) => shown(loom, id)));
      expect(all.flat().sort()).toEqual(['info leaf 1', 'info leaf 2', 'info list list']);
    });

    it('show what was said before a wait while it lasts', async () => {
      const sleeper = task('sleeper', async (_: undefined, ctx) => {
        ctx.log.info('goes to sleep');
        await ctx.sleep('30s');
        ctx.log.info('is awake');
      });
      const loom = harness.loom([sleeper]);
      await loom.worker().start();
      const handle = await loom.enqueue(sleeper);
      const driven = await loom.enqueue(sleeper.as('s').pipe(leaf as never), undefined, {
        form: 'driven',
      } as never);
      await waitingFor(harness, loom, 'time', 2);
      expect(await shown(loom, handle.id)).toEqual(['info goes to sleep']);
      expect(await shown(loom, driven.id)).toEqual(['info goes to sleep s']);
      await harness.clock.advance(30_000);
      await settled(harness, handle.result());
      expect(await shown(loom, handle.id)).toEqual(['info goes to sleep', 'info is awake']);
    });

    it('here keep nothing, and log', async () => {
      const said: string[] = [];
      const log = { ...console, info: (text: string) => said.push(text) } as unknown as Logger;
      const loom = harness.loom([leaf], { log });
      expect(await loom.run(leaf, 1)).toBe(1);
      expect(said).toContain('leaf 1');
    });
  });

  describe('faults', () => {
    it('lines that cannot be stored cost the task nothing, and are said to be lost once', async () => {
      const said: string[] = [];
      const log: Logger = {
        debug: () => undefined,
        info: () => undefined,
        warn: (_text, fields) => said.push(String(fields?.['event'])),
        error: () => undefined,
      };
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'streams.append' ? { throw: new Error('no room') } : undefined,
      );
      const always = task('always', { keepLogs: 'always' }, talking);
      const loom = harness.loom([always], { backend, log });
      await loom.worker().start();
      const handle = await loom.enqueue(always, 'well');
      expect(await handle.result()).toBe('well');
      expect(said.filter((event) => event === 'log.not-kept')).toHaveLength(1);
    });

    it('an outage loses none of the newest, and holds the end up no longer than itself', async () => {
      let isAway = true;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        isAway && operation === 'streams.append'
          ? { throw: new BackendUnavailableError('append', new Error('away')) }
          : undefined,
      );
      const loom = harness.loom([talk], { backend });
      await loom.worker().start();
      const handle = await loom.enqueue(talk, 'badly');
      const ending = refusal(handle.result());
      await harness.clock.advance(3_000);
      expect((await loom.tasks.get(handle.id))?.state).toBe('started');
      isAway = false;
      await settled(harness, ending);
      expect(await shown(loom, handle.id)).toEqual(ALL);
    });

    it('a line of a handler that has ended is not kept', async () => {
      const late = gate();
      const lingers = task('lingers', { retries: 0 }, async (_: undefined, ctx) => {
        void late.passed.then(() => ctx.log.info('late'));
        ctx.log.info('in time');
        throw new Error('no');
      });
      const loom = harness.loom([lingers]);
      await loom.worker().start();
      const { id } = await loom.enqueue(lingers);
      await ended(loom, id);
      late.open();
      await harness.clock.advance(5_000);
      expect(await shown(loom, id)).toEqual(['info in time']);
    });

    it('nor is one of a node that has ended, while others run under the same lease', async () => {
      const [late, done] = [gate(), gate()];
      const lingers = task('lingers', { keepLogs: 'always' }, async (_: undefined, ctx) => {
        void late.passed.then(() => ctx.log.info('late'));
        ctx.log.info('in time');
        return 1;
      });
      const next = task('next', async (n: number) => {
        await done.passed;
        return n;
      });
      const loom = harness.loom([lingers.pipe(next).as('line')]);
      await loom.worker().start();
      const line = lingers.pipe(next).as('line');
      const handle = await loom.enqueue(line, undefined, { form: 'driven' });
      await harness.until(async () => (await shown(loom, handle.id)).length > 0);
      late.open();
      await harness.clock.advance(5_000);
      done.open();
      await settled(harness, handle.result());
      expect(await shown(loom, handle.id)).toEqual(['info in time lingers']);
    });

    it('an attempt that has lost its lease stores nothing more', async () => {
      const goOn = gate();
      let calls = 0;
      const twice = task('twice', { keepLogs: 'always' }, async (_: undefined, ctx) => {
        const call = ++calls;
        if (call === 1) await goOn.passed;
        ctx.log.info(`call ${call}`);
        return call;
      });
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.extend' ? 'lose-request' : undefined,
      );
      const loom = harness.loom([twice], { backend });
      const other = harness.loom([twice]);
      await loom.worker().start();
      const handle = await loom.enqueue(twice);
      await harness.until(() => calls === 1);
      await other.worker().start();
      expect(await settled(harness, handle.result())).toBe(2);
      goOn.open();
      await harness.clock.advance(5_000);
      expect((await shown(other, handle.id)).map((line) => line.replace(/ #\d+/, ''))).toEqual([
        'info call 2',
      ]);
    });

    it('is unreadable without the key, and stored as no text', async () => {
      const codec = encrypted({ keys: [{ id: 'k', key: new Uint8Array(32).fill(7) }] });
      const loom = harness.loom([talk], { codec });
      await loom.worker().start();
      const { id } = await loom.enqueue(talk, 'badly');
      await ended(loom, id);
      expect(await shown(loom, id)).toEqual(ALL);
      const stored = JSON.stringify(await harness.backend.streams.read(id, '~log', 0, 16));
      expect(stored).not.toMatch(/begins|badly|"hm/);
      expect(await refusal(linesOf(harness.loom([]), id))).toMatchObject({
        code: 'DECRYPTION_FAILED',
      });
    });

    it.each([
      [{ from: -1 }, 'from'],
      [{ from: 4 }, 'from'],
      [{ follow: 1 }, 'follow'],
      [{ signal: 1 }, 'signal'],
      [{ tail: 1 }, 'tail'],
    ])('%j is refused', async (options, option) => {
      const loom = harness.loom([talk]);
      await loom.worker().start();
      const { id } = await loom.enqueue(talk, 'badly');
      await ended(loom, id);
      const reading = async (): Promise<unknown> => linesOf(loom, id, options as never);
      expect(await refusal(reading())).toMatchObject({ code: 'INVALID_OPTION', option });
      expect(await refusal(linesOf(loom, 'nobody'))).toMatchObject({ code: 'TASK_NOT_FOUND' });
    });
  });
});
