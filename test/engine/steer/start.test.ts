/** Runs that begin at a node, and runs that may take so many steps. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  MaxStepsError,
  RunFormatError,
  TaskConflictError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { graphText } from '../../../src/graph/graph-text.ts';
import type { RunForm } from '../../../src/runs/run-options.ts';
import { type Flow, flow } from '../../../src/workflow/flow.ts';
import { toMermaid } from '../../../src/workflow/notation/render-mermaid.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

/** Names of nodes in the order in which they ran. */
let ran: string[] = [];
let isBroken = false;

function step(name: string): ReturnType<typeof task<string, string, typeof name>> {
  return task(name, { retries: 0 }, async (given: string) => {
    ran.push(name);
    if (isBroken && name === 'c') throw new RangeError('c is broken');
    return `${given}${name}`;
  });
}
const [a, b, c, d] = [step('a'), step('b'), step('c'), step('d')];
const join = task('join', async (given: Record<string, string>) => Object.values(given).join('+'));
const line = a.pipe(b).pipe(c).as('line');
const fork = a.pipe(parallel({ b, c })).pipe(join).as('fork');
const inner = a.pipe(b.pipe(c).as('inner')).pipe(d).as('outer');
/** What follows `b` reads the output of `a`. */
const crossed = flow('crossed', (f: Flow<string>) => {
  const first = f.step(a, f.input);
  const second = f.step(b, first);
  return f.step(join, { second, first });
});
/** Its end reads the output of `a`. */
const ended = flow('ended', (f: Flow<string>) => {
  const first = f.step(a, f.input);
  f.step(b, first);
  return first;
});
/** Its last step reads the input of the pipeline. */
const taking = flow('taking', (f: Flow<string>) => {
  const second = f.step(b, f.step(a, f.input));
  return f.step(join, { second, whole: f.input });
});
const again = dynamic('again', { retries: 0, maxCycles: 50 }, async (n: number, ctx) =>
  n > 0 ? ctx.again(n - 1) : 'done',
);
const back = dynamic('back', { retries: 0 }, async (given: string, ctx) => {
  ran.push('back');
  return given.length < 4 ? ctx.goto(b, given) : given;
});
const loop = a.pipe(b).pipe(back).as('loop');
const loops = a
  .pipe(
    parallel({
      again: dynamic('inside', { maxCycles: 50 }, async (_n: string, ctx) => ctx.again('x')),
    }),
  )
  .as('loops');

const FORMS: readonly RunForm[] = ['dispatched', 'driven'];

eachBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  beforeEach(async () => {
    ran = [];
    isBroken = false;
    harness = await open();
    loom = harness.loom([line, fork, inner, crossed, ended, taking, again, loop, loops]);
  });
  afterEach(() => harness.close());

  async function nothingStored(): Promise<void> {
    expect((await loom.stats()).totals.enqueued).toBe(0);
  }

  async function states(id: string): Promise<Record<string, string>> {
    const { nodes } = (await loom.runs.get(id)) ?? { nodes: [] };
    return Object.fromEntries(nodes.map(({ node, state }) => [node, state]));
  }

  describe.each(FORMS)('startAt, %s', (form) => {
    it('runs the node with the input of the run, and what follows it', async () => {
      await loom.worker().start();
      const run = await loom.enqueue(line, 'x', { form, startAt: 'b' });
      expect(await settled(harness, run.result())).toBe('xbc');
      expect(ran).toEqual(['b', 'c']);
      expect(await states(run.id)).toEqual({ a: 'skipped', b: 'finished', c: 'finished' });
      const { graph, states: drawn } = await loom.runs.graph(run.id);
      expect(graph.start).toBe('b');
      expect(drawn.get('a')).toBe('skipped');
      expect(toMermaid(graph, drawn)).toContain('a');
      const { counts } = await loom.runs.explain(run.id);
      expect(counts).toEqual({ finished: 2, skipped: 1 });
    });

    it('shows what is left out before anything has run', async () => {
      const run = await loom.enqueue(line, 'x', { form, startAt: 'c' });
      expect(await states(run.id)).toMatchObject({ a: 'skipped', b: 'skipped' });
      expect((await states(run.id))['c']).not.toBe('skipped');
    });

    it('begins at a group or a part with a name, and not inside of one', async () => {
      await loom.worker().start();
      const group = await loom.enqueue(fork, 'x', { form, startAt: '~group.b' });
      expect(await settled(harness, group.result())).toBe('xb+xc');
      const part = await loom.enqueue(inner, 'y', { form, startAt: 'inner' });
      expect(await settled(harness, part.result())).toBe('ybcd');
      expect(ran).not.toContain('a');
      for (const startAt of ['inner.b', 'b', '']) {
        await expect(loom.enqueue(inner, 'y', { form, startAt })).rejects.toThrow(
          InvalidOptionError,
        );
      }
      await expect(loom.enqueue(fork, 'x', { form, startAt: 'b' })).rejects.toThrow('startAt');
    });

    it('refuses a node that is not there, and one behind which something is missing', async () => {
      const none = loom.enqueue(line, 'x', { form, startAt: 'nowhere' });
      await expect(none).rejects.toThrow(/a node of line: a, b, c/);
      const lost = loom.enqueue(crossed, 'x', { form, startAt: 'b' });
      await expect(lost).rejects.toThrow(/join reads the output of a/);
      const open = loom.enqueue(ended, 'x', { form, startAt: 'b' });
      await expect(open).rejects.toThrow(/the end of ended reads the output of a/);
      const input = loom.enqueue(taking, 'x', { form, startAt: 'b' });
      await expect(input).rejects.toThrow(/join reads the input of the pipeline/);
      await nothingStored();
    });

    it('others may read the input of a pipeline whose first node takes all of it', async () => {
      await loom.worker().start();
      const run = await loom.enqueue(taking, 'x', { form, startAt: 'a' });
      expect(await settled(harness, run.result())).toBe('xab+x');
      const read = await loom.runs.export(run.id);
      for (const start of ['b', 'nowhere', 7]) {
        const graph = { ...read.graph, start } as typeof read.graph;
        const graphHash = createHash('sha256').update(graphText(graph)).digest('hex');
        const damaged = loom.runs.import({ ...read, graph, graphHash });
        await expect(damaged).rejects.toThrow(RunFormatError);
      }
    });

    it('is a part of what its id stands for', async () => {
      const first = await loom.enqueue(line, 'x', { form, id: 'one', startAt: 'b' });
      const same = await loom.enqueue(line, 'x', { form, id: 'one', startAt: 'b' });
      expect([first.created, same.created]).toEqual([true, false]);
      const other = loom.enqueue(line, 'x', { form, id: 'one', startAt: 'c' });
      await expect(other).rejects.toThrow(TaskConflictError);
      const whole = loom.enqueue(line, 'x', { form, id: 'one' });
      await expect(whole).rejects.toThrow(TaskConflictError);
    });

    it('waits for what the run depends on, and has the key of its pipeline', async () => {
      const before = await loom.enqueue(a, 'z');
      const options = { form, startAt: 'b', dependsOn: [before.id], idempotencyKey: 'k' } as const;
      const run = await loom.enqueue(line, 'x', options);
      const again = await loom.enqueue(line, 'x', options);
      expect([again.id, again.created]).toEqual([run.id, false]);
      const worker = loom.worker();
      await worker.start();
      expect(await settled(harness, run.result())).toBe('xbc');
      expect(ran).toEqual(['a', 'b', 'c']);
    });

    it('a rerun begins there too, and cannot from what was left out', async () => {
      await loom.worker().start();
      isBroken = true;
      const run = await loom.enqueue(line, 'x', { form, startAt: 'b' });
      await expect(settled(harness, run.result())).rejects.toMatchObject({ node: 'c' });
      isBroken = false;
      const rest = await loom.runs.rerun(run.id);
      expect(await settled(harness, rest.result())).toBe('xbc');
      expect(ran).toEqual(['b', 'c', 'c']);
      const anew = await loom.runs.rerun(run.id, { from: 'b' });
      expect(await settled(harness, anew.result())).toBe('xbc');
      await expect(loom.runs.rerun(run.id, { from: 'a' })).rejects.toThrow(InvalidOptionError);
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe('xbc');
      expect(await states(anew.id)).toEqual({ a: 'skipped', b: 'finished', c: 'finished' });
    });

    it('goes out and comes back', async () => {
      await loom.worker().start();
      isBroken = true;
      const run = await loom.enqueue(line, 'x', { form, startAt: 'b' });
      await expect(settled(harness, run.result())).rejects.toMatchObject({ node: 'c' });
      isBroken = false;
      const text = JSON.stringify(await loom.runs.export(run.id));
      const back = await loom.runs.import(text, { id: 'back' });
      expect(await settled(harness, back.result())).toBe('xbc');
      expect(ran).toEqual(['b', 'c', 'c']);
      expect(await states('back')).toEqual({ a: 'skipped', b: 'finished', c: 'finished' });
    });
  });

  it('a run that begins at a node may have less than its graph: that decides its form', async () => {
    await loom.worker().start();
    const mixed = again.pipe(a).pipe(b).as('mixed');
    const run = await loom.enqueue(mixed as never, 'x' as never, { startAt: 'a' } as never);
    expect(await settled(harness, run.result())).toBe('xab');
    expect((await loom.runs.get(run.id))?.form).toBe('dispatched');
  });

  it('a jump goes back to what was left out, and runs what follows it', async () => {
    await loom.worker().start();
    const run = await loom.enqueue(loop, 'x', { startAt: 'back' });
    expect(await settled(harness, run.result())).toBe('xbbb');
    expect(ran).toEqual(['back', 'b', 'back', 'b', 'back', 'b', 'back']);
    expect(await states(run.id)).toEqual({ a: 'skipped', b: 'finished', back: 'finished' });
  });

  it('here and now too', async () => {
    expect(await loom.run(line, 'x', { startAt: 'b' })).toBe('xbc');
    expect(await loom.run(fork, 'x', { startAt: '~group.b' })).toBe('xb+xc');
    await expect(loom.run(line, 'x', { startAt: 'q' })).rejects.toThrow(InvalidOptionError);
    await expect(loom.run(a, 'x', { startAt: 'a' })).rejects.toThrow(InvalidOptionError);
    expect(ran).not.toContain('a');
  });

  describe('maxSteps', () => {
    const said = { form: 'driven', maxSteps: 2 } as const;

    it('is a whole number within the bound of all runs', async () => {
      for (const maxSteps of [0, 1.5, -1, LIMITS.runSteps + 1, '3' as never]) {
        await expect(loom.enqueue(line, 'x', { maxSteps })).rejects.toThrow(InvalidOptionError);
        await expect(loom.run(line, 'x', { maxSteps })).rejects.toThrow(InvalidOptionError);
      }
      await nothingStored();
    });

    it('refuses a dispatched run that would need more, and takes one that does not', async () => {
      await loom.worker().start();
      await expect(loom.enqueue(line, 'x', { maxSteps: 2 })).rejects.toThrow(/at least 3/);
      await expect(loom.enqueue(inner, 'x', { maxSteps: 3 })).rejects.toThrow(/at least 4/);
      await nothingStored();
      const run = await loom.enqueue(line, 'x', { maxSteps: 3 });
      expect(await settled(harness, run.result())).toBe('xabc');
      const behind = await loom.enqueue(line, 'x', { maxSteps: 2, startAt: 'b' });
      expect(await settled(harness, behind.result())).toBe('xbc');
      // A group is one, and so is each of its members.
      const group = await loom.enqueue(fork, 'x', { maxSteps: 3 });
      expect(await settled(harness, group.result())).toBe('xab+xac');
    });

    it('is asked for by a rerun of a dispatched run too', async () => {
      await loom.worker().start();
      const run = await loom.enqueue(line, 'x', { form: 'dispatched' });
      await settled(harness, run.result());
      const few = loom.runs.rerun(run.id, { from: 'b', maxSteps: 2 });
      await expect(few).rejects.toThrow(/at least 3/);
      const enough = await loom.runs.rerun(run.id, { from: 'b', maxSteps: 3 });
      expect(await settled(harness, enough.result())).toBe('xabc');
      const { said } = await loom.runs.export(enough.id);
      expect(said).toEqual({ maxSteps: 3 });
    });

    it('ends a driven run that comes to more, and names what was left', async () => {
      await loom.worker().start();
      const run = await loom.enqueue(line, 'x', said);
      const error = await settled(
        harness,
        run.result().catch((thrown: unknown) => thrown),
      );
      expect(error).toMatchObject({
        code: 'RUN_FAILED',
        cause: { name: 'MaxStepsError', message: 'the run made 2 steps; not run: c' },
      });
      expect(ran).toEqual(['a', 'b']);
    });

    it('counts what a handler chooses, and members by themselves', async () => {
      await loom.worker().start();
      const few = await loom.enqueue(again, 9, { maxSteps: 9 } as never);
      await expect(settled(harness, few.result())).rejects.toMatchObject({
        cause: { name: 'MaxStepsError' },
      });
      const enough = await loom.enqueue(again, 9, { maxSteps: 10 } as never);
      expect(await settled(harness, enough.result())).toBe('done');
      const member = await loom.enqueue(loops, 'x', { maxSteps: 5 });
      await expect(settled(harness, member.result())).rejects.toMatchObject({
        cause: { message: expect.stringContaining('the run made 5 steps; not run: inside') },
      });
    });

    it('stays with a rerun, a resume and an export', async () => {
      await loom.worker().start();
      const run = await loom.enqueue(line, 'x', said);
      await expect(settled(harness, run.result())).rejects.toThrow('2 steps');
      const exported = await loom.runs.export(run.id);
      const anew = [await loom.runs.rerun(run.id), await loom.runs.import(exported, { id: 'i' })];
      anew.push(await loom.runs.resume(run.id));
      for (const one of anew) {
        await expect(settled(harness, one.result())).rejects.toMatchObject({
          cause: { name: 'MaxStepsError' },
        });
      }
      expect(ran).toEqual(['a', 'b']);
      const more = await loom.runs.rerun(run.id, { maxSteps: 3 });
      expect(await settled(harness, more.result())).toBe('xabc');
      for (const maxSteps of [0, LIMITS.runSteps + 1]) {
        const damaged = { ...exported, said: { maxSteps } };
        await expect(loom.runs.import(damaged)).rejects.toThrow(RunFormatError);
      }
    });

    it('holds here and now, in members too', async () => {
      await expect(loom.run(line, 'x', { maxSteps: 2 })).rejects.toThrow(MaxStepsError);
      expect(await loom.run(line, 'x', { maxSteps: 3 })).toBe('xabc');
      await expect(loom.run(a, 'x', { maxSteps: 3 })).rejects.toThrow(InvalidOptionError);
      const listed = each(a.pipe(b).pipe(c)).as('listed');
      await expect(loom.run(listed, ['x'], { maxSteps: 2 })).rejects.toThrow('MaxSteps');
      expect(await loom.run(listed, ['x', 'y'], { maxSteps: 3 })).toEqual(['xabc', 'yabc']);
    });
  });
});
