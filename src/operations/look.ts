/** How long a page of a caller that sees some users only is looked for. */
import { type Clock, elapsedMs } from '../base/time.ts';
import { coreOf, type Fairloom } from '../client/client.ts';
import type { View } from './view.ts';

/** How long one page may look for rows: a bound in time, which counts nothing of others. */
export class Look {
  readonly #clock: Clock;
  readonly #until: number;
  readonly #turns: Map<string, Promise<void>>;
  readonly #scope: string;

  constructor(loom: Fairloom, view: View, until: number) {
    this.#clock = coreOf(loom).clock;
    this.#until = until;
    this.#scope = view.scope;
    this.#turns = TURNS.get(loom) ?? new Map<string, Promise<void>>();
    TURNS.set(loom, this.#turns);
  }

  /** The page ends where it is. */
  get isOver(): boolean {
    return elapsedMs(this.#clock) >= this.#until;
  }

  /** Waits until no other page of the same caller looks further; the answer ends the turn. */
  async turn(): Promise<() => void> {
    const before = this.#turns.get(this.#scope);
    let end = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#turns.set(this.#scope, own);
    await before;
    return () => {
      if (this.#turns.get(this.#scope) === own) this.#turns.delete(this.#scope);
      end();
    };
  }
}

/** Of each client: the last page of each caller that looks further. */
const TURNS = new WeakMap<Fairloom, Map<string, Promise<void>>>();
