import { elapsedMs, type Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Line } from './line.ts';
import { reportBlocked } from './report.ts';
import type { Slots } from './slots.ts';

/** Period of the health check, in ms. */
const PERIOD_MS = 500;

/** A timer that is late by this much, in ms, shows that code blocked the event loop. */
const LATE_MS = 1_000;

/** Longest time between two answers of a healthy backend: an idle worker's longest wait. */
const LONGEST_WAIT_MS = LIMITS.floorMs * 1.2;

/** After twice that silence, in ms, the worker is unhealthy, even if its sockets are open. */
const UNHEALTHY_MS = 2 * LONGEST_WAIT_MS;

/** Detects a blocked event loop and a stalled fetch loop. */
export class WorkerHealth {
  readonly #line: Line;
  readonly #slots: Slots;
  #timer: Timer | undefined;
  /** When the timer is due. */
  #dueAt = 0;
  #silentSince: number | undefined;

  constructor(line: Line, slots: Slots) {
    this.#line = line;
    this.#slots = slots;
  }

  get isHealthy(): boolean {
    return this.#silentSince === undefined;
  }

  start(): void {
    this.#dueAt = elapsedMs(this.#line.clock) + PERIOD_MS;
    this.#timer = this.#line.clock.setTimer(PERIOD_MS, this.#beat);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  readonly #beat = (): void => {
    const { clock, core, events } = this.#line;
    const lateMs = elapsedMs(clock) - this.#dueAt;
    this.start();
    if (lateMs >= LATE_MS) {
      reportBlocked(core.log, events, { ms: lateMs, taskIds: this.#slots.runningIds() });
    }
    this.#look();
  };

  #look(): void {
    const { clock, lastAnswerAt, events } = this.#line;
    const silentMs = elapsedMs(clock) - lastAnswerAt;
    if (silentMs > UNHEALTHY_MS) {
      if (this.#silentSince === undefined) {
        this.#silentSince = lastAnswerAt;
        events.emit('worker.unhealthy', { silentMs });
      }
    } else if (this.#silentSince !== undefined) {
      const since = this.#silentSince;
      this.#silentSince = undefined;
      events.emit('worker.healthy', { silentMs: lastAnswerAt - since });
    }
  }
}
