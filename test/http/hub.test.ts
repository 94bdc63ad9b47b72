/** How often things are read that pages watch: by what reading them costs. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/base/time.ts';
import { View } from '../../src/http/calls/view.ts';
import { Hub } from '../../src/http/events/hub.ts';
import { subjectsIn } from '../../src/http/events/subject.ts';

const EVERYBODY = new View('all');

/** Reads things that take so long, and says how long it waited before each reading but the first. */
class Readings {
  readonly costs = new Map<string, number>();
  readonly #pauses = new Map<string, number>();
  readonly #timers: (() => void)[] = [];
  #now = 0;
  #reading = '';
  readonly hub: Hub;

  constructor() {
    const clock: Clock = {
      now: () => this.#now,
      setTimer: (ms, fire) => {
        this.#pauses.set(this.#reading, ms);
        this.#timers.push(fire);
        return { cancel: () => undefined };
      },
    };
    const read = async ({ name }: { readonly name: string }): Promise<unknown> => {
      this.#reading = name;
      this.#now += this.costs.get(name) ?? 0;
      return {};
    };
    this.hub = new Hub(read, clock);
  }

  async watch(name: string, costMs: number): Promise<void> {
    this.costs.set(name, costMs);
    for (const subject of subjectsIn(name)) this.hub.watch(subject, EVERYBODY, () => undefined);
    await new Promise(setImmediate);
  }

  /** Reads everything once more, one thing after the other. */
  async again(): Promise<Readonly<Record<string, number>>> {
    for (const fire of this.#timers.splice(0)) {
      fire();
      await new Promise(setImmediate);
    }
    return Object.fromEntries(this.#pauses);
  }
}

it('reads what is cheap five times a second, and what is dear more seldom', async () => {
  const readings = new Readings();
  await readings.watch('overview', 5);
  await readings.watch('users', 50);
  expect(await readings.again()).toEqual({ overview: 200, users: 1_000 });
  await readings.watch('tasks', 100);
  await readings.again();
  expect(await readings.again()).toEqual({ overview: 200, users: 2_000, tasks: 4_000 });
  readings.costs.set('tasks', 5_000);
  await readings.again();
  expect(await readings.again()).toMatchObject({ overview: 200, tasks: 10_000 });
});

it('reads things that are cheap more seldom where they are many', async () => {
  const readings = new Readings();
  for (let at = 0; at < 100; at++) await readings.watch(`task:${at}`, 8);
  await readings.again();
  const pauses = Object.values(await readings.again());
  expect(pauses).toHaveLength(100);
  expect(new Set(pauses)).toEqual(new Set([100 * 8 * 5]));
});

it('lets nothing wait for one reading that took long', async () => {
  const readings = new Readings();
  await readings.watch('users', 50);
  await readings.again();
  readings.costs.set('users', 4_000);
  expect(await readings.again()).toEqual({ users: 1_000 });
  readings.costs.set('users', 50);
  expect(await readings.again()).toEqual({ users: 1_000 });
});
