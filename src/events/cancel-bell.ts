import type { Cause } from '../domain/task/cause.ts';

/** Is told of a cancel, so that a handler of this process need not wait for a heartbeat. */
type Listener = (taskId: string, cause: Cause) => void;

/** Tells the workers of one process that use one backend of cancels that were asked for here. */
export class CancelBell {
  readonly #listeners = new Set<Listener>();

  /** The bell of all clients in this process that were given the same backend. */
  static of(backend: object): CancelBell {
    const known = BELLS.get(backend);
    if (known !== undefined) return known;
    const bell = new CancelBell();
    BELLS.set(backend, bell);
    return bell;
  }

  /** Tells this one too, until the function that it gives is called. */
  hear(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  ring(taskId: string, cause: Cause): void {
    for (const tell of this.#listeners) tell(taskId, cause);
  }
}

const BELLS = new WeakMap<object, CancelBell>();
