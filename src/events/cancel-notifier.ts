import type { CancelReply } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';

/**
 * Called on a cancel, so that a handler of this process need not wait for a heartbeat; `holder` is
 * the worker that has the task, if one has.
 */
type Listener = (taskId: string, cause: Cause, holder: string | undefined) => void;

/** Notifies the workers of one process and backend of cancels requested in this process. */
export class CancelNotifier {
  readonly #listeners = new Set<Listener>();

  /** The notifier of all clients in this process with this backend. */
  static of(backend: object): CancelNotifier {
    const known = NOTIFIERS.get(backend);
    if (known !== undefined) return known;
    const notifier = new CancelNotifier();
    NOTIFIERS.set(backend, notifier);
    return notifier;
  }

  /** Adds a listener, until the returned function is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Notifies if the answer to a cancel says that a handler may run, or that none will. */
  notify(taskId: string, cause: Cause, reply: CancelReply): void {
    if (reply.kind !== 'requested' && reply.kind !== 'canceled') return;
    const holder = reply.kind === 'requested' ? reply.worker : undefined;
    for (const listener of this.#listeners) listener(taskId, cause, holder);
  }
}

const NOTIFIERS = new WeakMap<object, CancelNotifier>();
