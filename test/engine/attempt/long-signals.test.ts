/** What waits leave on signals that outlive them. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';

const WAITS = 10_000;
const later = task('later', async () => 'done');

/** Signals with the number of listeners that were put on them and not taken away. */
function countListeners(): ReadonlyMap<EventTarget, number> {
  const counts = new Map<EventTarget, number>();
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const count = (target: EventTarget, by: number): void => {
    if (target instanceof AbortSignal) counts.set(target, (counts.get(target) ?? 0) + by);
  };
  vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (
    this: EventTarget,
    ...args
  ) {
    count(this, 1);
    add.apply(this, args);
  });
  vi.spyOn(EventTarget.prototype, 'removeEventListener').mockImplementation(function (
    this: EventTarget,
    ...args
  ) {
    count(this, -1);
    remove.apply(this, args);
  });
  return counts;
}

/** Signals that `AbortSignal.any` made of this one, as Node keeps them for as long as it lives. */
function dependants(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  const known: unknown = key === undefined ? undefined : Reflect.get(signal, key);
  return known instanceof Set ? known.size : 0;
}

eachBackend((open) => {
  let harness: Harness;
  let warnings: string[];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  beforeEach(async () => {
    warnings = [];
    process.on('warning', onWarning);
    harness = await open();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    process.off('warning', onWarning);
    await harness.close();
  });

  // F15
  it('three hundred results under one signal put one listener on it, and leave none', async () => {
    const loom = harness.loom([later]);
    const tasks = Array.from({ length: 300 }, () => undefined);
    const handles = await loom.enqueueMany(later, tasks);
    const { signal } = new AbortController();
    const results = handles.map((handle) => handle.result({ signal }));
    await harness.quiet();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await loom.worker({ concurrency: 50 }).start();
    await Promise.all(results);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(warnings).toEqual([]);
  });

  // F15
  it('all of them reject with its reason when it aborts', async () => {
    const loom = harness.loom([later]);
    const handles = await loom.enqueueMany(
      later,
      Array.from({ length: 30 }, () => undefined),
    );
    const controller = new AbortController();
    const { signal } = controller;
    const results = Promise.allSettled(handles.map((handle) => handle.result({ signal })));
    await harness.quiet();
    const reason = new Error('enough');
    controller.abort(reason);
    for (const result of await results) expect(result).toEqual({ status: 'rejected', reason });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  // F15
  it('runs here share a signal, and leave nothing on it', async () => {
    const wait = gate();
    const waiting = task('held', async () => wait.passed);
    const twice = waiting.pipe(waiting.as('again'));
    const loom = harness.loom([waiting]);
    const { signal } = new AbortController();
    const runs = [waiting, twice].flatMap((step) =>
      Array.from({ length: 20 }, () => loom.run(step, undefined, { signal })),
    );
    await harness.quiet();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    wait.open();
    await Promise.all(runs);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(warnings).toEqual([]);
  });

  // F61
  it(`${WAITS} waits for ends and for work leave nothing on any signal`, async () => {
    const loom = harness.loom([later]);
    const { id } = await loom.enqueue(later);
    const { workers, inspect } = harness.backend;
    const ids = Array.from({ length: 20 }, (_, at) => `w${at}`);
    for (const worker of ids) {
      const queues = ['default'];
      await workers.register({ id: worker, concurrency: 1, queues, names: ['x'], host: 'h' });
    }
    const { signal } = new AbortController();
    const round = async (ms: number): Promise<void> => {
      const waits = ids.flatMap((worker) => [
        inspect.waitForEnd(id, ms, signal),
        workers.waitForWork(worker, ms, signal),
      ]);
      await harness.clock.advance(ms);
      await Promise.all(waits);
    };
    // The first makes connections.
    await round(1);
    const joined = vi.spyOn(AbortSignal, 'any');
    const counts = countListeners();
    // One in fifty of them waits indeed.
    for (let at = 0; at < WAITS / ids.length; at++) await round(at % 50 === 0 ? 1 : 0);
    expect([...counts.values()].filter((left) => left !== 0)).toEqual([]);
    expect(counts.get(signal) ?? 0).toBe(0);
    expect(dependants(signal)).toBe(0);
    expect(joined).not.toHaveBeenCalled();
  });
});
