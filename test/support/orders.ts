/**
 * Tries out the orders in which the calls of several processes may arrive at one backend. A
 * scenario is run again and again; each time its calls are let through one by one in another order.
 */
import type { Backend } from '../../src/domain/port/backend.ts';
import { flakyBackend } from '../../src/testing/flaky-backend.ts';
import { SeededRandom } from '../chaos/seeded-random.ts';
import type { Harness } from './backends.ts';

/** One order that is tried. */
export interface Order {
  /** The same backend for one process: its calls wait for their turn once `hold` was called. */
  through(backend: Backend): Backend;
  hold(): void;
  /** Lets calls through until it holds; time goes on when no call waits. */
  until(harness: Harness, holds: () => boolean): Promise<void>;
}

/** Calls whose order changes nothing, or that do not return. */
const FREE: ReadonlySet<string> = new Set([
  'open',
  'workers.register',
  'workers.waitForWork',
  'inspect.waitForEnd',
  'tasks.extend',
]);

/** Calls let through, and steps of the clock, after which a scenario has no end. */
const MOST_STEPS = 2_000;

/** Says which of so many calls is next. */
type Choose = (count: number) => number;

/**
 * Every order, each once; stops after `most`.
 *
 * @returns how many were tried, and whether these are all.
 */
export async function everyOrder(
  most: number,
  scenario: (order: Order) => Promise<void>,
): Promise<{ readonly tried: number; readonly isAll: boolean }> {
  const path: number[] = [];
  const widths: number[] = [];
  for (let tried = 1; ; tried++) {
    let at = 0;
    await scenario(
      orderOf((count) => {
        path[at] ??= 0;
        widths[at] = count;
        return path[at++] ?? 0;
      }),
    );
    path.length = at;
    // The last choice that has another way left; what came after it is chosen anew.
    while (path.length > 0 && (path.at(-1) ?? 0) + 1 >= (widths[path.length - 1] ?? 0)) path.pop();
    const last = path.pop();
    if (last === undefined) return { tried, isAll: true };
    if (tried === most) return { tried, isAll: false };
    path.push(last + 1);
  }
}

/** So many orders by chance, the same ones for the same seed. */
export async function someOrders(
  count: number,
  seed: number,
  scenario: (order: Order) => Promise<void>,
): Promise<void> {
  const seeded = new SeededRandom(seed);
  for (let tried = 0; tried < count; tried++) {
    await scenario(orderOf((width) => seeded.between(0, width - 1)));
  }
}

/** No order but that of the event loop and the server: calls of all processes are under way at once. */
export function freely(): Order {
  return {
    through: (backend) => backend,
    hold: () => undefined,
    until: async (harness, holds) => {
      for (await harness.quiet(); !holds(); await harness.quiet()) await harness.clock.advance(250);
    },
  };
}

function orderOf(choose: Choose): Order {
  let isPaused = false;
  const waiting: (() => void)[] = [];
  return {
    hold: () => {
      isPaused = true;
    },
    through: (backend) =>
      flakyBackend(backend, ({ operation }) => {
        if (!isPaused || FREE.has(operation)) return undefined;
        return { holdUntil: new Promise<void>((resolve) => waiting.push(resolve)) };
      }),
    until: async (harness, holds) => {
      let left = MOST_STEPS;
      for (await harness.quiet(); !holds(); await harness.quiet()) {
        if (left-- === 0) throw new Error('it does not end in this order');
        if (waiting.length === 0) await harness.clock.advance(250);
        else waiting.splice(choose(waiting.length), 1)[0]?.();
      }
      isPaused = false;
      for (const go of waiting.splice(0)) go();
      await harness.quiet();
    },
  };
}
