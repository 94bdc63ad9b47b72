/** A run owns its own members and nodes, also when another one had its id before. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import type { RunForm } from '../../../src/runs/run-options.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

const ID = 'monthly';

eachBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  let isBroken: boolean;
  let ran: number[];

  const list = task('list', (n: number) => [n, n + 1]);
  const member = task('member', { retries: 0 }, async (n: number) => {
    ran.push(n);
    if (isBroken && n % 2 === 0) throw new Error(`broken ${n}`);
    return n * 10;
  });
  const inc = task('inc', (n: number) => n + 1);
  const fan = list.pipe(each(member)).as('fan');
  const nested = parallel({ a: list.pipe(each(member)), b: inc }).as('nested');
  const plain = parallel({ a: member, b: inc.pipe(member.as('second')) }).as('plain');
  const asks = task('asks', { retries: 0 }, (n: number, ctx) => ctx.run(fan, n));

  beforeEach(async () => {
    harness = await open();
    isBroken = true;
    ran = [];
    loom = harness.loom([fan, nested, plain, asks]);
    await loom.worker({ concurrency: 5 }).start();
  });
  afterEach(() => harness.close());

  const start = (step: unknown, input: number, form?: RunForm): Promise<RunHandle<unknown>> =>
    loom.enqueue(
      step as never,
      input as never,
      {
        id: ID,
        ...(form === undefined ? {} : { form }),
      } as never,
    ) as Promise<RunHandle<unknown>>;

  const ended = (run: RunHandle<unknown>): Promise<unknown> =>
    settled(harness, run.result()).catch((error: unknown) => String(error));

  /** A run that fails, whose own record goes while that of its dead member stays. */
  async function failAndForget(step: unknown, form?: RunForm): Promise<void> {
    const first = await start(step, 2, form);
    expect(await ended(first)).toContain('broken');
    await harness.until(() =>
      loom.tasks.remove(ID).then(
        () => true,
        () => false,
      ),
    );
    expect((await loom.dead.list()).items.length).toBeGreaterThan(0);
    isBroken = false;
    ran = [];
  }

  describe('an id that is used again', () => {
    it.each([
      ['fan', undefined],
      ['nested', undefined],
      ['plain', 'driven'],
      ['plain', 'dispatched'],
      ['asks', undefined],
      // F1
    ] as const)('a new run of %s (%s) runs its own members', async (name, form) => {
      const step = { fan, nested, plain, asks }[name];
      await failAndForget(step, form);
      const again = await start(step, 2, form);
      expect(again.created).toBe(true);
      expect(await ended(again)).toEqual(
        { fan: [20, 30], nested: { a: [20, 30], b: 3 }, plain: { a: 20, b: 30 }, asks: [20, 30] }[
          name
        ],
      );
      expect(ran.sort()).toEqual([2, 3]);
    });

    it.each([
      ['fan', undefined],
      ['plain', 'driven'],
      ['plain', 'dispatched'],
      // F1
    ] as const)('also with another input: %s (%s)', async (name, form) => {
      const step = { fan, plain }[name];
      await failAndForget(step, form);
      const again = await start(step, 4, form);
      expect(JSON.stringify(await ended(again))).toContain('40');
      expect(ran.sort()).toEqual([4, 5]);
    });

    it.each(['driven', 'dispatched'] as const)(
      // F1
      'so do a rerun and an import that are given the id: %s',
      async (form) => {
        const other = (await loom.enqueue(plain, 2, { id: 'other', form })) as RunHandle<unknown>;
        expect(await ended(other)).toContain('broken');
        await failAndForget(plain, form);
        const rerun = await loom.runs.rerun('other', { id: ID });
        expect(await ended(rerun)).toEqual({ a: 20, b: 30 });
        await harness.until(() =>
          loom.tasks.remove(ID).then(
            () => true,
            () => false,
          ),
        );
        const exported = await loom.runs.export('other');
        const imported = await loom.runs.import(exported, { id: ID });
        expect(await ended(imported)).toEqual({ a: 20, b: 30 });
      },
    );

    // F1
    it('dispatched: a third run, its nodes, its resume, its rerun, and two enqueues at once', async () => {
      await failAndForget(plain, 'dispatched');
      isBroken = true;
      await failAndForget(plain, 'dispatched');
      isBroken = true;
      const [third, same] = await Promise.all([
        start(plain, 2, 'dispatched'),
        start(plain, 2, 'dispatched'),
      ]);
      expect([third.created, same.created].sort()).toEqual([false, true]);
      expect(await ended(third)).toContain('broken');
      expect((await start(plain, 2, 'dispatched')).created).toBe(false);
      expect(ran.sort()).toEqual([2, 3]);
      const states = (await loom.runs.get(ID))?.nodes.map(({ node, state }) => [node, state]);
      expect(Object.fromEntries(states ?? [])).toMatchObject({
        member: 'failed',
        second: 'finished',
      });
      isBroken = false;
      const rerun = await loom.runs.rerun(ID);
      expect(await ended(rerun)).toEqual({ a: 20, b: 30 });
      expect(await ended(await loom.runs.resume(ID))).toEqual({ a: 20, b: 30 });
      expect(ran.sort()).toEqual([2, 2, 2, 3]);
    });

    // F1
    it('a run that is put back keeps the members that have finished', async () => {
      const run = await start(fan, 2);
      expect(await ended(run)).toContain('broken');
      isBroken = false;
      expect(await ended(await loom.runs.resume(ID))).toEqual([20, 30]);
      expect(ran.sort()).toEqual([2, 2, 3]);
    });
  });
});
