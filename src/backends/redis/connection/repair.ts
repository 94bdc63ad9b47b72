import { monotonicMs } from '../../../base/globals.ts';
import type { ScriptArgument } from '../wire/script.ts';
import { type Verb, WHEN_FULL } from '../wire/scripts.ts';
import { isBrokenOff } from './failures.ts';

/** Between two attempts to make all anew that have not helped, in ms. */
const REPAIR_EVERY_MS = 60_000;

/** Whether a verb writes nothing, and leaves nothing half done. */
function onlyReads(verb: Verb): boolean {
  return WHEN_FULL[verb] === 'reads';
}

/** Runs a verb with care. */
export interface Guarded {
  /** Sets aside what cannot be read; `look`: reports it, and leaves it there. */
  guarded(verb: Verb, args: readonly ScriptArgument[], look: boolean): Promise<unknown>;
}

/** What becomes of a call that a damaged record has broken off. */
export class Repair {
  readonly #session: Guarded;
  readonly #repairAll: () => Promise<unknown>;
  /** While all is made anew; whether that helped. */
  #running: Promise<boolean> | undefined;
  /** When it has not helped. */
  #vainAt = Number.NEGATIVE_INFINITY;

  constructor(session: Guarded, repairAll: () => Promise<unknown>) {
    this.#session = session;
    this.#repairAll = repairAll;
  }

  /**
   * It is sent again with care. What it may have left half done is made anew, in bounded steps beside
   * everybody else: afterwards, or before a third attempt when it stands in the way.
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

  /** Waits until nothing is being made anew. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** A call that breaks off again after that is no damage: the full check does not run again and again. */
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
