import type { CancelReply } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';

/**
 * Is told of a cancel, so that a handler of this process need not wait for a heartbeat; and of the worker that has the
 * task, if one has.
 */
type Listener = (taskId: string, cause: Cause, holder: string | undefined) => void;

/** Tells the workers of one process that use one backend of cancels that were asked for here. */
export class CancelNotifier {
  readonly #listeners = new Set<Listener>();

  /** The notifier of all clients in this process that were given the same backend. */
  static of(backend: object): CancelNotifier {
    const known = NOTIFIERS.get(backend);
    if (known !== undefined) return known;
    const notifier = new CancelNotifier();
    NOTIFIERS.set(backend, notifier);
    return notifier;
  }

  /** Tells this one too, until the function that it gives is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Where the answer to a cancel says that a handler may run, or that none will. */
  notify(taskId: string, cause: Cause, reply: CancelReply): void {
    if (reply.kind !== 'requested' && reply.kind !== 'canceled') return;
    const holder = reply.kind === 'requested' ? reply.worker : undefined;
    for (const listener of this.#listeners) listener(taskId, cause, holder);
  }
}

const NOTIFIERS = new WeakMap<object, CancelNotifier>();
