/** A message that names a command names one that is not refused, in every state of the run. */
import { expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import type { RunForm } from '../../../../src/runs/run-options.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import { signal } from '../../../../src/workflow/signal.ts';
import type { Step } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../../support/backends.ts';
import { refusal, settled, waitingFor } from '../../../support/runs.ts';

type State = 'finished' | 'failed' | 'canceled';

interface Case {
  readonly is: string;
  readonly form: RunForm;
  readonly step: (bad: never) => Step<number, unknown>;
  /** Of the run, when a part of it has failed. */
  readonly state: State;
  /** The command, with R for the run. */
  readonly way: string;
}

const ok = task('ok', async (n: number) => n);
const list = task('list', async (n: number) => [n]);
const late = task('late', async (_n: unknown, ctx) => ctx.waitFor(signal('go')));
const LENIENT = { policy: 'bestEffort' } as const;

/** Wherever a part may have failed in a run that is over or goes on. */
const CASES: readonly Case[] = [
  {
    is: 'a member that a bestEffort group did without',
    form: 'driven',
    step: (bad) => parallel({ bad, ok }, LENIENT).as('r') as never,
    state: 'finished',
    way: 'fairloom runs rerun --from bad R',
  },
  {
    is: 'a member that a bestEffort group did without',
    form: 'dispatched',
    step: (bad) => parallel({ bad, ok }, LENIENT).as('r') as never,
    state: 'finished',
    way: 'fairloom runs rerun --from bad R',
  },
  {
    is: 'an element that a bestEffort group did without',
    form: 'driven',
    step: (bad) => list.pipe(each(bad, LENIENT)).as('r') as never,
    state: 'finished',
    way: 'fairloom runs rerun --from bad R',
  },
  {
    is: 'a node',
    form: 'dispatched',
    step: (bad) => ok.pipe(bad).as('r') as never,
    state: 'failed',
    way: 'fairloom runs resume R',
  },
  {
    is: 'a member',
    form: 'driven',
    step: (bad) => parallel({ bad, ok }).as('r') as never,
    state: 'failed',
    way: 'fairloom runs resume R',
  },
  {
    is: 'a member of a run that was canceled then',
    form: 'driven',
    step: (bad) => parallel({ bad, ok }, LENIENT).pipe(late).as('r') as never,
    state: 'canceled',
    way: 'fairloom runs rerun R',
  },
  {
    is: 'a member of a run that was canceled then',
    form: 'dispatched',
    step: (bad) => parallel({ bad, ok }, LENIENT).pipe(late).as('r') as never,
    state: 'canceled',
    way: 'fairloom runs rerun R',
  },
];

embedded((open) => {
  const harness = opened(open);

  for (const { is, form, step, state, way } of CASES) {
    // F85
    it(`of ${is} in a ${form} run that ends ${state} it is ${way}, and it is not refused`, async () => {
      let isBroken = true;
      let calls = 0;
      const bad = task('bad', { retries: 0 }, async (n: number) => {
        calls++;
        if (isBroken) throw new Error('broken');
        return n;
      });
      const run = step(bad as never);
      const loom = harness.loom([run as never]);
      await loom.worker().start();
      const { id } = await loom.enqueue(run as never, 1 as never, { form } as never);
      if (state === 'canceled') {
        await waitingFor(harness, loom, 'signal');
        await loom.runs.cancel(id, { wait: true });
      } else await settled(harness, loom.runs.handle(run, id).result()).catch(() => undefined);
      expect((await loom.runs.get(id))?.state).toBe(state);

      const { items } = await loom.dead.list();
      const part = items.find(({ name }) => name === 'bad')?.id ?? '';
      const command = way.replace('R', id);
      const { obstacles } = await loom.tasks.explain(part);
      expect(obstacles.map((one) => one.command)).toEqual([command]);
      const refused = await refusal(loom.tasks.redrive(part));
      expect(refused).toMatchObject({ code: 'WRONG_STATE', runId: id });
      expect(String(refused)).toContain(command);
      if (state === 'failed') expect((await loom.runs.explain(id)).command).toBe(command);

      isBroken = false;
      const before = calls;
      await follow(loom, command);
      await settled(
        harness,
        harness.until(() => calls > before || state === 'canceled'),
      );
    });
  }

  // F85
  it('of a run that waits for what others have canceled it is another way than resume, which refuses', async () => {
    const bad = task('bad', { retries: 0 }, async (_n: number): Promise<number> => {
      throw new Error('broken');
    });
    const run = parallel({ bad, late }).as('r');
    const loom = harness.loom([run]);
    await loom.worker().start();
    const { id } = await loom.enqueue(run, 1, { form: 'dispatched' });
    await refusal(settled(harness, loom.runs.handle(run, id).result()));
    const waits = (await loom.runs.get(id))?.nodes.find(({ node }) => node === 'late');
    await loom.tasks.cancel(waits?.taskId ?? '');
    expect(await refusal(loom.runs.resume(id))).toMatchObject({ code: 'WRONG_STATE' });
    const { command } = await loom.runs.explain(id);
    expect(command).toBe(`fairloom runs rerun ${id}`);
    await follow(loom, command ?? '');
  });
});

/** As the command line does. */
async function follow(loom: Fairloom, command: string): Promise<void> {
  const [, , verb, ...rest] = command.split(' ');
  const id = rest.at(-1) ?? '';
  if (verb === 'resume') await loom.runs.resume(id);
  else await loom.runs.rerun(id, rest[0] === '--from' ? { from: rest[1] } : {});
}
