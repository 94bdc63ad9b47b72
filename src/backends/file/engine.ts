import type { Clock, Timer } from '../../base/time.ts';
import type { Retention } from '../../domain/settings/settings.ts';
import { remove } from '../memory/admin.ts';
import { closeStore, partsOn, stepOf } from '../memory/parts.ts';
import { readAgain, readOver } from '../memory/step-end.ts';
import { Store } from '../memory/store/store.ts';
import { argsOf, type CallName, type Carry, carrierOf, plainArgs } from './calls.ts';

/**
 * Which decisions the engine makes: to be raised with every change after which the same calls could have other
 * answers. A log is replayed by the law that it was written under, and by no other.
 */
export const LAW = 1;

/**
 * What is written down: a call that may change what is stored, or one of three things that are no calls of the
 * port: how long ended tasks are kept, one step of a removal, and that those who waited have read what ended.
 */
export type StepName = CallName | 'retention' | 'remove' | 'readOver';

/**
 * The memory backend as a machine that is fed with steps and their moments. It makes the same decisions of the
 * same steps, so what was written of them is what it knows.
 */
export class Engine {
  readonly store: Store;
  readonly #clock: EngineClock;
  readonly #carry: Carry;

  /** `clock` is the one of the store, where it is given. */
  constructor(clock: EngineClock, store: Store = new Store(clock, clock.onReadOver)) {
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

  /** A step that was written down. Nobody waits for its answer. */
  replay(line: string): void {
    const [moment, name, ...args] = JSON.parse(line);
    // What it refused then it refuses now.
    this.step(moment, name, argsOf(name, args)).catch(() => undefined);
  }

  /** From now on time goes by itself, and `readOver` is called when its step is to be taken. */
  begin(onReadOver: () => void): void {
    this.#clock.begin(onReadOver);
    readAgain(this.store);
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
      case 'readOver':
        readOver(store);
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

/** A line of the log; see `docs/file-format.md`. */
export function lineOf(moment: number, name: StepName, args: readonly unknown[]): string {
  return `${JSON.stringify([moment, name, ...plainArgs(name, args)])}\n`;
}

/** Stands still at the moment of a step, and has no timers until time goes by itself. */
export class EngineClock implements Clock {
  /** The moment of the step in hand. */
  pinned: number | undefined = undefined;
  readonly onReadOver = (): void => this.#onReadOver();
  readonly #clock: Clock;
  #isRunning = false;
  #onReadOver: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.pinned ?? this.#clock.now();
  }

  setTimer(ms: number, fire: () => void): Timer {
    return this.#isRunning ? this.#clock.setTimer(ms, fire) : NO_TIMER;
  }

  begin(onReadOver: () => void): void {
    this.#onReadOver = onReadOver;
    this.#isRunning = true;
  }
}

const NO_TIMER: Timer = { cancel: () => undefined };
