/** What a run waits for is explained alike, in both forms and at every place in it. */
import { expect, it } from 'vitest';
import type { RunForm } from '../../../../src/runs/run-options.ts';
import { event } from '../../../../src/workflow/event.ts';
import { each } from '../../../../src/workflow/parallel.ts';
import { signal } from '../../../../src/workflow/signal.ts';
import type { Pipeline } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../../support/backends.ts';
import { waitingFor } from '../../../support/runs.ts';

const HOUR_MS = 3_600_000;
const go = signal('go');
const first = task('first', async (n: number) => n);
const last = task('last', async (n: unknown) => n);
const list = task('list', async (n: number) => [n]);

/** Each kind of wait: the handler that waits, what is said of it, and what ends it. */
const KINDS = {
  signal: {
    step: task('late', async (_n: number, ctx) => ctx.waitFor(go, { timeout: '1h' })),
    says: 'waits for a signal go',
    command: /^fairloom signal \S+ go$/,
  },
  ask: {
    step: task('late', async (_n: number, ctx) =>
      ctx.ask({ title: 'fine?', choices: ['yes'], timeout: '1h' }),
    ),
    says: 'to choose: yes',
    command: /^fairloom asks answer \S+ --by <who> <choice>$/,
  },
  time: {
    step: task('late', async (_n: number, ctx) => ctx.sleep('1h')),
    says: 'sleeps until',
    command: /^fairloom tasks run-now \S+$/,
  },
  event: {
    step: task('late', async (_n: number, ctx) =>
      ctx.waitFor(event('paid', 'o-7'), { timeout: '1h' }),
    ),
    says: 'waits for an event paid',
    command: /^fairloom publish paid o-7/,
  },
} as const;

type Late = Pipeline<number, unknown>;

/** Wherever in a run a handler may wait. */
const PLACES: readonly (readonly [string, RunForm, (late: never) => Late])[] = [
  ['a node', 'dispatched', (late) => first.pipe(late).pipe(last) as Late],
  ['a node', 'driven', (late) => first.pipe(late).pipe(last) as Late],
  ['a member', 'driven', (late) => list.pipe(each(late)).pipe(last) as Late],
  [
    'a member of a member',
    'driven',
    (late) =>
      list.pipe(each(list.pipe(each(late, { name: 'in' })), { name: 'out' })).pipe(last) as Late,
  ],
  [
    'a member of a group that a node runs',
    'dispatched',
    (late) =>
      first
        .pipe(task('asks', async (n: number, ctx) => ctx.run(each(late), [n])))
        .pipe(last) as Late,
  ],
];

embedded((open) => {
  const harness = opened(open);

  for (const [kind, { step, says, command }] of Object.entries(KINDS)) {
    for (const [place, form, made] of PLACES) {
      // F88
      it(`${place} of a ${form} run that waits for ${kind} is explained with what, since, until, and the command`, async () => {
        const run = made(step as never).as('run');
        const loom = harness.loom([run, step]);
        await loom.worker().start();
        const { id } = await loom.enqueue(run, 1, { form });
        await waitingFor(harness, loom, kind as keyof typeof KINDS);
        await harness.quiet();
        const { waitsFor } = await loom.runs.explain(id);
        const found = waitsFor
          .flatMap(({ why }) => why.obstacles)
          .filter(({ text }) => text.includes(says));
        expect(found).toHaveLength(1);
        expect(found[0]?.text).toContain('since 2026-01-05T12:00');
        expect(found[0]?.text).toContain(
          new Date(Date.UTC(2026, 0, 5, 12) + HOUR_MS).toISOString().slice(0, 17),
        );
        expect(found[0]?.command).toMatch(command);
        const late = waitsFor.filter(({ why }) => why.obstacles.includes(found[0] as never));
        // The run's own task is where a node in place waits.
        const isInPlace = place === 'a node' && form === 'driven';
        expect(late.map(({ node }) => node)).toEqual([
          isInPlace ? '' : expect.stringMatching(/late|^out.in.0$/),
        ]);
      });
    }
  }
});
