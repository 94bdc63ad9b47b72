/** New runs from a node of an old one: while that goes on, or after its end. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  TaskNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';
import { again, b, broken, c, checked, FORMS, failure, grouped, line, ran } from './kit.ts';

const notes = channel<{ seen: string[] }>('notes');
let door = gate();

/** Writes into the channel of its run. */
const tell = task('tell', { retries: 0 }, async (given: string, ctx) => {
  await ctx.channel(notes).append('seen', given);
  return `${given}t`;
});
/** Waits until it is let on, and tells what the channel holds. */
const look = task('look', { retries: 0 }, async (given: string, ctx) => {
  ran.push(`look(${given})`);
  await door.passed;
  const seen = (await ctx.channel(notes).get('seen')) ?? [];
  return `${given}[${seen.join(',')}]`;
});
const telling = tell.pipe(look).as('telling');
const slow = b.pipe(look).pipe(c).as('slow');

eachBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  beforeEach(async () => {
    again();
    door = gate();
    harness = await open();
    loom = harness.loom([line, checked, grouped, telling, slow]);
  });
  afterEach(async () => {
    door.open();
    await harness.close();
  });

  async function work(): Promise<void> {
    await loom.worker({ concurrency: 5 }).start();
  }

  describe.each(FORMS)('%s', (form) => {
    it('runs a node and what follows it in a new run, and says of which', async () => {
      await work();
      const run = await loom.enqueue(line, 'x', { form, user: 'ann', maxSteps: 3 });
      await settled(harness, run.result());
      ran.length = 0;
      const fork = await loom.runs.fork(run.id, { from: 'b' });
      expect(await settled(harness, fork.result())).toBe('xabc');
      expect(ran).toEqual(['b(xa)', 'c(xab)']);
      expect(await loom.runs.get(fork.id)).toMatchObject({
        ...{ forkedFrom: run.id, user: 'ann', form, state: 'finished' },
      });
      expect(await loom.runs.get(run.id)).not.toHaveProperty('forkedFrom');
      const { items } = await loom.runs.list({ state: 'finished', form });
      expect(items.map(({ forkedFrom }) => forkedFrom).sort()).toEqual([run.id, undefined]);
    });

    it('with another input, an id and a version', async () => {
      await work();
      const run = await loom.enqueue(line, 'x', { form });
      await settled(harness, run.result());
      ran.length = 0;
      const options = { from: 'c', input: 'E', id: 'fork', versioning: 'latest' } as const;
      const fork = await loom.runs.fork(run.id, options);
      expect(fork.id).toBe('fork');
      expect(await settled(harness, fork.result())).toBe('Ec');
      const same = await loom.runs.fork(run.id, options);
      expect([same.id, same.created]).toEqual(['fork', false]);
      const next = await loom.runs.fork('fork', { from: 'b' });
      expect(await settled(harness, next.result())).toBe('xabc');
      expect((await loom.runs.get(next.id))?.forkedFrom).toBe('fork');
    });

    it('of a run that goes on: both come to their ends', async () => {
      await work();
      const run = await loom.enqueue(slow, 'x', { form });
      await harness.until(() => ran.includes('look(xb)'));
      const fork = await loom.runs.fork(run.id, { from: 'look', input: 'E' });
      await harness.until(() => ran.includes('look(E)'));
      door.open();
      expect(await settled(harness, run.result())).toBe('xb[]c');
      expect(await settled(harness, fork.result())).toBe('E[]c');
      expect(ran.filter((one) => one.startsWith('b'))).toEqual(['b(x)']);
    });

    it('of a run that failed, from before that and from behind', async () => {
      await work();
      broken.add('b');
      const run = await loom.enqueue(line, 'x', { form });
      await failure(harness, run.result());
      broken.clear();
      ran.length = 0;
      const fork = await loom.runs.fork(run.id, { from: 'a', input: 'E' });
      expect(await settled(harness, fork.result())).toBe('Eabc');
      ran.length = 0;
      // What was not come to before the node runs first.
      const late = await loom.runs.fork(run.id, { from: 'c' });
      expect(await settled(harness, late.result())).toBe('xabc');
      expect(ran).toEqual(['b(xa)', 'c(xab)']);
      expect((await loom.runs.get(run.id))?.state).toBe('failed');
    });

    it('from a group, all of its members run', async () => {
      await work();
      const run = await loom.enqueue(grouped, 'x', { form });
      await settled(harness, run.result());
      ran.length = 0;
      const fork = await loom.runs.fork(run.id, { from: 'group' });
      expect(await settled(harness, fork.result())).toBe('xab+xac');
      expect([...ran].sort()).toEqual(['b(xa)', 'c(xa)']);
    });

    it('goes on when the old run is removed', async () => {
      const worker = loom.worker();
      await worker.start();
      const run = await loom.enqueue(line, 'x', { form });
      await settled(harness, run.result());
      await worker.stop();
      const fork = await loom.runs.fork(run.id, { from: 'c' });
      await loom.tasks.remove(run.id);
      expect(await loom.runs.get(run.id)).toBeUndefined();
      await work();
      expect(await settled(harness, fork.result())).toBe('xabc');
      await expect(loom.runs.fork(run.id, { from: 'c' })).rejects.toThrow(TaskNotFoundError);
    });

    it('refuses what a rerun refuses, and a fork from nowhere', async () => {
      await work();
      const run = await loom.enqueue(checked, 'x', { form });
      await settled(harness, run.result());
      const before = (await loom.stats()).totals.enqueued;
      for (const options of [{}, { from: 'nowhere' }, { from: 7 }, { from: 'a', at: 1 }]) {
        await expect(loom.runs.fork(run.id, options as never)).rejects.toThrow(InvalidOptionError);
      }
      const wrong = loom.runs.fork(run.id, { from: 'strict', input: 'wrong.' });
      await expect(wrong).rejects.toThrow(InvalidPayloadError);
      expect((await loom.stats()).totals.enqueued).toBe(before);
    });
  });

  it('driven: takes the values of channels as they are now, and writes its own', async () => {
    await work();
    const run = await loom.enqueue(telling, 'x', { form: 'driven' });
    await harness.until(() => ran.includes('look(xt)'));
    const fork = await loom.runs.fork(run.id, { from: 'look', input: 'E' });
    const anew = await loom.runs.fork(run.id, { from: 'tell', input: 'F' });
    const rerun = await loom.runs.rerun(run.id, { from: 'look' });
    door.open();
    expect(await settled(harness, fork.result())).toBe('E[x]');
    expect(await settled(harness, anew.result())).toBe('Ft[x,F]');
    expect(await settled(harness, rerun.result())).toBe('xt[]');
    expect(await settled(harness, run.result())).toBe('xt[x]');
    expect(await loom.runs.channels(run.id)).toEqual({ notes: { seen: ['x'] } });
    expect(await loom.runs.channels(anew.id)).toEqual({ notes: { seen: ['x', 'F'] } });
  });

  it('dispatched: is refused where channels hold something', async () => {
    door.open();
    await work();
    const run = await loom.enqueue(telling, 'x', { form: 'dispatched' });
    await settled(harness, run.result());
    const before = (await loom.stats()).totals.enqueued;
    const refused = loom.runs.fork(run.id, { from: 'look' });
    await expect(refused).rejects.toThrow(/channels/);
    await expect(refused).rejects.toThrow(InvalidOptionError);
    expect((await loom.stats()).totals.enqueued).toBe(before);
  });
});
