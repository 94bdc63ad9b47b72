/** Nodes that run again with another input: reruns, and failed runs that are put back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  RunFormatError,
  TaskConflictError,
  TaskNotFoundError,
  WrongStateError,
} from '../../../src/domain/errors/errors.ts';
import type { RerunOptions } from '../../../src/runs/calls/rerun.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { replaced } from '../runs/cases/kit.ts';
import {
  a,
  again,
  b,
  broken,
  c,
  checked,
  crossed,
  d,
  FORMS,
  failure,
  grouped,
  line,
  parted,
  ran,
} from './kit.ts';

/** Runs again until its text is long enough; and so often as it was told. */
const grow = dynamic('grow', { retries: 0 }, async (given: string, ctx) => {
  ran.push(`grow(${given})`);
  if (broken.has('grow') && given.length === 2) throw new RangeError('grow is broken');
  return given.length < 4 ? ctx.again(`${given}g`) : given;
});
const growing = a.pipe(grow).as('growing');
const chosen = dynamic('chosen', { retries: 0 }, async (given: string, ctx) => ctx.next(d, given));
const choosing = a.pipe(chosen).as('choosing');
/** What its handler runs is written down with the task. */
const outer = task('outer', { retries: 0 }, async (given: string, ctx) => {
  const one = await ctx.run(a, given);
  await ctx.sleep('1m');
  if (broken.has('outer')) throw new RangeError('outer is broken');
  return `${await ctx.run(b, one)}!`;
});
const nested = c.pipe(outer).as('nested');

eachBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  const steps = [line, checked, parted, grouped, crossed, growing, choosing, nested];
  beforeEach(async () => {
    again();
    harness = await open();
    loom = harness.loom(steps);
  });
  afterEach(() => harness.close());

  async function work(client = loom): Promise<void> {
    await client.worker({ concurrency: 5 }).start();
  }

  async function enqueued(): Promise<number> {
    return (await loom.stats()).totals.enqueued;
  }

  async function rerun(id: string, options: RerunOptions): Promise<unknown> {
    const run = await loom.runs.rerun(id, options);
    return settled(harness, run.result());
  }

  describe.each(FORMS)('%s', (form) => {
    async function finished(): Promise<string> {
      const run = await loom.enqueue(line, 'x', { form });
      expect(await settled(harness, run.result())).toBe('xabc');
      ran.length = 0;
      return run.id;
    }

    async function failed(name: string): Promise<RunHandle<string>> {
      broken.add(name);
      const run = await loom.enqueue(line, 'x', { form });
      expect(await failure(harness, run.result())).toMatchObject({
        code: 'RUN_FAILED',
        node: name,
      });
      broken.delete(name);
      ran.length = 0;
      return run;
    }

    it('a rerun gives a node another input; what is before it is not run again', async () => {
      await work();
      const id = await finished();
      expect(await rerun(id, { from: 'b', input: 'E' })).toBe('Ebc');
      expect(ran).toEqual(['b(E)', 'c(Eb)']);
      expect((await loom.runs.get(id))?.result).toBe('xabc');
    });

    it('also the first node, and one inside of a part with a name', async () => {
      await work();
      const id = await finished();
      expect(await rerun(id, { from: 'a', input: 'E' })).toBe('Eabc');
      const run = await loom.enqueue(parted, 'x', { form });
      expect(await settled(harness, run.result())).toBe('xabcd');
      ran.length = 0;
      expect(await rerun(run.id, { from: 'part.c', input: 'E' })).toBe('Ecd');
      expect(ran).toEqual(['c(E)', 'd(Ec)']);
    });

    it('an input that is there counts, with any value', async () => {
      await work();
      const id = await finished();
      await rerun(id, { from: 'b', input: undefined });
      await rerun(id, { from: 'b', input: null });
      await rerun(id, { from: 'b' });
      expect(ran.filter((one) => one.startsWith('b'))).toEqual([
        'b(undefined)',
        'b(null)',
        'b(xa)',
      ]);
    });

    it('without a node the whole run begins anew with another input', async () => {
      await work();
      const id = await finished();
      expect(await rerun(id, { input: 'y' })).toBe('yabc');
      expect(ran).toEqual(['a(y)', 'b(ya)', 'c(yab)']);
      const late = await loom.enqueue(crossed, 'x', { form });
      expect(await settled(harness, late.result())).toBe('xa+xab');
      expect(await rerun(late.id, { from: 'b', input: 'E' })).toBe('xa+Eb');
    });

    it('refuses what takes no input, and an input that is none, before anything is stored', async () => {
      await work();
      const run = await loom.enqueue(grouped, 'x', { form });
      await settled(harness, run.result());
      const before = await enqueued();
      for (const from of ['nowhere', 'group', 'group.b', '']) {
        const refused = loom.runs.rerun(run.id, { from, input: 'E' });
        await expect(refused).rejects.toThrow(InvalidOptionError);
      }
      const big = 'x'.repeat(1_100_000);
      await expect(loom.runs.rerun(run.id, { from: 'a', input: big })).rejects.toThrow(
        InvalidPayloadError,
      );
      await expect(loom.runs.rerun(run.id, { from: 'a', input: 1n })).rejects.toThrow(
        InvalidPayloadError,
      );
      await expect(loom.runs.rerun('gone', { from: 'a', input: 1 })).rejects.toThrow(
        TaskNotFoundError,
      );
      const asking = await loom.enqueue(checked, 'x', { form });
      await settled(harness, asking.result());
      const stored = await enqueued();
      const wrong = { from: 'strict', input: 'wrong.' };
      await expect(loom.runs.rerun(asking.id, wrong)).rejects.toThrow(/full stop/);
      expect(await enqueued()).toBe(stored);
      expect(stored).toBeGreaterThan(before);
      expect(await rerun(asking.id, { from: 'strict', input: 'right' })).toBe('rightstrictc');
    });

    it('a rerun of a rerun keeps what was given, but for what follows its node', async () => {
      await work();
      const id = await finished();
      broken.add('c');
      const edited = await loom.runs.rerun(id, { from: 'b', input: 'E' });
      await failure(harness, edited.result());
      const both = await loom.runs.rerun(edited.id, { from: 'c', input: 'F' });
      await failure(harness, both.result());
      broken.clear();
      ran.length = 0;
      expect(await rerun(both.id, {})).toBe('Fc');
      expect(ran).toEqual(['c(F)']);
      expect(await rerun(both.id, { from: 'c' })).toBe('Fc');
      expect(await rerun(both.id, { from: 'b' })).toBe('Ebc');
      expect(await rerun(both.id, { from: 'a' })).toBe('xabc');
      expect(await rerun(both.id, { input: 'y' })).toBe('yabc');
    });

    it('an edited run goes out and comes back', async () => {
      await work();
      const id = await finished();
      broken.add('b');
      const edited = await loom.runs.rerun(id, { from: 'b', input: 'E' });
      await failure(harness, edited.result());
      broken.clear();
      const run = await loom.runs.export(edited.id);
      expect(run.version).toBe(2);
      expect((await loom.runs.export(id)).version).toBe(1);
      const back = await loom.runs.import(JSON.stringify(run), { id: 'back' });
      expect(await settled(harness, back.result())).toBe('Ebc');
      const key = form === 'driven' ? 'b#1' : 'b';
      expect(run.edits).toEqual({ [key]: '"E"' });
      for (const edits of [{ [key]: 1 }, { [key]: '{' }, { nowhere: '1' }, 1]) {
        await expect(loom.runs.import({ ...run, edits } as never)).rejects.toThrow(RunFormatError);
      }
    });

    it('resume gives the node that failed another input, in the same run', async () => {
      await work();
      const run = await failed('b');
      const put = await loom.runs.resume(run.id, { node: 'b', input: 'E' });
      expect(put.id).toBe(run.id);
      expect(await settled(harness, run.result())).toBe('Ebc');
      expect(ran).toEqual(['b(E)', 'c(Eb)']);
      expect(await rerun(run.id, { from: 'b' })).toBe('Ebc');
      expect(await rerun(run.id, { from: 'a' })).toBe('xabc');
      // Who enqueues the run again is told that it is there.
      const same = await loom.enqueue(line, 'x', { form, id: run.id });
      expect(same.created).toBe(false);
      await expect(loom.enqueue(line, 'y', { form, id: run.id })).rejects.toThrow(
        TaskConflictError,
      );
    });

    it('resume after resume: the newest input counts, and one without keeps it', async () => {
      await work();
      const run = await failed('b');
      for (const input of ['E', undefined, 'F'.repeat(3_000), null]) {
        broken.add('b');
        await loom.runs.resume(run.id, { node: 'b', input });
        await failure(harness, run.result());
        expect(ran.at(-1)).toBe(`b(${String(input)})`);
      }
      broken.clear();
      ran.length = 0;
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe('nullbc');
      expect(ran).toEqual(['b(null)', 'c(nullb)']);
    });

    it('resume refuses a node that did not fail, and leaves the run as it is', async () => {
      await work();
      const run = await failed('b');
      for (const node of ['a', 'c', 'nowhere', '', 7 as never]) {
        const refused = loom.runs.resume(run.id, { node, input: 'E' });
        await expect(refused).rejects.toThrow(InvalidOptionError);
      }
      for (const options of [{ node: 'b' }, { input: 'E' }]) {
        await expect(loom.runs.resume(run.id, options)).rejects.toThrow(InvalidOptionError);
      }
      await expect(loom.runs.resume(run.id, { node: 'b', input: 1n })).rejects.toThrow(
        InvalidPayloadError,
      );
      expect((await loom.runs.get(run.id))?.state).toBe('failed');
      broken.add('strict');
      const asking = await loom.enqueue(checked, 'x', { form });
      await failure(harness, asking.result());
      const wrong = loom.runs.resume(asking.id, { node: 'strict', input: 'wrong.' });
      await expect(wrong).rejects.toThrow(/full stop/);
      expect((await loom.runs.get(asking.id))?.state).toBe('failed');
      await expect(loom.runs.resume('gone', { node: 'b', input: 1 })).rejects.toThrow(
        TaskNotFoundError,
      );
      const done = await finished();
      await expect(loom.runs.resume(done, { node: 'b', input: 'E' })).rejects.toThrow(
        WrongStateError,
      );
    });

    it('resume refuses a member of a group', async () => {
      await work();
      broken.add('b');
      const run = await loom.enqueue(grouped, 'x', { form });
      await failure(harness, run.result());
      for (const node of ['group.b', 'group']) {
        const refused = loom.runs.resume(run.id, { node, input: 'E' });
        await expect(refused).rejects.toThrow(InvalidOptionError);
      }
      expect((await loom.runs.get(run.id))?.state).toBe('failed');
    });

    it('of two resumes with other inputs one wins, and the same one again changes nothing', async () => {
      const worker = loom.worker();
      await worker.start();
      const run = await failed('b');
      await worker.stop();
      await loom.runs.resume(run.id, { node: 'b', input: 'E' });
      await loom.runs.resume(run.id, { node: 'b', input: 'E' });
      const other = loom.runs.resume(run.id, { node: 'b', input: 'F' });
      await expect(other).rejects.toThrow(WrongStateError);
      await loom.runs.resume(run.id);
      await work();
      expect(await settled(harness, run.result())).toBe('Ebc');
      expect(ran).toEqual(['b(E)', 'c(Eb)']);
    });

    it('of one that broke off is applied by a resume that had begun before it', async () => {
      const worker = loom.worker();
      await worker.start();
      const run = await failed('b');
      await worker.stop();
      const { tasks } = harness.backend;
      const dying = harness.loom(steps, {
        backend: replaced(harness.backend, 'tasks', {
          redrive: async (id, edited) => {
            if (id !== run.id) throw new RangeError('the process is gone');
            return tasks.redrive(id, edited);
          },
        }),
      });
      let calls = 0;
      const slow = harness.loom(steps, {
        backend: replaced(harness.backend, 'tasks', {
          redrive: async (id, edited) => {
            // Between its look at the run and its first change.
            if (++calls === 1) {
              await dying.runs.resume(run.id, { node: 'b', input: 'E' }).catch(() => undefined);
            }
            return tasks.redrive(id, edited);
          },
        }),
      });
      await slow.runs.resume(run.id);
      await work();
      expect(await settled(harness, run.result())).toBe('Ebc');
    });

    it('beside a resume without one: it is told which of both was first', async () => {
      for (const order of [0, 1]) {
        const worker = loom.worker();
        await worker.start();
        const run = await failed('b');
        await worker.stop();
        const calls = [
          () => loom.runs.resume(run.id, { node: 'b', input: 'E' }),
          () => loom.runs.resume(run.id),
        ];
        const begun = (order === 0 ? calls : calls.toReversed()).map((call) => call());
        const [first, second] = await Promise.allSettled(begun);
        const edited = order === 0 ? first : second;
        if (edited?.status === 'rejected') expect(edited.reason).toBeInstanceOf(WrongStateError);
        const again = loom.worker();
        await again.start();
        const result = await settled(harness, run.result());
        await again.stop();
        expect(result).toBe(edited?.status === 'fulfilled' ? 'Ebc' : 'xabc');
        const { edits } = await loom.runs.export(run.id);
        expect(edits === undefined).toBe(edited?.status === 'rejected');
      }
    });

    it('resume that breaks off at any call is ended by the next one', async () => {
      await work();
      for (let after = 1; ; after++) {
        const run = await failed('b');
        let calls = 0;
        const { tasks } = harness.backend;
        const redrive: typeof tasks.redrive = async (id, edited) => {
          if (++calls > after) throw new RangeError('the process is gone');
          return tasks.redrive(id, edited);
        };
        const dying = harness.loom(steps, {
          backend: replaced(harness.backend, 'tasks', { redrive }),
        });
        const ended = await dying.runs.resume(run.id, { node: 'b', input: 'E' }).then(
          () => true,
          () => false,
        );
        // By a client that knows nothing of the other input.
        if (!ended) await loom.runs.resume(run.id);
        expect(await settled(harness, run.result())).toBe('Ebc');
        expect(ran.filter((one) => one.startsWith('b'))).toEqual(['b(E)']);
        if (ended) break;
      }
    });

    it('a paused run that failed goes on with another input; a rerun of it is not paused', async () => {
      // No worker runs before it is paused, or some of it may have run.
      const run = await loom.enqueue(nested, 'x', { form });
      await loom.runs.pause(run.id);
      await work();
      const other = await loom.runs.rerun(run.id, { from: 'c', input: 'E' });
      expect(await settled(harness, other.result())).toBe('Eab!'.replace('E', 'Ec'));
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe('xcab!');
      const stopped = await failed('b');
      await expect(loom.runs.pause(stopped.id)).rejects.toThrow(WrongStateError);
      await loom.runs.resume(stopped.id, { node: 'b', input: 'E' });
      expect(await settled(harness, stopped.result())).toBe('Ebc');
    });

    it('keeps what it was given where everything is encrypted', async () => {
      const keys = [{ id: 'k1', key: new Uint8Array(32).fill(7) }];
      loom = harness.loom(steps, { codec: encrypted({ keys }) });
      await work();
      const run = await failed('b');
      const secret = 'EDIT-SECRET';
      await loom.runs.resume(run.id, { node: 'b', input: secret });
      expect(await settled(harness, run.result())).toBe(`${secret}bc`);
      expect(await rerun(run.id, { from: 'c', input: secret })).toBe(`${secret}c`);
      const { items } = await harness.backend.inspect.list(
        { state: 'finished' },
        { limit: 100, values: true },
      );
      expect(items.length).toBeGreaterThan(1);
      expect(JSON.stringify(items)).not.toContain(secret);
    });

    it('goes on with the newest version, or with its own', async () => {
      const v = (version: string) =>
        task('v', { version, retries: 0 }, async (given: string) => {
          ran.push(`v${version}(${given})`);
          if (broken.has('v')) throw new RangeError('v is broken');
          return `${given}v${version}`;
        });
      const old = a.pipe(v('1')).as('versions');
      loom = harness.loom([old, a.pipe(v('2')).as('versions2')]);
      await work();
      broken.add('v');
      const run = await loom.enqueue(old, 'x', { form });
      await failure(harness, run.result());
      broken.clear();
      ran.length = 0;
      expect(await rerun(run.id, { from: 'v', input: 'E' })).toBe('Ev1');
      expect(await rerun(run.id, { from: 'v', input: 'E', versioning: 'latest' })).toBe('Ev2');
      await loom.runs.resume(run.id, { node: 'v', input: 'F' });
      expect(await settled(harness, run.result())).toBe('Fv1');
    });

    it('what a handler has run for its first input is not the answer for another', async () => {
      await work();
      broken.add('outer');
      const run = await loom.enqueue(nested, 'x', { form });
      expect(await failure(harness, run.result())).toMatchObject({ node: 'outer' });
      expect(ran).toEqual(['c(x)', 'a(xc)']);
      await loom.runs.resume(run.id, { node: 'outer', input: 'E' });
      await failure(harness, run.result());
      expect(ran).toEqual(['c(x)', 'a(xc)', 'a(E)']);
      broken.clear();
      // Put back without another input, what it ran for that one stands.
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe('Eab!');
      expect(ran).toEqual(['c(x)', 'a(xc)', 'a(E)', 'b(Ea)']);
    });
  });

  it('driven: a visit of a loop gets the input, and goes on from there', async () => {
    await work();
    broken.add('grow');
    const run = await loom.enqueue(growing, '', {});
    expect(await failure(harness, run.result())).toMatchObject({ node: 'grow' });
    expect(ran).toEqual(['a()', 'grow(a)', 'grow(ag)']);
    broken.clear();
    await loom.runs.resume(run.id, { node: 'grow', input: 'E' });
    expect(await settled(harness, run.result())).toBe('Eggg');
    expect(ran.slice(3)).toEqual(['grow(E)', 'grow(Eg)', 'grow(Egg)', 'grow(Eggg)']);
    ran.length = 0;
    expect(await rerun(run.id, { from: 'grow', input: 'FF' })).toBe('FFgg');
    expect(ran).toEqual(['grow(FF)', 'grow(FFg)', 'grow(FFgg)']);
  });

  it('driven: a node that a handler brought in may be given another input', async () => {
    await work();
    broken.add('d');
    const run = await loom.enqueue(choosing, 'x', {});
    expect(await failure(harness, run.result())).toMatchObject({ node: 'd' });
    broken.clear();
    await loom.runs.resume(run.id, { node: 'd', input: 'E' });
    expect(await settled(harness, run.result())).toBe('Ed');
  });

  it('driven: an edited node waits for its next attempt with its input', async () => {
    const tries = task('tries', { retries: 2, backoff: { base: '1m' } }, async (given: string) => {
      ran.push(`tries(${given})`);
      if (ran.length < 3) throw new RangeError('not yet');
      return given;
    });
    const waiting = a.pipe(tries).as('waiting');
    loom = harness.loom([waiting]);
    await work();
    const run = await loom.enqueue(waiting, 'x', { form: 'driven' });
    expect(await settled(harness, run.result())).toBe('xa');
    ran.length = 0;
    const edited = await loom.runs.rerun(run.id, { from: 'tries', input: 'E' });
    expect(await settled(harness, edited.result())).toBe('E');
    expect(ran).toEqual(['tries(E)', 'tries(E)', 'tries(E)']);
  });
});
