import type { Clock, Timer } from '../../../base/time.ts';
import type { Retention } from '../../../domain/fairness/settings.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { remove } from '../../memory/admin.ts';
import { closeStore, partsOn, stepOf } from '../../memory/parts.ts';
import { Store } from '../../memory/store/store.ts';
import { argsOf, type CallName, type Carry, carrierOf, jsonArgs } from '../log/calls.ts';

/**
 * What is written down: a call that may change what is stored, or one of two things that are no calls of the port: how
 * long ended tasks are kept, and one step of a removal.
 */
export type StepName = CallName | 'retention' | 'remove';

/**
 * The memory backend as a machine that is fed with steps and their moments. It makes the same decisions of the
 * same steps, so what was written of them is what it knows.
 */
export class Engine {
  readonly store: Store;
  readonly #clock: EngineClock;
  readonly #carry: Carry;

  /** `clock` is the one of the store, where it is given. */
  constructor(clock: EngineClock, store: Store = newStore(clock)) {
    this.store = store;
    this.#clock = clock;
    this.#carry = carrierOf(partsOn(store));
  }

  /** Whole milliseconds, as a store reads the clock: what is written is what it has seen. */
  now(): number {
    return Math.floor(this.#clock.now());
  }

  /** A step at a moment. It has happened when this returns; the promise is for its answer. */
  step(moment: number, name: StepName, args: readonly unknown[]): Promise<unknown> {
    this.#clock.pinned = moment;
    try {
      return this.#carryOut(name, args);
    } finally {
      this.#clock.pinned = undefined;
    }
  }

  /** What changes nothing, or waits. */
  look(name: CallName, args: readonly unknown[]): Promise<unknown> {
    return this.#carry(name, args);
  }

  /** A step from the log. Its answer is not awaited. */
  replay(line: string): void {
    const [moment, name, ...args] = JSON.parse(line);
    // What it refused then it refuses now.
    this.step(moment, name, argsOf(name, args)).catch(() => undefined);
  }

  /** From now on time goes by itself. */
  begin(): void {
    this.#clock.isRunning = true;
  }

  /** Ends timers and waits. */
  close(): void {
    closeStore(this.store);
  }

  #carryOut(name: StepName, args: readonly unknown[]): Promise<unknown> {
    const { store } = this;
    switch (name) {
      case 'retention':
        store.retention = args[0] as Retention;
        return Promise.resolve();
      case 'remove': {
        const [id, endedBy] = args as [string, number | undefined];
        return stepOf(store)(() => remove(store, id, endedBy));
      }
      default:
        return this.#carry(name, args);
    }
  }
}

/** Nothing is stored. A process that asks the owner may send an end again, so none goes before that can arrive. */
export function newStore(clock: Clock): Store {
  return new Store(clock, LIMITS.resendMs);
}

/** A line of the log, without its end; see `docs/file-format.md`. */
export function lineOf(moment: number, name: StepName, args: readonly unknown[]): string {
  return JSON.stringify([moment, name, ...jsonArgs(name, args)]);
}

/** Stands still at the moment of a step, and has no timers until time goes by itself. */
export class EngineClock implements Clock {
  /** The moment of the step in hand. */
  pinned: number | undefined = undefined;
  /** Timers run. */
  isRunning = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.pinned ?? this.#clock.now();
  }

  setTimer(ms: number, fire: () => void): Timer {
    return this.isRunning ? this.#clock.setTimer(ms, fire) : NO_TIMER;
  }
}

const NO_TIMER: Timer = { cancel: () => undefined };
