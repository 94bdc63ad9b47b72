/** What members give may be longer in all than an input or a result may be: every form of a run says so alike. */
import { expect, it } from 'vitest';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { type Flow, flow } from '../../../../src/workflow/flow.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import type { Pipeline } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';

const FORMS = ['dispatched', 'driven', 'run', 'ctx.run'] as const;

/** Each of two members gives more than half of it. */
const HALF = 'x'.repeat(LIMITS.payloadBytes / 2);
const TOO_LONG = `is more than ${LIMITS.payloadBytes} bytes of JSON`;

const a = task('a', { retries: 0 }, async (_: number) => HALF);
const b = task('b', { retries: 0 }, async (_: number) => HALF);
const size = task('size', { retries: 0 }, async (given: unknown) => JSON.stringify(given).length);

eachBackend((open) => {
  const harness = opened(open);

  /** What the run gives, or the error of its node. */
  async function outcome(step: Pipeline<number, unknown>, form: (typeof FORMS)[number]) {
    const calls = task('calls', { retries: 0 }, (n: number, ctx) => ctx.run(step, n));
    const loom = harness.loom([step, calls]);
    if (form === 'run') return loom.run(step, 1).catch((error: unknown) => error);
    await loom.worker().start();
    const handle =
      form === 'ctx.run' ? await loom.enqueue(calls, 1) : await loom.enqueue(step, 1, { form });
    const result: Promise<unknown> = handle.result();
    const ended = await settled(
      harness,
      result.catch((error: { readonly cause: unknown }) => error.cause),
    );
    if (form === 'ctx.run') return ended;
    // What the members gave is there still.
    const { items } = await loom.tasks.list({ state: 'finished', name: 'a' });
    expect(items).toHaveLength(1);
    return ended;
  }

  it.each(FORMS)('an input that two of them make is refused (%s)', async (form) => {
    const step = parallel({ a, b }).pipe(size).as('long');
    expect(await outcome(step, form)).toMatchObject({
      name: 'InvalidPayloadError',
      message: `payload at $: ${TOO_LONG}`,
    });
  });

  it.each(FORMS)('what reads one of them alone gets it (%s)', async (form) => {
    const step = flow('parts', (f: Flow<number>) => {
      return f.step(size, f.step(parallel({ a, b }), f.input).get('a'));
    });
    expect(await outcome(step, form)).toBe(HALF.length + 2);
  });

  it.each(FORMS)('a group that may lose members gives a result of its own (%s)', async (form) => {
    const step = flow('lenient', (f: Flow<number>) => {
      const both = parallel({ a, b }, { policy: 'bestEffort', name: 'both' });
      return f.step(size, f.step(both, f.input).get('a'));
    });
    expect(await outcome(step, form)).toMatchObject({
      name: 'InvalidResultError',
      message: `result at $: ${TOO_LONG}`,
    });
  });
});
