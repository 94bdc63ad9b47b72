import { monotonicMs } from '../../../base/globals.ts';
import type { ScriptArgument } from '../wire/script.ts';
import { type Verb, WHEN_FULL } from '../wire/scripts.ts';
import { isBrokenOff } from './failures.ts';

/** Interval between two full repairs that have not helped, in ms. */
const REPAIR_EVERY_MS = 60_000;

/** Whether a verb writes nothing, and leaves nothing incomplete. */
function onlyReads(verb: Verb): boolean {
  return WHEN_FULL[verb] === 'reads';
}

/** Runs a verb with care. */
export interface Guarded {
  /** Sets aside what cannot be read; `look`: reports it without moving it. */
  guarded(verb: Verb, args: readonly ScriptArgument[], look: boolean): Promise<unknown>;
}

/** Handles calls that a damaged record has aborted. */
export class Repair {
  readonly #session: Guarded;
  readonly #repairAll: () => Promise<unknown>;
  /** The running full repair; answers whether it helped. */
  #running: Promise<boolean> | undefined;
  /** Time of the last one that did not help. */
  #vainAt = Number.NEGATIVE_INFINITY;

  constructor(session: Guarded, repairAll: () => Promise<unknown>) {
    this.#session = session;
    this.#repairAll = repairAll;
  }

  /**
   * Sends the call again with care. A full repair completes what it may have left incomplete, in
   * bounded steps beside other calls: afterwards, or before a third attempt if it is in the way.
   */
  async again(verb: Verb, args: readonly ScriptArgument[], error: unknown): Promise<unknown> {
    if (!isBrokenOff(error)) throw error;
    try {
      const reply = await this.#session.guarded(verb, args, false);
      if (!onlyReads(verb)) void this.#all();
      return reply;
    } catch (second) {
      if (!isBrokenOff(second) || onlyReads(verb) || !(await this.#all())) throw second;
      return await this.#session.guarded(verb, args, false).catch((third: unknown) => {
        this.#vainAt = monotonicMs();
        throw third;
      });
    }
  }

  /** Waits until no repair is running. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** A call that fails again after it is not a matter of damage: the full check is not repeated at once. */
  #all(): Promise<boolean> {
    const waits = monotonicMs() < this.#vainAt + REPAIR_EVERY_MS;
    if (this.#running === undefined && waits) return Promise.resolve(false);
    this.#running ??= this.#once().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #once(): Promise<boolean> {
    try {
      await this.#repairAll();
      return true;
    } catch {
      this.#vainAt = monotonicMs();
      return false;
    }
  }
}
