/**
 * The examples of the seed about dependencies, step by step, on both backends: a line, a fan-out and
 * fan-in, a cycle, the ETL, and the one with six tasks; and its rules of states.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

type States = Readonly<Record<string, string>>;

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  /** What lets a task that has started end; `fail` says that it fails. */
  let running: Map<string, (end: 'finish' | 'fail') => void>;
  beforeEach(async () => {
    running = new Map();
  });

  const work = task('work', { retries: 0 }, async (give: unknown, ctx) => {
    const end = await new Promise((resolve) => running.set(ctx.taskId, resolve));
    running.delete(ctx.taskId);
    if (end === 'fail') throw new Error('as told');
    return give;
  });

  /** Tasks and what each waits for, in the order of the keys; a worker is there for all of them. */
  async function enqueue(tasks: Readonly<Record<string, readonly string[]>>): Promise<void> {
    loom = harness.loom([work]);
    for (const [id, dependsOn] of Object.entries(tasks)) {
      await loom.enqueue(work, `${id} done`, { id, dependsOn });
    }
  }

  async function states(...ids: readonly string[]): Promise<States> {
    const found = await Promise.all(ids.map((id) => loom.tasks.get(id)));
    return Object.fromEntries(ids.map((id, at) => [id, found[at]?.state ?? 'missing']));
  }

  async function blockedBy(id: string): Promise<readonly string[]> {
    return [...((await loom.tasks.get(id))?.blockedBy ?? [])].toSorted();
  }

  const isEnded = async (id: string): Promise<boolean> =>
    ['finished', 'failed'].includes((await loom.tasks.get(id))?.state ?? '');

  /** Lets this one run to its end and nothing else: what becomes ready stays queued. */
  async function run(id: string, end: 'finish' | 'fail' = 'finish'): Promise<void> {
    const worker = loom.worker({ concurrency: 1 });
    await worker.start();
    await harness.until(async () => {
      if (running.has(id)) return true;
      await harness.clock.advance(50);
      return false;
    });
    worker.pause();
    running.get(id)?.(end);
    await harness.until(() => isEnded(id));
    await settled(harness, worker.stop({ grace: 0 }));
    while ((await harness.backend.tasks.tick()).more) await harness.quiet();
  }

  it('example 1: a line; all but the first are deferred, and each end queues the next', async () => {
    await enqueue({ extract: [], transform: ['extract'], load: ['transform'] });
    const ids = ['extract', 'transform', 'load'];
    expect(await states(...ids)).toEqual({
      ...{ extract: 'queued', transform: 'deferred', load: 'deferred' },
    });
    expect(await blockedBy('transform')).toEqual(['extract']);
    expect(await blockedBy('load')).toEqual(['transform']);
    await run('extract');
    expect(await states(...ids)).toEqual({
      ...{ extract: 'finished', transform: 'queued', load: 'deferred' },
    });
    await run('transform');
    expect(await states(...ids)).toEqual({
      ...{ extract: 'finished', transform: 'finished', load: 'queued' },
    });
    await run('load');
    expect(await states('load')).toEqual({ load: 'finished' });
  });

  it('example 2: a fan-out and fan-in; the end waits for both', async () => {
    await enqueue({
      prepare: [],
      process_a: ['prepare'],
      process_b: ['prepare'],
      combine: ['process_a', 'process_b'],
    });
    expect(await blockedBy('combine')).toEqual(['process_a', 'process_b']);
    await run('prepare');
    expect(await states('process_a', 'process_b', 'combine')).toEqual({
      ...{ process_a: 'queued', process_b: 'queued', combine: 'deferred' },
    });
    await run('process_a');
    expect(await states('combine')).toEqual({ combine: 'deferred' });
    expect(await blockedBy('combine')).toEqual(['process_b']);
    await run('process_b');
    expect(await states('combine')).toEqual({ combine: 'queued' });
    await run('combine');
    expect(await loom.tasks.get('combine')).toMatchObject({ result: 'combine done' });
  });

  it('example 3: a cycle is refused when its last task is made, with the way round', async () => {
    loom = harness.loom([work]);
    const block = { onMissing: 'block' } as const;
    await loom.enqueue(work, 1, { id: 'a', dependsOn: ['b'], ...block });
    await loom.enqueue(work, 1, { id: 'b', dependsOn: ['c'], ...block });
    const last = loom.enqueue(work, 1, { id: 'c', dependsOn: ['a'], ...block });
    await expect(last).rejects.toMatchObject({ code: 'DEPENDENCY_CYCLE' });
    await expect(last).rejects.toThrow(/a.*b.*c|c.*a.*b/);
    const itself = loom.enqueue(work, 1, { id: 'd', dependsOn: ['d'], ...block });
    await expect(itself).rejects.toMatchObject({ code: 'DEPENDENCY_CYCLE' });
    expect(await states('c', 'd')).toEqual({ c: 'missing', d: 'missing' });
  });

  describe('the ETL', () => {
    const extract = task('extract_data', () => ({ records: 1_000 }));
    const transform = task('transform_data', ({ records }: { records: number }) => ({
      processed_records: 2 * records,
    }));
    const loadData = task('load_data', (input: { processed_records: number }) => ({
      status: 'loaded',
      rows: input.processed_records,
    }));

    it('as a pipeline hands each result to the next', async () => {
      const etl = extract.pipe(transform).pipe(loadData).as('etl');
      loom = harness.loom([etl]);
      await loom.worker().start();
      for (const form of ['dispatched', 'driven'] as const) {
        const handle = await loom.enqueue(etl, undefined, { form });
        const value = { status: 'loaded', rows: 2_000 };
        expect(await settled(harness, handle.result())).toEqual(value);
      }
      expect(await loom.run(etl)).toEqual({ status: 'loaded', rows: 2_000 });
    });

    it('as tasks with dependencies finds the results of those that it waited for', async () => {
      const read = task('read', (_: undefined, ctx) => {
        const found = ctx.upstream.get(extract);
        if (found?.state !== 'finished') throw new Error('not extracted');
        return { processed_records: 2 * found.result.records };
      });
      const finish = task('finish', (_: undefined, ctx) => ctx.upstream.get(read));
      loom = harness.loom([extract, read, finish]);
      await loom.worker().start();
      const first = await loom.enqueue(extract, undefined, { id: 'extract_data' });
      const second = await loom.enqueue(read, undefined, { dependsOn: [first] });
      const third = await loom.enqueue(finish, undefined, { dependsOn: [second] });
      expect(await settled(harness, third.result())).toEqual({
        ...{ state: 'finished', taskId: second.id, result: { processed_records: 2_000 } },
      });
    });
  });

  it('the example of six tasks: A, B and C end one after the other', async () => {
    await enqueue({ A: [], B: [], C: [], D: ['A', 'B', 'C'], E: ['A', 'B'], F: ['C'] });
    const sets = async (): Promise<unknown> => ({
      D: await blockedBy('D'),
      E: await blockedBy('E'),
      F: await blockedBy('F'),
    });
    expect(await sets()).toEqual({ D: ['A', 'B', 'C'], E: ['A', 'B'], F: ['C'] });
    await run('A');
    expect(await sets()).toEqual({ D: ['B', 'C'], E: ['B'], F: ['C'] });
    expect(await states('D', 'E', 'F')).toEqual({ D: 'deferred', E: 'deferred', F: 'deferred' });
    await run('B');
    expect(await sets()).toEqual({ D: ['C'], E: [], F: ['C'] });
    expect(await states('D', 'E', 'F')).toEqual({ D: 'deferred', E: 'queued', F: 'deferred' });
    await run('C');
    expect(await sets()).toEqual({ D: [], E: [], F: [] });
    expect(await states('D', 'E', 'F')).toEqual({ D: 'queued', E: 'queued', F: 'queued' });
    for (const id of ['E', 'D', 'F']) await run(id);
    expect(await states('D', 'E', 'F')).toEqual({ D: 'finished', E: 'finished', F: 'finished' });
  });

  it('its rules of states: a failure leaves dependents deferred, a cancel takes them along', async () => {
    await enqueue({ A: [], B: ['A'], C: [], D: ['C', 'A'] });
    await run('A', 'fail');
    expect(await states('A', 'B', 'D')).toEqual({ A: 'failed', B: 'deferred', D: 'deferred' });
    await loom.tasks.cancel('C');
    while ((await harness.backend.tasks.tick()).more) await harness.quiet();
    // The seed leaves D without anything to wait for; here it says why it will not run.
    expect(await states('B', 'C', 'D')).toEqual({ B: 'deferred', C: 'canceled', D: 'canceled' });
  });
});
