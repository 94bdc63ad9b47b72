/**
 * A pause comes before any call of the workers, clients die in the middle of a pause or its end, and
 * both come at once: nothing begins that must not, and what was broken off is mended by another call.
 */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { rounds, stride } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';

const forms = ['dispatched', 'driven'] as const;

/** What is run in either form, which gives 37 for 1, and what handlers run. */
function workOf(
  begun: string[],
): Readonly<Record<(typeof forms)[number] | 'leaf', Step<number, number>>> {
  const step = <I, O>(name: string, work: (input: I) => O): Step<I, O> =>
    task(name, { backoff: { base: 0 } }, async (input: I, ctx: TaskContext) => {
      begun.push(`${name} ${ctx.taskId}`);
      return work(input);
    }) as unknown as Step<I, O>;
  const sum = (name: string): Step<readonly number[], number> =>
    step(name, (all) => all.reduce((one, other) => one + other, 0));
  const leaf = step('leaf', (n: number) => n + 1);
  const member = step('inner', (n: number) => [n, n * 10])
    .pipe(each(leaf, { name: 'leaves' }))
    .pipe(sum('add'));
  const list = step('list', (n: number) => [n, n + 1]);
  const driven = list.pipe(each(member, { name: 'members' })).pipe(sum('total'));
  const handler = task('handler', { backoff: { base: 0 } }, async (n: number, ctx) => {
    begun.push(`handler ${ctx.taskId}`);
    const all = await ctx.run(each(leaf), [n, n * 10]);
    return all.reduce((one, other) => one + other, 0);
  });
  const other = step('other', (n: number) => n + 1).pipe(handler.as('again'));
  const total = step('total', ({ one, two }: Record<'one' | 'two', number>) => one + two);
  const dispatched = parallel({ one: handler, two: other }).pipe(total);
  return { driven, dispatched, leaf };
}

async function demandStill(harness: Harness, begun: readonly string[]): Promise<void> {
  const before = [...begun];
  await harness.clock.advance(3 * LIMITS.leaseMs);
  await harness.quiet();
  expect(begun).toEqual(before);
}

async function demandClean(harness: Harness): Promise<void> {
  const { inspect } = harness.backend;
  const { counts } = await inspect.stats();
  expect(counts).toMatchObject({ scheduled: 0, deferred: 0, queued: 0, started: 0 });
  expect((await inspect.reconcile({ repair: false })).drift).toEqual([]);
}

/** A run that no worker has touched yet. */
async function stored(
  harness: Harness,
  form: (typeof forms)[number],
): Promise<{
  readonly begun: string[];
  readonly tasks: never;
  readonly loom: Fairloom;
  readonly result: () => Promise<unknown>;
}> {
  const begun: string[] = [];
  const { leaf, ...works } = workOf(begun);
  const work = works[form];
  const tasks = [work, leaf] as never;
  const loom = harness.loom(tasks);
  const run = await loom.enqueue(work as never, 1 as never, { form, id: 'r' } as never);
  return { begun, tasks, loom, result: () => run.result() };
}

eachBackend((open, backendName) => {
  describe.each(forms)('a %s run', (form) => {
    const expected = 37;

    it('is paused before any call of its worker: only nodes in hand begin', async () => {
      const runUntil = async (number: number): Promise<boolean> => {
        const harness = await open();
        const { begun, tasks, loom, result } = await stored(harness, form);
        const go = gate();
        let calls = 0;
        const backend = flakyBackend(harness.backend, ({ operation }) => {
          if (operation === 'workers.waitForWork' || ++calls < number) return undefined;
          return { holdUntil: go.passed };
        });
        const starting = harness.loom(tasks, { backend }).worker({ concurrency: 3 }).start();
        await harness.quiet();
        const hasStopped = calls >= number;
        const isOver = (await loom.runs.get('r'))?.state === 'finished';
        if (!isOver) await loom.runs.pause('r');
        const { items } = await harness.backend.inspect.list({ state: 'started' }, { limit: 99 });
        const inHand = items.length;
        const before = begun.length;
        go.open();
        await starting;
        await harness.quiet();
        const after = begun.slice(before);
        expect([number, after.length <= inHand]).toEqual([number, true]);
        // What is leased alone is begun with its lease; members that were not are not.
        const begunNow = after.filter((one) => /^(leaf|handler) /.test(one));
        const leased = new Set(items.map(({ id }) => id));
        expect(begunNow.filter((one) => !leased.has(one.split(' ')[1] ?? ''))).toEqual([]);
        await demandStill(harness, begun);
        // With its last node in hand it has ended.
        const { paused } = (await loom.runs.get('r')) ?? {};
        if (paused !== undefined) await loom.runs.resume('r');
        expect([number, await settled(harness, result())]).toEqual([number, expected]);
        await harness.quiet();
        await demandClean(harness);
        await harness.close();
        return hasStopped;
      };
      let number = 1;
      while (await runUntil(number)) number += stride(backendName);
      expect(number).toBeGreaterThan(10);
    });

    it.each(['before', 'after'] as const)(
      'a client dies %s any call of a pause, and of its end: called again it is whole',
      async (moment) => {
        for (const verb of ['pause', 'resume'] as const) {
          for (let lastCall = 1, hasDied = true; hasDied; lastCall += stride(backendName)) {
            const harness = await open();
            const { begun, loom, result } = await stored(harness, form);
            const { backend, died } = mortal(harness.backend, lastCall, moment);
            const doomed = harness.loom([], { backend });
            if (verb === 'resume') await loom.runs.pause('r');
            void doomed.runs[verb]('r').catch(() => undefined);
            await harness.quiet();
            hasDied = died();
            await loom.runs[verb]('r');
            await loom.worker({ concurrency: 3 }).start();
            if (verb === 'pause') {
              await demandStill(harness, begun);
              expect([lastCall, begun]).toEqual([lastCall, []]);
              await loom.runs.resume('r');
            }
            expect(await settled(harness, result())).toBe(expected);
            await harness.quiet();
            await demandClean(harness);
            await harness.close();
          }
        }
      },
    );

    it('is paused and resumed at once, in every order: the later call counts', async () => {
      const step = rounds(1, 16);
      const orders = ordersOf(4, 4).filter((_, at) => backendName === 'memory' || at % step === 0);
      for (const order of orders) {
        for (const last of ['pause', 'resume'] as const) {
          const harness = await open();
          const { begun, loom, result } = await stored(harness, form);
          const turns = new Turns(order);
          const clients = (['pause', 'resume'] as const).map((verb, at) => {
            const backend = flakyBackend(harness.backend, () => ({ holdUntil: turns.next(at) }));
            return harness.loom([], { backend }).runs[verb]('r');
          });
          await turns.run(() => harness.quiet());
          await Promise.all(clients);
          await loom.runs[last]('r');
          await loom.worker({ concurrency: 3 }).start();
          if (last === 'pause') {
            await demandStill(harness, begun);
            expect([order, begun]).toEqual([order, []]);
            await loom.runs.resume('r');
          }
          expect(await settled(harness, result())).toBe(expected);
          await harness.close();
        }
      }
    });
  });
});

/** Which of two clients has the next call: all orders of so many calls of each. */
function ordersOf(first: number, second: number): readonly (readonly number[])[] {
  if (first === 0) return [Array<number>(second).fill(1)];
  if (second === 0) return [Array<number>(first).fill(0)];
  return [
    ...ordersOf(first - 1, second).map((order) => [0, ...order]),
    ...ordersOf(first, second - 1).map((order) => [1, ...order]),
  ];
}

/** Lets the calls of clients through in an order; those behind it as they come. */
class Turns {
  readonly #order: readonly number[];
  readonly #waiting: (() => void)[][] = [[], []];
  #isOver = false;

  constructor(order: readonly number[]) {
    this.#order = order;
  }

  next(client: number): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => this.#waiting[client]?.push(resolve));
  }

  async run(quiet: () => Promise<void>): Promise<void> {
    for (const client of this.#order) {
      await turnOfLoop();
      this.#waiting[client]?.shift()?.();
      await turnOfLoop();
      await quiet().catch(() => undefined);
    }
    this.#isOver = true;
    for (const calls of this.#waiting) for (const go of calls) go();
  }
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
