/** Runs are whole: their results and handles by id, states that are true, and parts as parts. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  TaskNotFoundError,
  WrongStateError,
} from '../../../src/domain/errors/errors.ts';
import type { RunForm } from '../../../src/runs/run-options.ts';

import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { replaced } from './cases/kit.ts';

/** Whether `shaky` fails. */
let isBroken = true;

const begin = task('begin', async (n: number) => n);
const sound = task('sound', async (n: number) => n + 1);
const shaky = task('shaky', { retries: 0 }, async (n: number) => {
  if (isBroken) throw new RangeError('no such table');
  return n + 2;
});
const end = task('end', async (given: unknown) => JSON.stringify(given));
const sequence = begin.pipe(shaky).pipe(end).as('sequence');
const grouped = begin.pipe(parallel({ shaky, sound })).pipe(end).as('grouped');
const elements = task('elements', async (n: number) => [n, n + 1]);
const listed = elements.pipe(each(shaky)).pipe(end).as('listed');
const handlerRuns = task('handler-runs', { retries: 0 }, async (n: number, ctx) =>
  ctx.run(parallel({ shaky, sound }), n),
);

const FORMS: readonly RunForm[] = ['dispatched', 'driven'];

eachBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  beforeEach(async () => {
    isBroken = true;
    harness = await open();
    loom = harness.loom([sequence, grouped, listed, handlerRuns]);
  });
  afterEach(() => harness.close());

  /** Lets a worker do what there is to do. */
  async function work(): Promise<void> {
    const worker = loom.worker({ concurrency: 5 });
    await worker.start();
    await harness.until(async () => {
      const { counts } = await loom.stats();
      return counts.queued + counts.started === 0 && counts.deferred === 0;
    });
    await worker.stop();
  }

  async function fail(step: typeof sequence, form: RunForm): Promise<string> {
    const { id } = await loom.enqueue(step, 1, { form });
    await work();
    expect((await loom.runs.get(id))?.state).toBe('failed');
    return id;
  }

  describe.each(FORMS)('%s', (form) => {
    // F31
    it('a finished run has its result, by its id', async () => {
      isBroken = false;
      const { id } = await loom.enqueue(sequence, 1, { form });
      expect((await loom.runs.get(id))?.result).toBeUndefined();
      await work();
      expect((await loom.runs.get(id))?.result).toBe('3');
      const elsewhere = harness.loom([]);
      expect(await elsewhere.runs.handle(sequence, id).result()).toBe('3');
      expect(await elsewhere.handle(sequence, id).result()).toBe('3');
      expect((await elsewhere.tasks.get(id))?.result ?? '3').toBe('3');
    });

    // F31
    it('a failed run has none', async () => {
      const id = await fail(sequence, form);
      expect(await loom.runs.get(id)).not.toHaveProperty('result');
      await expect(loom.handle(sequence, id).result()).rejects.toMatchObject({
        code: 'RUN_FAILED',
        node: 'shaky',
      });
    });

    // F34
    it('runs are listed in both forms, page by page', async () => {
      isBroken = false;
      const ids: string[] = [];
      for (const one of [form, 'dispatched', 'driven'] as const) {
        ids.push((await loom.enqueue(sequence, 1, { form: one })).id);
      }
      await work();
      const { items } = await loom.runs.list({ state: 'finished' });
      expect(items.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await loom.runs.list({ state: 'finished', limit: 1, cursor });
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen.sort()).toEqual([...ids].sort());
      const some = await loom.runs.list({ state: 'finished', form });
      expect(some.items.every((run) => run.form === form)).toBe(true);
      await expect(loom.runs.list({ state: 'finished', cursor: 'x' })).rejects.toThrow('cursor');
    });

    // F34
    it('nodes of an ended run have ended, and those that never ran are skipped', async () => {
      const id = await fail(grouped, form);
      const { nodes } = (await loom.runs.get(id)) ?? { nodes: [] };
      const states = Object.fromEntries(nodes.map(({ node, state }) => [node, state]));
      expect(states).toEqual({
        begin: 'finished',
        shaky: 'failed',
        sound: 'finished',
        '~group.shaky': 'failed',
        end: 'skipped',
      });
      const { counts } = await loom.runs.explain(id);
      expect(counts).toEqual({ finished: 2, failed: 2, skipped: 1 });
      const { states: drawn } = await loom.runs.graph(id);
      expect(drawn.get('end')).toBe('skipped');
    });

    // F23
    it('a part of a run is not put back alone, and says which run', async () => {
      const id = await fail(grouped, form);
      const { items } = await loom.dead.list();
      const part = items.find(({ name }) => name === 'shaky');
      const refused = loom.tasks.redrive(part?.id ?? '');
      await expect(refused).rejects.toThrow(WrongStateError);
      await expect(refused).rejects.toMatchObject({ runId: id, taskId: part?.id });
      expect((await loom.runs.get(id))?.state).toBe('failed');
      const { obstacles } = await loom.tasks.explain(part?.id ?? '');
      expect(obstacles[0]?.command).toBe(`fairloom runs resume ${id}`);
      expect((await loom.tasks.explain(id)).obstacles[0]?.command).toBe(
        `fairloom runs resume ${id}`,
      );
    });

    // F23
    it('a run that is redriven is resumed', async () => {
      const id = await fail(grouped, form);
      isBroken = false;
      await loom.tasks.redrive(id);
      await work();
      expect((await loom.runs.get(id))?.result).toBe('{"shaky":3,"sound":2}');
    });

    // F23
    it('of many dead letters runs are put back as runs', async () => {
      const first = await fail(grouped, form);
      const second = await fail(sequence, form);
      const alone = await loom.enqueue(shaky, 1, { id: 'alone' });
      await work();
      isBroken = false;
      const report = await loom.dead.redrive({ all: true, limit: 100 });
      expect(report).toMatchObject({ more: false, skipped: 0 });
      await work();
      expect((await loom.runs.get(first))?.result).toBe('{"shaky":3,"sound":2}');
      expect((await loom.runs.get(second))?.result).toBe('3');
      expect(await alone.result()).toBe(3);
      expect((await loom.stats()).counts).toMatchObject({ deferred: 0, queued: 0 });
    });

    // F21
    it('lists of runs and of dead letters say what was thrown', async () => {
      const steps = form === 'driven' ? [sequence, grouped, listed] : [sequence, grouped];
      const thrown = { name: 'RangeError', message: 'no such table' };
      for (const step of steps) {
        const id = await fail(step, form);
        expect((await loom.runs.get(id))?.error).toMatchObject(thrown);
      }
      const { items } = await loom.runs.list({ state: 'failed' });
      expect(items.map(({ error }) => error)).toMatchObject(steps.map(() => thrown));
      const dead = await loom.dead.list();
      expect(dead.items.length).toBeGreaterThanOrEqual(steps.length);
      for (const { error } of dead.items) expect(error).toMatchObject(thrown);
    });

    // F21
    it('a run that did not fail lists no error', async () => {
      isBroken = false;
      const { id: finished } = await loom.enqueue(sequence, 1, { form });
      await work();
      const { id: canceled } = await loom.enqueue(sequence, 1, { form });
      await loom.runs.cancel(canceled);
      for (const state of ['finished', 'canceled'] as const) {
        const { items } = await loom.runs.list({ state });
        expect(items.map(({ id, error }) => [id, error])).toEqual([
          [{ finished, canceled }[state], undefined],
        ]);
      }
    });

    // F21
    it('a page of runs costs no more reads than its longest way back', async () => {
      const reads = async (): Promise<number> => {
        const get = vi.fn(harness.backend.inspect.get.bind(harness.backend.inspect));
        const other = harness.loom([], { backend: replaced(harness.backend, 'inspect', { get }) });
        const { items } = await other.runs.list({ state: 'failed' });
        expect(items.every(({ error }) => error?.name === 'RangeError')).toBe(true);
        return get.mock.calls.length;
      };
      await fail(sequence, form);
      const one = await reads();
      for (const step of [sequence, sequence, sequence]) await fail(step, form);
      expect(await reads()).toBe(one);
      if (form === 'driven') expect(one).toBe(0);
    });

    // F22
    it('a failed run names the culprit first, and the command that resumes it', async () => {
      const id = await fail(grouped, form);
      const { causes, command } = await loom.runs.explain(id);
      expect(causes).toEqual([
        {
          // A member of a driven run is called by its group and its key.
          node: form === 'driven' ? '~group.shaky/shaky' : 'shaky',
          taskId: expect.any(String),
          attempt: 1,
          error: expect.objectContaining({ name: 'RangeError', message: 'no such table' }),
          cause: expect.objectContaining({ type: 'attempts' }),
        },
      ]);
      expect(command).toBe(`fairloom runs resume ${id}`);
    });

    // F22
    it('one fault is one dead letter, and its followers are found when asked for', async () => {
      const id = await fail(grouped, form);
      const { items } = await loom.dead.list();
      expect(items.map(({ name }) => name)).toEqual(['shaky']);
      const all = await loom.dead.list({ followers: true });
      expect(all.items.map((one) => one.id)).toContain(id);
      expect(all.items.length).toBeGreaterThan(1);
      expect((await loom.stats()).totals).toMatchObject({ deadLetters: 1 });
      const [queue] = await loom.queues.list();
      expect(queue?.deadLetters).toBe(1);
      isBroken = false;
      await loom.runs.resume(id);
      await work();
      expect((await loom.runs.get(id))?.state).toBe('finished');
      expect((await loom.stats()).totals).toMatchObject({ deadLetters: 1 });
    });
  });

  // F31
  it('a task has a handle by its id, and says when it is another task', async () => {
    isBroken = false;
    await loom.enqueue(sound, 1, { id: 'one' });
    await work();
    expect(await loom.handle(sound, 'one').result()).toBe(2);
    await expect(loom.handle(sound, 'two').result()).rejects.toThrow(TaskNotFoundError);
    expect(() => loom.handle(sound, '')).toThrow(InvalidOptionError);
    expect(() => loom.handle({} as typeof sound, 'one')).toThrow(InvalidOptionError);
    expect(() => loom.runs.handle({} as typeof sound, 'one')).toThrow(InvalidOptionError);
  });

  // F23
  it('what a handler ran is put back with its task', async () => {
    await loom.enqueue(handlerRuns, 1, { id: 'outer' });
    await work();
    const dead = (await loom.dead.list({ followers: true })).items;
    const part = dead.find(({ name }) => name === 'shaky');
    await expect(loom.tasks.redrive(part?.id ?? '')).rejects.toMatchObject({ runId: 'outer' });
    const { obstacles } = await loom.tasks.explain(part?.id ?? '');
    expect(obstacles[0]?.command).toBe('fairloom tasks redrive outer');
  });

  // F22
  it('a task that only followed another is no dead letter of its own', async () => {
    await loom.enqueue(shaky, 1, { id: 'first' });
    const options = { dependsOn: ['first'], onUpstreamFailure: 'fail' } as const;
    await loom.enqueue(sound, 1, { id: 'second', ...options });
    await loom.enqueue(sound, 1, { id: 'third', ...options, dependsOn: ['second'] });
    await work();
    expect((await loom.dead.list()).items.map(({ id }) => id)).toEqual(['first']);
    const all = (await loom.dead.list({ followers: true })).items.map(({ id }) => id);
    expect(all.sort()).toEqual(['first', 'second', 'third']);
    expect((await loom.queues.list())[0]?.deadLetters).toBe(1);
    isBroken = false;
    await loom.dead.redrive({ all: true });
    await work();
    expect(await loom.handle(sound, 'third').result()).toBe(2);
  });
});
