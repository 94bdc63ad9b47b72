/** Streams: what a task tells while it runs, read live, from any offset, also when its worker dies. */
import { describe, expect, it } from 'vitest';
import { encrypted } from '../../../src/codec/encrypted.ts';
import {
  ClosedError,
  LeaseLostError,
  StreamLimitError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import type { TaskStream } from '../../../src/workflow/task-stream.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';
import { readAll, readNow, shownItem } from '../../support/streams.ts';

const fast = { backoff: { base: 0 } } as const;

const speak = task('speak', async (words: readonly unknown[], ctx) => {
  const tokens = ctx.stream('tokens');
  for (const word of words) await tokens.write(word);
});

eachBackend((open) => {
  const harness = opened(open);

  describe('a reader', () => {
    it('is told while the task runs, and ends with the stream', async () => {
      const [goOn, done] = [gate(), gate()];
      const writer = task('writer', async (_: undefined, ctx) => {
        const tokens = ctx.stream('tokens');
        await tokens.write('a');
        await goOn.passed;
        await tokens.write({ b: [1, null] });
        await tokens.close();
        await done.passed;
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const { id } = await loom.enqueue(writer);
      const reader = loom.streams.read(id, 'tokens');
      const whole = readAll(harness.loom([]), id);
      expect((await reader.next()).value).toEqual({
        ...{ type: 'chunk', offset: 0, next: 1, attempt: 1, value: 'a' },
      });
      goOn.open();
      expect((await reader.next()).value).toMatchObject({ offset: 1, value: { b: [1, null] } });
      expect(await reader.next()).toEqual({ done: true, value: undefined });
      expect(await whole).toEqual(['0 a', '1 {"b":[1,null]}']);
      done.open();
      await harness.until(async () => (await loom.tasks.get(id))?.state === 'finished');
      expect(await readAll(loom, id)).toEqual(['0 a', '1 {"b":[1,null]}']);
      expect(await loom.streams.list(id)).toMatchObject([
        { name: 'tokens', first: 0, next: 3, closed: true },
      ]);
    });

    it('waits for a stream that is not there yet, and ends with its task', async () => {
      const goOn = gate();
      const writer = task('writer', async (_: undefined, ctx) => {
        await goOn.passed;
        await ctx.stream('tokens').write('late');
      });
      const loom = harness.loom([writer]);
      const { id } = await loom.enqueue(writer);
      const [all, nothing] = [readAll(loom, id), readAll(loom, id, 'other')];
      expect(await readNow(loom, id)).toEqual([]);
      await loom.worker().start();
      goOn.open();
      expect([await all, await nothing]).toEqual([['0 late'], []]);
    });

    it('goes on from an offset', async () => {
      const loom = harness.loom([speak]);
      await loom.worker().start();
      const { id } = await loom.enqueue(speak, ['a', 'b', 'c']);
      const items = [];
      for await (const item of loom.streams.read(id, 'tokens')) {
        items.push(shownItem(item));
        if (item.type !== 'chunk' || item.value !== 'b') continue;
        items.push(...(await readAll(loom, id, 'tokens', { from: item.next })));
        break;
      }
      expect(items).toEqual(['0 a', '1 b', '2 c']);
      expect(await readAll(loom, id, 'tokens', { from: 3 })).toEqual([]);
      const behind = await refusal(readAll(loom, id, 'tokens', { from: 4 }));
      expect(behind).toMatchObject({ code: 'INVALID_OPTION', option: 'from' });
    });

    it('ends with its signal, and with its client', async () => {
      const loom = harness.loom([speak]);
      const { id } = await loom.enqueue(speak, ['a']);
      const controller = new AbortController();
      const reading = readAll(loom, id, 'tokens', { signal: controller.signal });
      const rest = readAll(loom, id);
      await harness.quiet();
      controller.abort(new Error('enough'));
      expect(await refusal(reading)).toMatchObject({ message: 'enough' });
      const { signal } = controller;
      expect(await refusal(readAll(loom, id, 'tokens', { signal }))).toMatchObject({
        message: 'enough',
      });
      const closing = loom.close({ timeout: 0 });
      expect(await refusal(rest)).toBeInstanceOf(ClosedError);
      await closing;
    });

    it('is told when the oldest are gone', async () => {
      const many = task('many', async (_: undefined, ctx) => {
        const tokens = ctx.stream('tokens');
        for (let n = 0; n < LIMITS.streamChunks + 1_500; n += 500) {
          await Promise.all(Array.from({ length: 500 }, (_one, at) => tokens.write(n + at)));
        }
      });
      const loom = harness.loom([many]);
      await loom.worker().start();
      const handle = await loom.enqueue(many);
      await handle.result();
      const all = await readNow(loom, handle.id);
      expect(all.slice(0, 2)).toEqual(['gap 0-1500', '1500 1500']);
      expect(all).toHaveLength(LIMITS.streamChunks + 1);
      const [first] = await readAll(loom, handle.id, 'tokens', { from: 10 });
      expect(first).toBe('gap 10-1500');
    });

    it('is refused what is no offset, no name, and no task', async () => {
      const loom = harness.loom([speak]);
      const { id } = await loom.enqueue(speak, []);
      for (const from of [-1, 1.5, Number.NaN, '1' as never]) {
        expect(() => loom.streams.read(id, 'tokens', { from })).toThrow('from');
      }
      expect(() => loom.streams.read(id, 'a b')).toThrow('stream');
      expect(() => loom.streams.read('', 'tokens')).toThrow('id');
      expect(() => loom.streams.read(id, 'tokens', { follow: 1 as never })).toThrow('follow');
      expect(() => loom.streams.read(id, 'tokens', { form: 1 } as never)).toThrow('form');
      for (const call of [readAll(loom, 'nobody'), loom.streams.list('nobody')]) {
        expect(await refusal(call)).toMatchObject({ code: 'TASK_NOT_FOUND' });
      }
      expect(await loom.streams.list(id)).toEqual([]);
    });

    it('reads what was encrypted with its key, and is refused without it', async () => {
      const key = 'k'.repeat(32);
      const keys = [{ id: 'k1', key: Buffer.from(key) }];
      const loom = harness.loom([speak], { codec: encrypted({ keys }) });
      await loom.worker().start();
      const handle = await loom.enqueue(speak, ['secret']);
      await handle.result();
      expect(await readAll(loom, handle.id)).toEqual(['0 secret']);
      const stored = await harness.backend.streams.read(handle.id, 'tokens', 0, 16);
      expect(JSON.stringify(stored)).toMatch(/enc:k1:/);
      expect(JSON.stringify(stored)).not.toContain('secret');
      const blind = await refusal(readAll(harness.loom([]), handle.id));
      expect(blind).toMatchObject({ code: 'DECRYPTION_FAILED', keyId: 'k1' });
    });

    it('reads what the codec of its client makes of it', async () => {
      const codec = {
        encode: (value: unknown) => `<${JSON.stringify(value)}>`,
        decode: (text: string): unknown => JSON.parse(text.slice(1, -1)),
      };
      const loom = harness.loom([speak], { codec });
      await loom.worker().start();
      const { id } = await loom.enqueue(speak, ['a', 1]);
      expect(await readAll(loom, id)).toEqual(['0 a', '1 1']);
      const [entry] = await harness.backend.streams.read(id, 'tokens', 0, 1);
      expect(entry?.text).toContain('<"a">');
    });
  });

  describe('a handler', () => {
    it('waits for nothing, and all is stored before its attempt ends', async () => {
      const calls: number[] = [];
      const backend = flakyBackend(harness.backend, ({ operation, args }) => {
        if (operation === 'streams.append')
          calls.push(Number(Reflect.get(Object(args[1]), 'count')));
        return undefined;
      });
      const chatter = task('chatter', (_: undefined, ctx) => {
        for (let n = 0; n < 2_500; n++) void ctx.stream('tokens').write(n);
        void ctx.stream('other').close();
        return 'done';
      });
      const loom = harness.loom([chatter], { backend });
      await loom.worker().start();
      const handle = await loom.enqueue(chatter);
      expect(await handle.result()).toBe('done');
      expect(calls.toSorted((a, b) => a - b)).toEqual([0, 500, 1_000, 1_000]);
      expect(await readNow(loom, handle.id)).toHaveLength(2_500);
      expect((await readNow(loom, handle.id)).at(-1)).toBe('2499 2499');
    });

    it('is refused what cannot be stored, and may go on', async () => {
      const problems: unknown[] = [];
      const writer = task('writer', async (_: undefined, ctx) => {
        const tokens = ctx.stream('tokens');
        expect(ctx.stream('tokens')).toBe(tokens);
        expect([tokens.id, tokens.name]).toEqual([ctx.taskId, 'tokens']);
        for (const chunk of [undefined, 1n, 'x'.repeat(LIMITS.streamChunkBytes), () => 1]) {
          problems.push(await refusal(tokens.write(chunk)));
        }
        expect(() => ctx.stream('no name')).toThrow('stream');
        await tokens.write('x'.repeat(LIMITS.streamChunkBytes - 2));
        await tokens.close();
        problems.push(await refusal(tokens.write(1)), await refusal(tokens.close()));
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer);
      await handle.result();
      const codes = problems.map((problem) => Reflect.get(Object(problem), 'code'));
      const invalid = Array.from({ length: 4 }, () => 'INVALID_PAYLOAD');
      expect(codes).toEqual([...invalid, 'CLOSED', 'CLOSED']);
      expect(await loom.streams.list(handle.id)).toMatchObject([{ next: 2, closed: true }]);
    });

    it('cannot write once it has ended', async () => {
      let kept: TaskStream | undefined;
      const writer = task('writer', async (_: undefined, ctx) => {
        kept = ctx.stream('tokens');
        await kept.write(1);
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const { id } = await loom.enqueue(writer);
      expect(await readAll(loom, id)).toEqual(['0 1']);
      expect(await refusal(kept?.write(2) ?? Promise.resolve())).toBeInstanceOf(ClosedError);
    });

    it.each([
      ['streams', (n: number) => `s${n}`, 'x'],
      ['streamPendingBytes', () => 'tokens', 'x'.repeat(60_000)],
    ] as const)(
      'fails when it is over %s, also when it does not look',
      async (limit, name, chunk) => {
        const greedy = task('greedy', { retries: 2, ...fast }, (_: undefined, ctx) => {
          for (let n = 0; n < 18; n++)
            void ctx
              .stream(name(n))
              .write(chunk)
              .catch(() => undefined);
        });
        const loom = harness.loom([greedy]);
        await loom.worker().start();
        const handle = await loom.enqueue(greedy);
        expect(await refusal(handle.result())).toMatchObject({
          code: 'TASK_FAILED',
          errorName: StreamLimitError.name,
          message: expect.stringContaining(limit),
        });
        expect(await loom.tasks.get(handle.id)).toMatchObject({ failures: 1 });
      },
    );

    it('keeps nothing in a run that is not stored', async () => {
      const told: unknown[] = [];
      const here = task('here', async (_: undefined, ctx) => {
        await ctx.stream('tokens').write('a');
        told.push(await refusal(ctx.stream('tokens').write(undefined)));
        await ctx.stream('tokens').close();
        return ctx.stream('tokens').id === ctx.taskId;
      });
      expect(await harness.loom([here]).run(here)).toBe(true);
      const end = task('end', async (n: unknown) => n);
      expect(await harness.loom([here]).run(here.pipe(end), undefined)).toBe(false);
      expect(told).toHaveLength(2);
      expect(told[0]).toMatchObject({ code: 'INVALID_PAYLOAD' });
    });
  });

  describe('an attempt', () => {
    it('that follows a failed one begins anew', async () => {
      const flaky = task('flaky', { retries: 2, ...fast }, async (_: undefined, ctx) => {
        const tokens = ctx.stream('tokens');
        void tokens.write(`a${ctx.attempt}`);
        if (ctx.attempt === 2) await tokens.close();
        if (ctx.attempt < 3) throw new Error('again');
        await tokens.write('b');
      });
      const loom = harness.loom([flaky]);
      await loom.worker().start();
      const { id } = await loom.enqueue(flaky);
      const all = settled(harness, readAll(loom, id, 'tokens'));
      await settled(harness, loom.handle(flaky, id).result());
      expect((await all)[0]).toBe('0 a1');
      const whole = ['0 a1', 'reset 1 #2', '2 a2', 'reset 4 #3', '5 a3', '6 b'];
      expect(await readNow(loom, id)).toEqual(whole);
    });

    it('that has lost its lease writes nothing more', async () => {
      const goOn = gate();
      const problems: unknown[] = [];
      const writer = task('writer', async (_: undefined, ctx) => {
        await ctx.stream('tokens').write(`of ${calls}`);
        if (calls++ > 0) return;
        await goOn.passed;
        problems.push(await refusal(ctx.stream('tokens').write('lost')));
        problems.push(await refusal(ctx.stream('fresh').close()));
      });
      let calls = 0;
      let isDeaf = false;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        isDeaf && operation === 'tasks.extend' ? 'lose-request' : undefined,
      );
      const loom = harness.loom([writer], { backend });
      const other = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer);
      await harness.until(() => calls === 1);
      isDeaf = true;
      await other.worker().start();
      await settled(harness, handle.result());
      goOn.open();
      await harness.until(() => problems.length === 2);
      const lost = expect.any(LeaseLostError);
      expect(problems).toEqual([lost, lost]);
      const [first, reset, again] = await readNow(other, handle.id);
      expect([first, again]).toEqual(['0 of 0', '2 of 1']);
      expect(reset).toMatch(/^reset 1/);
      expect(await other.streams.list(handle.id)).toHaveLength(1);
    });

    it('that is canceled may say goodbye', async () => {
      const writer = task('writer', async (_: undefined, ctx) => {
        await ctx.stream('tokens').write('hello');
        await new Promise((resolve) => {
          ctx.signal.addEventListener('abort', resolve);
        });
        void ctx.stream('tokens').write('bye');
        throw ctx.signal.reason;
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const { id } = await loom.enqueue(writer);
      const reader = loom.streams.read(id, 'tokens');
      expect((await reader.next()).value).toMatchObject({ value: 'hello' });
      await loom.tasks.cancel(id);
      expect((await settled(harness, reader.next())).value).toMatchObject({ value: 'bye' });
      expect((await settled(harness, reader.next())).done).toBe(true);
      expect((await loom.tasks.get(id))?.state).toBe('canceled');
    });

    it.each(['lose-reply', 'lose-request'] as const)(
      'doubles and loses nothing by %s',
      async (fault) => {
        let failures = 0;
        const backend = flakyBackend(harness.backend, ({ operation, count }) => {
          if (operation !== 'streams.append' || count % 3 === 0) return undefined;
          failures++;
          return fault;
        });
        const loom = harness.loom([speak], { backend });
        await loom.worker().start();
        const handle = await loom.enqueue(speak, ['a', 'b', 'c', 'd']);
        await settled(harness, handle.result());
        expect(failures).toBeGreaterThan(4);
        expect(await readNow(loom, handle.id)).toEqual(['0 a', '1 b', '2 c', '3 d']);
      },
    );

    it('says that the backend is away once it shall end', async () => {
      const problems: unknown[] = [];
      const writer = task('writer', { timeout: '10s', retries: 0 }, async (_: undefined, ctx) => {
        const tokens = ctx.stream('tokens');
        await tokens.write('a');
        problems.push(await refusal(tokens.write('b')), await refusal(tokens.write('c')));
      });
      const backend = flakyBackend(harness.backend, ({ operation, count }) =>
        operation === 'streams.append' && count > 1 ? 'lose-request' : undefined,
      );
      const loom = harness.loom([writer], { backend });
      await loom.worker().start();
      const handle = await loom.enqueue(writer);
      const error = await refusal(settled(harness, handle.result()));
      expect(error).toMatchObject({ errorName: 'TimedOutError' });
      const away = expect.objectContaining({ code: 'BACKEND_UNAVAILABLE' });
      expect(problems).toEqual([away, away]);
      expect(await readNow(loom, handle.id)).toEqual(['0 a']);
    });
  });

  describe('streams of a task', () => {
    it('go with it, and one of the same id begins with none', async () => {
      const loom = harness.loom([speak]);
      const worker = loom.worker();
      await worker.start();
      await (await loom.enqueue(speak, ['a', 'b'], { id: 'x' })).result();
      await worker.stop();
      const reader = loom.streams.read('x', 'tokens', { from: 2, follow: false });
      await harness.jump(LIMITS.resendMs + 1);
      await loom.tasks.remove('x');
      expect(await refusal(readNow(loom, 'x'))).toMatchObject({ code: 'TASK_NOT_FOUND' });
      await loom.worker().start();
      await (await loom.enqueue(speak, ['c'], { id: 'x' })).result();
      expect(await readNow(loom, 'x')).toEqual(['0 c']);
      expect(await refusal(reader.next())).toMatchObject({ code: 'INVALID_OPTION' });
    });

    it('outlast a redrive, whose attempt begins anew', async () => {
      const fails = task('fails', { retries: 0 }, async (_: undefined, ctx) => {
        await ctx.stream('tokens').write(ctx.fencingToken > 0);
        await ctx.stream('tokens').close();
        throw new Error('no');
      });
      const loom = harness.loom([fails]);
      await loom.worker().start();
      const handle = await loom.enqueue(fails);
      await refusal(handle.result());
      await loom.tasks.redrive(handle.id);
      await refusal(settled(harness, handle.result()));
      expect(await readNow(loom, handle.id)).toEqual(['0 true', 'reset 2 #1', '3 true']);
    });
  });
});
