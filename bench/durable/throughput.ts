/** Tasks/s of a queue that acknowledges after the write to disk, all in one process. */
import type { Figures } from '../kit/bench.ts';
import { type EnqueueWay, storeTasks } from '../kit/enqueue-round.ts';
import { cpuUs } from '../kit/now.ts';
import { type DurableQueue, openQueue } from './queue.ts';

/** Stored only, in one of three ways; worked off after all was stored; both at once. */
export type DurableWay = EnqueueWay | 'process' | 'both';

export interface DurableOrder {
  readonly side: string;
  readonly size: number;
  readonly place: string;
  readonly way: DurableWay | undefined;
}

const SLOTS = 100;
/** This part of the work runs before the measurement, so that code is compiled. */
const WARM_PART = 0.2;

export async function measure(order: DurableOrder): Promise<Figures> {
  const { side, size, place, way = 'in-flight' } = order;
  const queue = await openQueue(side, place);
  const counter = new Counter();
  const warm = Math.round(size * WARM_PART);
  if (way === 'process') await storeTasks(queue, 'batches', warm + size);
  if (way === 'process' || way === 'both') await queue.work(SLOTS, counter.count);
  const run = (tasks: number): Promise<void> => runOf(queue, counter, way, tasks);
  await run(warm);
  const cpu = process.cpuUsage();
  const started = performance.now();
  await run(size);
  const ms = performance.now() - started;
  const figures = { perSecond: (size / ms) * 1_000, cpuUs: cpuUs(cpu) / size };
  await queue.close();
  return figures;
}

async function runOf(
  queue: DurableQueue,
  counter: Counter,
  way: DurableWay,
  tasks: number,
): Promise<void> {
  const handled = way === 'process' || way === 'both' ? counter.next(tasks) : undefined;
  if (way !== 'process') await storeTasks(queue, way === 'both' ? 'in-flight' : way, tasks);
  await handled;
}

/** Counts handled tasks. */
class Counter {
  #count = 0;
  #goal = 0;
  #reached: (() => void) | undefined;

  readonly count = (): void => {
    this.#count++;
    if (this.#count >= this.#goal) this.#reached?.();
  };

  /** Fulfilled when this many more tasks have been handled. */
  next(tasks: number): Promise<void> {
    this.#goal += tasks;
    return new Promise((resolve) => {
      this.#reached = resolve;
      if (this.#count >= this.#goal) resolve();
    });
  }
}
