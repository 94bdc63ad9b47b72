/** Causes are data: what a run says does not depend on its form, nor on the words of an error. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

/** Words that could be taken for a text of our own. */
const WORDS = 'upstream vendor is down';

const FORMS = ['dispatched', 'driven'] as const;
const WAYS = ['by hand', 'by its decider', 'by a failure', 'by expiry'] as const;
const POLICIES = {
  strict: 'strict',
  bestEffort: 'bestEffort',
  atLeast: { atLeast: 2 },
  critical: { critical: ['a'] },
} as const;
type Way = (typeof WAYS)[number];
type Policy = keyof typeof POLICIES;

/** The cause of a member that was canceled alone. */
const CANCELED: Readonly<Partial<Record<Way, object>>> = {
  'by hand': { type: 'request', reason: WORDS },
  'by its decider': { type: 'decider', reason: WORDS },
};

/** What a run comes to in either form. */
function expected(way: Way, policy: Policy): readonly unknown[] {
  if (policy === 'bestEffort') return ['finished', 'value'];
  const why = CANCELED[way];
  if (policy === 'strict' && why !== undefined) return ['canceled', 'RUN_CANCELED', why];
  return ['failed', 'RUN_FAILED'];
}

const b = task('b', async (n: number) => n);

function memberA(way: Way, begun: string[]) {
  const options = way === 'by expiry' ? ({ queue: 'elsewhere', expiresIn: '1s' } as const) : {};
  return task(
    'a',
    {
      retries: 0,
      ...options,
      decider: (outcome) => {
        if (outcome.type === 'canceled') return { type: 'cancel', reason: 'not read' } as const;
        if (way === 'by its decider') return { type: 'cancel', reason: WORDS } as const;
        return { type: 'dead-letter', failureType: 'error', reason: WORDS, error: '{}' } as const;
      },
    },
    async (n: number, ctx: TaskContext): Promise<number> => {
      begun.push(ctx.taskId);
      if (way !== 'by hand') throw new Error(WORDS);
      await aborted(ctx.signal);
      return n;
    },
  );
}

eachBackend((open) => {
  const harness = opened(open);

  async function answer(loom: Fairloom, run: RunHandle<unknown>): Promise<readonly unknown[]> {
    const how = await settled(
      harness,
      run.result().then(
        () => ['value'],
        (error: { code: string; why: object }) =>
          error.code === 'RUN_CANCELED' ? [error.code, error.why] : [error.code],
      ),
    );
    return [(await loom.runs.get(run.id))?.state, ...how];
  }

  // F6
  describe('a member that ends', () => {
    const rows = WAYS.flatMap((way) => FORMS.map((form) => [way, form] as const));
    it.each(rows)('%s ends its group alike under every policy: %s', async (way, form) => {
      const begun: string[] = [];
      const a = memberA(way, begun);
      const policies = Object.keys(POLICIES) as Policy[];
      const groups = policies.map((name) =>
        parallel({ a, b }, { name, policy: POLICIES[name] as 'bestEffort' }),
      );
      const loom = harness.loom(groups);
      await loom.worker({ concurrency: 20 }).start();
      const runs: RunHandle<unknown>[] = [];
      for (const group of groups) runs.push(await loom.enqueue(group, 7, { form }));
      if (way === 'by hand') {
        await harness.until(() => begun.length === groups.length);
        for (const id of begun) await loom.tasks.cancel(id, { reason: WORDS });
      }
      const answers: (readonly unknown[])[] = [];
      for (const run of runs) answers.push(await answer(loom, run));
      expect(answers).toEqual(policies.map((policy) => expected(way, policy)));
    });

    it.each(FORMS)(
      'canceled in a group of a group is what the outer one makes of it: %s',
      async (form) => {
        const a = memberA('by its decider', []);
        const inner = parallel({ a, b }, { name: 'inner' });
        const strict = parallel({ inner, b: b.as('c') }, { name: 'strict' });
        const lenient = parallel(
          { inner, b: b.as('c') },
          { name: 'lenient', policy: 'bestEffort' },
        );
        const loom = harness.loom([strict, lenient]);
        await loom.worker({ concurrency: 20 }).start();
        const runs = [
          await loom.enqueue(strict, 7, { form }),
          await loom.enqueue(lenient, 7, { form }),
        ] as const;
        const why = CANCELED['by its decider'];
        expect(await answer(loom, runs[0])).toEqual(['canceled', 'RUN_CANCELED', why]);
        expect(await answer(loom, runs[1])).toEqual(['finished', 'value']);
      },
    );

    it('canceled alone cancels a run here and now, too', async () => {
      const loom = harness.loom([b]);
      const group = parallel({ a: memberA('by its decider', []), b });
      await expect(loom.run(group, 7)).rejects.toMatchObject({
        code: 'RUN_CANCELED',
        why: CANCELED['by its decider'],
      });
    });
  });

  // F13
  describe('words of a cancel', () => {
    it.each(FORMS)(
      'a run canceled with words like ours is told by them alone: %s',
      async (form) => {
        const begun: string[] = [];
        const step = memberA('by hand', begun).pipe(b);
        const loom = harness.loom([step]);
        await loom.worker().start();
        const run = await loom.enqueue(step, 7, { form });
        await harness.until(() => begun.length === 1);
        await loom.runs.cancel(run.id, { reason: WORDS });
        const why = { type: 'request', reason: WORDS };
        expect(await answer(loom, run)).toEqual(['canceled', 'RUN_CANCELED', why]);
        expect((await loom.runs.get(run.id))?.cause).toEqual(why);
      },
    );

    it.each([WORDS, 'its group has ended', 'it has ended its run'])(
      'a member canceled by hand with "%s" is not taken for anything else',
      async (reason) => {
        const begun: string[] = [];
        const a = memberA('by hand', begun);
        const group = parallel({ a, b }, { policy: 'bestEffort' });
        const loom = harness.loom([group]);
        await loom.worker({ concurrency: 4 }).start();
        const run = await loom.enqueue(group, 7, { form: 'driven' });
        await harness.until(() => begun.length === 1);
        await loom.tasks.cancel(begun[0] ?? '', { reason });
        expect(await answer(loom, run)).toEqual(['finished', 'value']);
        const info = await loom.tasks.get(begun[0] ?? '');
        expect(info?.cause).toEqual({ type: 'request', reason });
      },
    );

    it('a decider passes on causes of the engine, and makes up none', async () => {
      const forge = task(
        'forge',
        { retries: 0, decider: () => ({ type: 'cancel', cause: { type: 'run-ended', run: 'x' } }) },
        async () => 1,
      );
      const loom = harness.loom([forge]);
      await loom.worker().start();
      const handle = await loom.enqueue(forge);
      await expect(settled(harness, handle.result())).rejects.toMatchObject({
        code: 'TASK_CANCELED',
        why: { type: 'decider', reason: '' },
      });
    });
  });
});
