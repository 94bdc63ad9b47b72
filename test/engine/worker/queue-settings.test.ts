/** What a queue says of attempts and leases: before the worker's defaults, behind the definition. */
import { expect, it, vi } from 'vitest';
import type { ExtendRequest } from '../../../src/domain/port/leasing.ts';
import { flow } from '../../../src/workflow/flow.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened, openMemory } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { observe } from '../../support/workers.ts';

const NO_WAIT = { base: 0, jitter: 'none' } as const;

eachBackend((open) => {
  const harness = opened(open);

  it('retries: enqueue before definition before queue before defaults', async () => {
    const starts = new Map<string, number>();
    const failing = async (name: string): Promise<void> => {
      starts.set(name, (starts.get(name) ?? 0) + 1);
      throw new Error('no');
    };
    const open = task('open', failing);
    const said = task('said', { retries: 2 }, failing);
    const defaults = { retries: 4, backoff: NO_WAIT };
    const loom = harness.loom([open, said], { defaults });
    const here = await loom.enqueue(open, 'default');
    await loom.queues.set('mail', { retries: 1 });
    const mail = { queue: 'mail' };
    await loom.enqueue(open, 'queue', mail);
    await loom.enqueue(said, 'definition', mail);
    const last = await loom.enqueue(said, 'enqueue', { ...mail, retries: 0 });
    await loom.worker({ queues: ['default', 'mail'] }).start();
    await harness.until(async () => (await loom.stats()).counts.failed === 4);
    expect(Object.fromEntries(starts)).toEqual({
      default: 5,
      queue: 2,
      definition: 3,
      enqueue: 1,
    });
    expect((await loom.tasks.get(here.id))?.state).toBe('failed');
    expect((await loom.tasks.get(last.id))?.state).toBe('failed');
  });

  it('a task that waits for its next attempt has what the queue says then', async () => {
    const fails = task('fails', async () => {
      throw new Error('no');
    });
    const loom = harness.loom([fails], { defaults: { backoff: { base: '10s', jitter: 'none' } } });
    await loom.queues.set('default', { retries: 1 });
    const { id } = await loom.enqueue(fails);
    await loom.worker().start();
    await harness.until(async () => (await loom.stats()).counts.scheduled === 1);
    await loom.queues.set('default', { retries: 2 });
    await harness.clock.advance('10s');
    expect((await loom.tasks.get(id))?.state).toBe('scheduled');
    await harness.clock.advance('20s');
    expect((await loom.tasks.get(id))?.state).toBe('failed');
  });

  it('timeout: that of the queue ends an attempt, and none lets it run', async () => {
    const end = gate();
    const slow = task('slow', { retries: 0 }, async (_: undefined, ctx) => {
      await Promise.race([
        end.passed,
        new Promise((_, no) => ctx.signal.addEventListener('abort', no)),
      ]);
    });
    const loom = harness.loom([slow], { defaults: { timeout: '10s' } });
    await loom.queues.set('short', { lease: '1s', timeout: '3s' });
    await loom.queues.set('long', { timeout: 'none' });
    const short = await loom.enqueue(slow, undefined, { queue: 'short' });
    const long = await loom.enqueue(slow, undefined, { queue: 'long' });
    const worker = loom.worker({ queues: ['short', 'long'], lease: '5s' });
    const seen = observe(worker);
    await worker.start();
    await seen.count('task.started', 2);
    await harness.clock.advance('3s');
    await seen.count('task.failed', 1);
    expect(await loom.tasks.get(short.id)).toMatchObject({ failureType: 'timeout' });
    await harness.clock.advance('5m');
    expect((await loom.tasks.get(long.id))?.state).toBe('started');
    end.open();
    await seen.count('task.finished', 1);
  });

  it('lease: leases of several lengths are kept, each at a third of its own', async () => {
    const end = gate();
    const wait = task('wait', () => end.passed);
    const loom = harness.loom([wait]);
    await loom.queues.set('short', { lease: '600ms' });
    for (const queue of ['short', 'default']) await loom.enqueue(wait, undefined, { queue });
    const worker = loom.worker({ queues: ['short', 'default'], lease: '6s' });
    const seen = observe(worker);
    const extend = vi.spyOn(harness.backend.tasks, 'extend');
    await worker.start();
    await seen.count('task.started', 2);
    await harness.clock.advance('6s');
    const asked = extend.mock.calls.map(([request]): ExtendRequest => request);
    const lengths = (ms: number): number => asked.filter(({ leaseMs }) => leaseMs === ms).length;
    expect([lengths(600), lengths(6_000)]).toEqual([30, 3]);
    expect(asked.every(({ leases }) => leases.length === 1)).toBe(true);
    end.open();
    await seen.count('task.finished', 2);
    expect(seen.of('lease.lost')).toEqual([]);
    const calls = asked.length;
    await harness.clock.advance('6s');
    expect(extend.mock.calls.length).toBe(calls);
  });

  it('lease: a task whose worker died goes on after that of its queue', async () => {
    const starts: string[] = [];
    const work = task('work', (who: string) => {
      starts.push(who);
      return starts.length === 1 ? new Promise<never>(() => undefined) : Promise.resolve(who);
    });
    const loom = harness.loom([work]);
    await loom.queues.set('default', { lease: '500ms' });
    await loom.enqueue(work, 'a');
    const dying = loom.worker({ lease: '1h' });
    await dying.start();
    await harness.until(() => starts.length === 1);
    dying.abandon();
    await loom.worker({ lease: '1h' }).start();
    await harness.clock.advance('1s');
    await harness.until(() => starts.length === 2);
    expect((await loom.stats()).totals.lost).toBe(1);
  });

  it('nodes of a driven run are tried as the queue of the run says', async () => {
    const starts: string[] = [];
    const failing = task('failing', async () => {
      starts.push('failing');
      throw new Error('no');
    });
    const own = task('own', { retries: 2 }, async () => {
      starts.push('own');
      throw new Error('no');
    });
    const defaults = { retries: 5, backoff: NO_WAIT };
    const one = flow('one', (f) => f.step(failing, f.input));
    const two = flow('two', (f) => f.step(own, f.input));
    const loom = harness.loom([one, two], { defaults });
    await loom.queues.set('default', { retries: 1 });
    await loom.worker().start();
    for (const pipeline of [one, two]) {
      const handle = await loom.enqueue(pipeline, undefined, { form: 'driven' });
      const failed = expect(handle.result()).rejects.toMatchObject({ code: 'RUN_FAILED' });
      await harness.clock.advance('1s');
      await failed;
    }
    expect(starts.map((name) => name[0]).join('')).toBe('ffooo');
  });
});

it.each([
  [{ lease: '99ms' }, 'lease'],
  [{ lease: '25h' }, 'lease'],
  [{ timeout: 0 }, 'timeout'],
  [{ retries: 1.5 }, 'retries'],
  [{ lease: '30s', timeout: '30s' }, 'lease'],
] as const)('refuses %o before anything is stored', async (settings, option) => {
  const harness = await openMemory();
  const loom = harness.loom([]);
  await expect(loom.queues.set('mail', settings)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    option,
  });
  expect(await loom.queues.get('mail')).toBeUndefined();
  await harness.close();
});
