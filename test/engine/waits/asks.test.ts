/** Handlers and steps that ask people, in tasks and in both forms of runs. */
import { randomBytes } from 'node:crypto';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { AskAnswered, AskUnanswered } from '../../../src/workflow/ask.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { ask, sleep } from '../../../src/workflow/waits.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { afterEveryCall } from '../../support/every-call.ts';
import { refusal, settled } from '../../support/runs.ts';

/** Takes `{ cents }` alone, and says so as JSON Schema. */
const cents: StandardSchemaV1<unknown, { cents: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof Reflect.get(Object(value), 'cents') === 'number'
        ? { value }
        : { issues: [{ message: 'has no cents' }] },
    ...{ jsonSchema: { input: () => ({ type: 'object', required: ['cents'] }) } },
  },
};

const CHOICES = ['approve', 'reject'] as const;

eachBackend((open, backendName) => {
  const harness = opened(open);

  type Loom = ReturnType<Harness['loom']>;

  /** The one open question, once it is asked. */
  const askedIn = async (loom: Loom): Promise<string> => {
    let id: string | undefined;
    await harness.until(async () => {
      id = (await loom.asks.list()).items[0]?.id;
      return id !== undefined;
    });
    return id ?? '';
  };

  const stateOf = async (loom: Loom, id: string): Promise<string> =>
    (await loom.tasks.get(id))?.state ?? 'missing';

  describe('ctx.ask', () => {
    it('gives the answer, typed by choices and form', async () => {
      const pay = task('pay', async (amount: number, ctx) => {
        const answer = await ctx.ask({
          title: `Pay ${amount}?`,
          choices: CHOICES,
          form: cents,
          for: ['role:finance', 'ann'],
          timeout: '1h',
        });
        expectTypeOf(answer).toEqualTypeOf<AskAnswered<'approve' | 'reject', { cents: number }>>();
        return answer;
      });
      const loom = harness.loom([pay]);
      await loom.worker().start();
      const handle = await loom.enqueue(pay, 7, { user: 'acme', id: 'expense-7' });
      const id = await askedIn(loom);
      const { items } = await loom.asks.list({ for: 'ann', user: 'acme' });
      const askedAt = harness.clock.now();
      const open = {
        id,
        taskId: 'expense-7',
        task: 'pay',
        user: 'acme',
        title: 'Pay 7?',
        choices: [...CHOICES],
        for: ['role:finance', 'ann'],
        form: { type: 'object', required: ['cents'] },
        askedAt,
        until: askedAt + 3_600_000,
      };
      expect(items).toEqual([{ ...open, state: 'open' }]);
      const answer = { choice: 'approve', by: 'bob', comment: 'fine', form: { cents: 700 } };
      await loom.asks.answer(id, answer, { schema: cents });
      const given = { ...answer, answered: true, at: askedAt };
      expect(await settled(harness, handle.result())).toEqual(given);
      expect(await loom.asks.get(id)).toEqual({
        ...open,
        state: 'answered',
        closedAt: askedAt,
        answer,
      });
      expect(await refusal(loom.asks.answer(id, { choice: 'reject', by: 'eve' }))).toMatchObject({
        code: 'ASK_CLOSED',
        how: 'answered',
        by: 'bob',
        choice: 'approve',
      });
    });

    it('two questions of one handler get each its own answer', async () => {
      const both = task('both', async (_: undefined, ctx) => {
        const first = await ctx.ask({ title: 'Q1', choices: CHOICES });
        const second = await ctx.ask({ title: 'Q2', choices: CHOICES });
        return [first.choice, second.choice];
      });
      const loom = harness.loom([both]);
      await loom.worker().start();
      const handle = await loom.enqueue(both);
      const one = await askedIn(loom);
      await loom.asks.answer(one, { choice: 'reject', by: 'ann' });
      await harness.until(async () => (await loom.asks.list()).items[0]?.title === 'Q2');
      expect(await refusal(loom.asks.answer(one, { choice: 'approve', by: 'ann' }))).toMatchObject({
        code: 'ASK_CLOSED',
        choice: 'reject',
      });
      await loom.asks.answer(await askedIn(loom), { choice: 'approve', by: 'ann' });
      expect(await settled(harness, handle.result())).toEqual(['reject', 'approve']);
    });

    it('a timeout fails, is a value of its own, or cancels: it never approves', async () => {
      const question = { title: 'Pay?', choices: CHOICES, timeout: '10s' } as const;
      const fails = task('fails', { retries: 0 }, (_: undefined, ctx) => ctx.ask(question));
      const gives = task('gives', async (_: undefined, ctx) => {
        const end = await ctx.ask({ ...question, onTimeout: { value: 'approve' } });
        expectTypeOf(end).toEqualTypeOf<
          AskAnswered<'approve' | 'reject'> | AskUnanswered<string>
        >();
        return end.answered && end.choice === 'approve' ? 'paid' : end;
      });
      const cancels = task('cancels', (_: undefined, ctx) =>
        ctx.ask({ ...question, onTimeout: 'cancel' }),
      );
      const loom = harness.loom([fails, gives, cancels]);
      await loom.worker().start();
      const handles = [await loom.enqueue(fails), await loom.enqueue(gives)] as const;
      const canceled = await loom.enqueue(cancels);
      const until = harness.clock.now() + 10_000;
      await harness.until(async () => (await loom.asks.list()).items.length === 3);
      const { items } = await loom.asks.list();
      await expect(settled(harness, handles[0].result())).rejects.toThrow('did not come in time');
      expect(await settled(harness, handles[1].result())).toEqual({
        answered: false,
        value: 'approve',
        at: until,
      });
      expect(await refusal(settled(harness, canceled.result()))).toMatchObject({
        code: 'TASK_CANCELED',
        why: { type: 'request', reason: 'no answer to question "Pay?" in time' },
      });
      for (const { id } of items) {
        expect(await refusal(loom.asks.answer(id, { choice: 'approve', by: 'x' }))).toMatchObject({
          code: 'ASK_CLOSED',
          how: 'timed-out',
          at: until,
        });
        const closed = await loom.asks.get(id);
        expect(closed).toMatchObject({ state: 'timed-out', closedAt: until });
        expect(closed).not.toHaveProperty('answer');
      }
    });

    it('a cancel closes it', async () => {
      const wait = task('wait', (_: undefined, ctx) => ctx.ask({ title: 'Q', choices: CHOICES }));
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      const id = await askedIn(loom);
      await loom.tasks.cancel(handle.id);
      expect((await loom.asks.list()).items).toEqual([]);
      expect(await refusal(loom.asks.answer(id, { choice: 'approve', by: 'x' }))).toMatchObject({
        code: 'ASK_CLOSED',
        how: 'canceled',
      });
      expect(await refusal(settled(harness, handle.result()))).toMatchObject({
        code: 'TASK_CANCELED',
      });
    });

    it('a form is checked where its schema is known: before it is stored, or by the handler', async () => {
      const wait = task('wait', { retries: 0 }, (_: undefined, ctx) =>
        ctx.ask({ title: 'Q', choices: CHOICES, form: cents }),
      );
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      const id = await askedIn(loom);
      const wrong = { choice: 'approve', by: 'x', form: { cents: 'many' } };
      expect(await refusal(loom.asks.answer(id, wrong as never, { schema: cents }))).toMatchObject({
        code: 'INVALID_PAYLOAD',
      });
      expect((await loom.asks.get(id))?.state).toBe('open');
      await loom.asks.answer(id, wrong);
      await expect(settled(harness, handle.result())).rejects.toThrow('has no cents');
    });

    it('refuses what is no question, and what is no answer', async () => {
      const bad: readonly object[] = [
        { choices: CHOICES },
        { title: 'Q', choices: [] },
        { title: 'Q', choices: ['a', 'a'] },
        { title: 'Q', choices: ['a b'] },
        { title: 'Q', choices: 'ab' },
        { title: 'Q', choices: CHOICES, for: [''] },
        { title: 'Q', choices: CHOICES, for: Array.from({ length: 17 }, (_, n) => `${n}`) },
        { title: 'Q', choices: CHOICES, form: {} },
        { title: 'Q', choices: CHOICES, timeout: 0 },
        { title: 'Q', choices: CHOICES, onTimeout: 'approve' },
        { title: 'x'.repeat(LIMITS.askBytes), choices: CHOICES },
        { title: 'Q', choices: CHOICES, onTimeOut: 'fail' },
      ];
      const wrong = task('wrong', async (at: number, ctx) =>
        ctx.ask(bad[at] as never).then(
          () => 'asked',
          ({ code }: { code: string }) => code,
        ),
      );
      const wait = task('wait', (_: undefined, ctx) => ctx.ask({ title: 'Q', choices: CHOICES }));
      const loom = harness.loom([wrong, wait]);
      await loom.worker().start();
      for (const at of bad.keys()) {
        const handle = await loom.enqueue(wrong, at);
        expect([at, await settled(harness, handle.result())]).toEqual([at, 'INVALID_OPTION']);
      }
      await loom.enqueue(wait);
      const id = await askedIn(loom);
      const refused = async (to: string, answer: object): Promise<unknown> =>
        Reflect.get(Object(await refusal(loom.asks.answer(to, answer as never))), 'code');
      expect(await refused(id, { choice: 'maybe', by: 'x' })).toBe('INVALID_OPTION');
      expect(await refused(id, { choice: 'approve' })).toBe('INVALID_OPTION');
      expect(await refused(id, { choice: 'approve', by: 'x', comment: 7 })).toBe('INVALID_OPTION');
      expect(await refused('', { choice: 'approve', by: 'x' })).toBe('INVALID_OPTION');
      expect(await refused('nobody.x', { choice: 'approve', by: 'x' })).toBe('ASK_NOT_FOUND');
      const large = 'x'.repeat(LIMITS.askBytes);
      expect(await refused(id, { choice: 'approve', by: 'x', comment: large })).toBe(
        'INVALID_PAYLOAD',
      );
      expect(await loom.asks.get('nobody.x')).toBeUndefined();
      expect((await loom.asks.get(id))?.state).toBe('open');
    });

    it('is explained, with the command that answers it', async () => {
      const wait = task('wait', (_: undefined, ctx) =>
        ctx.ask({ title: 'Q', choices: CHOICES, for: ['ann'], timeout: '1h' }),
      );
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      const id = await askedIn(loom);
      const { obstacles } = await loom.tasks.explain(handle.id);
      expect(obstacles).toMatchObject([
        { kind: 'waiting', command: `fairloom asks answer ${id} --by <who> <choice>` },
      ]);
      expect(obstacles[0]?.text).toMatch(
        /^it asks ann since .* to choose: approve, reject, at most until/,
      );
    });

    it('cannot be answered here and now', async () => {
      const wait = task('wait', { retries: 0 }, (_: undefined, ctx) =>
        ctx.ask({ title: 'Q', choices: CHOICES }),
      );
      expect(await refusal(settled(harness, harness.loom([]).run(wait)))).toMatchObject({
        code: 'NOT_STORED',
      });
    });

    it('answers a handler that starts anew from its journal, and finds other choices', async () => {
      let passes = 0;
      const wait = task('wait', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
        const choices = ++passes > 2 ? ['yes', 'no'] : ['approve', 'reject'];
        const { choice } = await ctx.ask({ title: `at ${passes}`, choices });
        throw new Error(choice);
      });
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      await loom.asks.answer(await askedIn(loom), { choice: 'reject', by: 'ann' });
      await expect(settled(harness, handle.result())).rejects.toThrow('call 1 of this handler');
      expect(passes).toBe(3);
      expect((await loom.tasks.attempts(handle.id))[0]?.error?.message).toBe('reject');
    });
  });

  describe('in runs', () => {
    const add = task('add', (n: number) => n + 1);
    const show = task('show', ({ choice }: { choice: string }) => `was ${choice}`);
    const step = add
      .pipe(ask({ title: (n: number) => `Pay ${n}?`, choices: CHOICES }))
      .pipe(show)
      .as('expense');
    const late = add
      .pipe(ask({ title: 'Pay?', choices: CHOICES, timeout: '5s', onTimeout: 'cancel' }))
      .pipe(show)
      .as('late');

    for (const form of ['dispatched', 'driven'] as const) {
      it(`a step asks, and gives the answer on, ${form}`, async () => {
        const loom = harness.loom([step]);
        await loom.worker({ concurrency: 1 }).start();
        const run = await loom.enqueue(step, 1, { form });
        const id = await askedIn(loom);
        expect(await loom.asks.get(id)).toMatchObject({ title: 'Pay 2?' });
        if (form === 'dispatched') {
          expect(await loom.asks.get(id)).toMatchObject({ task: 'ask', runId: run.id });
        }
        await loom.asks.answer(id, { choice: 'approve', by: 'ann' });
        expect(await settled(harness, run.result())).toBe('was approve');
      });

      it(`without an answer the run is canceled, ${form}`, async () => {
        const loom = harness.loom([late]);
        await loom.worker({ concurrency: 1 }).start();
        const run = await loom.enqueue(late, 1, { form });
        await askedIn(loom);
        await refusal(settled(harness, run.result()));
        expect(await stateOf(loom, run.id)).toBe('canceled');
      });
    }

    it('a dynamic node chooses by the answer', async () => {
      const paid = task('paid', () => 'paid');
      const choose = dynamic('choose', async (_: number, ctx) => {
        const { choice } = await ctx.ask({ title: 'Q', choices: CHOICES });
        return choice === 'approve' ? ctx.next(paid) : ctx.terminate('refused');
      });
      const loom = harness.loom([choose, paid]);
      await loom.worker({ concurrency: 1 }).start();
      for (const [choice, end] of [
        ['approve', 'paid'],
        ['reject', 'refused'],
      ] as const) {
        const run = await loom.enqueue(choose, 1);
        await loom.asks.answer(await askedIn(loom), { choice, by: 'ann' });
        expect(await settled(harness, run.result())).toBe(end);
      }
    });

    it('members of a group ask each for their own', async () => {
      const member = task('member', async (n: number, ctx) => {
        const { choice } = await ctx.ask({ title: `${n}`, choices: CHOICES });
        return `${n} ${choice}`;
      });
      const loom = harness.loom([each(member)]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(each(member), [1, 2, 3]);
      await harness.until(async () => (await loom.asks.list()).items.length === 3);
      for (const { id, title } of (await loom.asks.list()).items) {
        await loom.asks.answer(id, { choice: title === '2' ? 'reject' : 'approve', by: 'ann' });
      }
      expect(await settled(harness, run.result())).toEqual(['1 approve', '2 reject', '3 approve']);
    });

    it('a group that fails fast closes what its others ask', async () => {
      const fail = task('fail', { retries: 0 }, async (_: number) => {
        throw new Error('no');
      });
      const wait = ask({ title: 'Q', choices: CHOICES });
      const group = parallel({ wait, late: sleep<number>('1m').pipe(fail) }, { failFast: true });
      const loom = harness.loom([group]);
      await loom.worker({ concurrency: 2 }).start();
      const run = await loom.enqueue(group, 1);
      const id = await askedIn(loom);
      await expect(settled(harness, run.result())).rejects.toThrow('late (Error: no)');
      expect((await loom.asks.list()).items).toEqual([]);
      expect((await loom.asks.get(id))?.state).toBe('canceled');
    });
  });

  it('keeps no word of it readable where values are encrypted', async () => {
    const codec = encrypted({ keys: [{ id: 'k1', key: randomBytes(32) }] });
    const wait = task('wait', (_: undefined, ctx) =>
      ctx.ask({ title: 'secret title', choices: CHOICES, for: ['ann'] }),
    );
    const loom = harness.loom([wait], { codec });
    const outside = harness.loom([wait]);
    await loom.worker().start();
    const handle = await loom.enqueue(wait);
    const id = await askedIn(loom);
    expect(await loom.asks.get(id)).toMatchObject({ title: 'secret title', choices: [...CHOICES] });
    const seen = await outside.asks.get(id);
    expect(seen).toMatchObject({ encryptedWith: 'k1', for: ['ann'] });
    expect(JSON.stringify(seen)).not.toContain('secret');
    await loom.asks.answer(id, { choice: 'approve', by: 'bob', comment: 'secret words' });
    expect(JSON.stringify(await outside.asks.get(id))).not.toContain('secret');
    expect((await loom.asks.get(id))?.answer).toMatchObject({ comment: 'secret words' });
    expect(await settled(harness, handle.result())).toMatchObject({ comment: 'secret words' });
    const closed = await refusal(loom.asks.answer(id, { choice: 'approve', by: 'x' }));
    expect(closed).toMatchObject({ code: 'ASK_CLOSED', by: 'bob' });
  });

  it('after every call of a worker that dies, another goes on, and no answer is lost', async () => {
    const wait = task('wait', { backoff: { base: 0 } }, async (_: number, ctx) => {
      const first = await ctx.ask({ title: 'Q1', choices: CHOICES });
      const second = await ctx.ask({
        title: 'Q2',
        choices: CHOICES,
        timeout: '5s',
        onTimeout: { value: 'nobody' },
      });
      return [first.choice, first.by, second.answered];
    });
    const every = { open, backend: backendName, tasks: [wait], least: 6 } as const;
    await afterEveryCall(every, async ({ own, loom, handle, lastCall, startDoomed }) => {
      await startDoomed();
      const answer = async (): Promise<boolean> => {
        const [one] = (await loom.asks.list()).items;
        if (one?.title !== 'Q1') return false;
        await loom.asks.answer(one.id, { choice: 'reject', by: 'ann' });
        return true;
      };
      const isAnswered = await answer();
      await own.quiet();
      await own.clock.advance(5_000);
      await own.quiet();
      await loom.worker({ concurrency: 2 }).start();
      if (!isAnswered) await settled(own, own.until(answer));
      const end = await settled(own, handle.result());
      expect([lastCall, ...end]).toEqual([lastCall, 'reject', 'ann', false]);
      expect((await loom.asks.list()).items).toEqual([]);
    });
  });
});
