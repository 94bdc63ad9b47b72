/** How often things are read that pages watch: by what reading them costs, and in whose turn. */
import { ManualClock } from 'fairloom/testing';
import { expect, it } from 'vitest';
import { Budget } from '../../src/http/events/budget.ts';
import { Hub } from '../../src/http/events/hub.ts';
import { subjectsIn } from '../../src/http/events/subject.ts';
import { View } from '../../src/operations/view.ts';

const EVERYBODY = new View('all');

interface Reading {
  readonly name: string;
  readonly at: number;
}

/** Reads things that take so long, and knows when it did. */
class Readings {
  readonly #costs = new Map<string, number>();
  readonly #clock = new ManualClock(1_000_000);
  readonly #read: Reading[] = [];
  readonly hub: Hub;
  #under = 0;
  /** Readings that were under way at once, at most. */
  most = 0;

  constructor() {
    this.hub = new Hub(async ({ name }) => {
      this.#read.push({ name, at: this.#clock.now() });
      this.most = Math.max(this.most, ++this.#under);
      await new Promise<void>((resolve) => {
        this.#clock.setTimer(this.#costs.get(name) ?? 0, resolve);
      });
      this.#under--;
      return {};
    }, this.#clock);
  }

  costs(name: string, ms: number): void {
    this.#costs.set(name, ms);
  }

  watch(name: string, ms: number, caller = 'one'): () => void {
    this.costs(name, ms);
    const leaves = subjectsIn(`http://host/?watch=${name}`).map((subject) => {
      const changed = (): void => undefined;
      return this.hub.watch({ subject, view: EVERYBODY, caller, changed }).leave;
    });
    return () => {
      for (const leave of leaves) leave();
    };
  }

  async pass(ms: number): Promise<void> {
    await this.#clock.advance(ms);
  }

  /** What is read in so much time. */
  async during(ms: number): Promise<readonly Reading[]> {
    const from = this.#read.length;
    await this.#clock.advance(ms);
    return this.#read.slice(from);
  }

  /** Ms from the end of one reading of this to the beginning of the next, at most. */
  async pauseOf(name: string, ms: number): Promise<number> {
    const all = (await this.during(ms)).filter((one) => one.name === name);
    expect(all.length).toBeGreaterThan(1);
    const pauses = all.slice(1).map(({ at }, index) => at - (all[index]?.at ?? 0));
    return Math.max(...pauses) - (this.#costs.get(name) ?? 0);
  }
}

it('reads what is cheap five times a second, and what is dear more seldom', async () => {
  const readings = new Readings();
  readings.watch('overview', 5);
  readings.watch('users', 50);
  await readings.pass(5_000);
  expect(await readings.pauseOf('users', 5_000)).toBeLessThan(1_100);
  expect(await readings.pauseOf('overview', 5_000)).toBeLessThan(300);
  readings.watch('queues', 100);
  await readings.pass(20_000);
  expect(await readings.pauseOf('queues', 20_000)).toBeGreaterThanOrEqual(4_000);
  expect(await readings.pauseOf('overview', 5_000)).toBeLessThan(700);
});

it('reads things that are cheap more seldom where they are many', async () => {
  const readings = new Readings();
  for (let at = 0; at < 100; at++) readings.watch(`task:${at}`, 8);
  await readings.pass(20_000);
  const pause = await readings.pauseOf('task:7', 20_000);
  expect(pause).toBeGreaterThanOrEqual(100 * 8 * 5 - 8);
  expect(pause).toBeLessThan(100 * 8 * 6);
});

it('lets nothing wait long for one reading that took long', async () => {
  const readings = new Readings();
  readings.watch('users', 50);
  await readings.pass(5_000);
  readings.costs('users', 4_000);
  await readings.during(1_100);
  readings.costs('users', 50);
  const [next] = await readings.during(4_000 + 500 * 5 + 1_000);
  expect(next?.name).toBe('users');
});

// F105
it('one thing is read after the other, in a part of the time, also when one caller watches much', async () => {
  const readings = new Readings();
  for (let at = 0; at < 640; at++) readings.watch(`tasks:nothing-${at}`, 100, 'greedy');
  await readings.pass(60_000);
  const read = await readings.during(60_000);
  expect(readings.most).toBe(1);
  expect(read.length * 100).toBeLessThanOrEqual(60_000 / 5);
  expect(read.length * 100).toBeGreaterThan(60_000 / 6);
  // In turn: nothing twice before everything once.
  expect(new Set(read.map(({ name }) => name)).size).toBe(read.length);
});

// F105
it('who watches little is not kept waiting by who watches much, nor by many such', async () => {
  const readings = new Readings();
  for (const caller of ['a', 'b', 'c', 'd']) {
    for (let at = 0; at < 200; at++) readings.watch(`tasks:${caller}${at}`, 100, caller);
  }
  readings.watch('overview', 5, 'modest');
  await readings.pass(60_000);
  const read = await readings.during(60_000);
  const work = read.filter(({ name }) => name !== 'overview').length * 100;
  expect(work).toBeLessThanOrEqual(60_000 / 2.5);
  expect(work).toBeGreaterThan(60_000 / 3);
  const own = read.filter(({ name }) => name === 'overview');
  const waits = own.slice(1).map(({ at }, index) => at - (own[index]?.at ?? 0));
  expect(Math.max(...waits)).toBeLessThan(700);
});

// F105
it('equal filters are read once for all, for the caller that comes first', async () => {
  const readings = new Readings();
  const leaves = ['tasks:state%3Afailed', 'tasks:state:failed', 'tasks%3Astate%3Afailed'].map(
    (name, at) => readings.watch(name, 5, `caller ${at}`),
  );
  expect(readings.hub.size).toBe(1);
  for (let at = 0; at < 100; at++) readings.watch(`tasks:other-${at}`, 100, 'caller 0');
  await readings.pass(5_000);
  const read = await readings.during(5_000);
  const shared = read.filter(({ name }) => name === 'tasks:state%3Afailed').length;
  expect(shared).toBeGreaterThan(5);
  for (const leave of leaves.slice(1)) leave();
  expect(readings.hub.size).toBe(101);
});

// F105
it('who goes and comes again has no new budget', async () => {
  const readings = new Readings();
  let work = 0;
  for (let round = 0; round < 300; round++) {
    const leaves = [0, 1, 2].map((at) => readings.watch(`tasks:${round}-${at}`, 100, 'greedy'));
    work += (await readings.during(200)).length * 100;
    for (const leave of leaves) leave();
    // Another one comes and goes, too.
    readings.watch('overview', 1, `stranger ${round}`)();
  }
  // Of a minute, and what was saved up before it.
  expect(work).toBeLessThanOrEqual(60_000 / 5 + 300);
});

// F105
it('a reading that never ends holds up no other', async () => {
  const readings = new Readings();
  readings.watch('queues', 1_000_000);
  readings.watch('overview', 5);
  await readings.pass(5_000);
  expect(await readings.pauseOf('overview', 5_000)).toBeLessThan(300);
});

// F105
it('a clock that is set back makes no caller wait longer than for one reading', () => {
  const budget = new Budget(5);
  budget.spend(10_000_000, 400);
  expect(budget.waitMs(10_000_000)).toBe(400 * 5 - 1_000);
  expect(budget.waitMs(10_000_000 - 3_600_000)).toBe(500 * 5);
  expect(budget.waitMs(10_000_000 - 3_600_000 + 500 * 5)).toBe(0);
});
