/** Deadlines of one worker: a list for each length of time, of which empty ones go when there are many. */
import { expect, it } from 'vitest';
import { DeadlineNode, Deadlines } from '../../../src/attempt/deadlines.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';

class Noted extends DeadlineNode {
  readonly #due: () => void;

  constructor(due: () => void) {
    super();
    this.#due = due;
  }

  due(): void {
    this.#due();
  }
}

it('each is due in its time, beside timers of any length that were taken back', async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock);
  const due: number[] = [];
  const set = (ms: number): DeadlineNode => {
    const node = new Noted(() => due.push(ms));
    deadlines.set(node, ms, clock.now());
    return node;
  };
  set(50);
  for (let round = 0; round < 3; round++) {
    for (let ms = 100; ms < 200; ms++) deadlines.clear(set(ms));
    set(10 + round);
    deadlines.clear(set(20));
  }
  set(20);
  set(150);
  await clock.advance(15);
  expect(due).toEqual([10, 11, 12]);
  await clock.advance(45);
  expect(due).toEqual([10, 11, 12, 20, 50]);
  await clock.advance(200);
  expect(due).toEqual([10, 11, 12, 20, 50, 150]);
});
