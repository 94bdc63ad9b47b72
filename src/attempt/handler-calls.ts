/** The promises that a context returns to its handler: none of them can end the process. */
import { type LinkedSignal, linkAbort } from '../base/abort-watch.ts';
import { nextTick } from '../base/globals.ts';
import { LeaseLostError } from '../domain/errors/errors.ts';

/** The error of a failed call. */
interface CallFailure {
  readonly error: unknown;
}

/**
 * The calls of one handler on its context. A failure that the handler has not handled when it returns
 * fails its attempt; open calls are then abandoned.
 */
export class HandlerCalls {
  readonly #taskId: string;
  /** Calls that are open and not handled. */
  readonly #open = new Set<CallPromise<unknown>>();
  readonly #failures = new Map<CallPromise<unknown>, CallFailure>();
  /** Wrappers by object, for objects with calls of their own. */
  readonly #views = new WeakMap<object, object>();
  /** Objects by wrapper. */
  readonly #targets = new WeakMap<object, object>();
  #linked: LinkedSignal | undefined;
  #ending: AbortController | undefined;
  #isOver = false;

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  hold<T>(promise: Promise<T>): Promise<T> {
    return CallPromise.of(promise, this);
  }

  /** A wrapper that tracks calls of the object, and of objects that its members return. */
  view<T extends object>(of: T): T {
    const known = this.#views.get(of);
    if (known !== undefined) return known as T;
    const view = new Proxy(of, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return this.#given(member);
        const calls = this;
        return function (this: object, ...args: readonly unknown[]): unknown {
          return calls.#given(Reflect.apply(member, calls.#targets.get(this) ?? target, args));
        };
      },
    });
    this.#views.set(of, view);
    this.#targets.set(view, of);
    return view;
  }

  /** Aborts with the attempt, and when the handler has ended. */
  signalOf(attempt: AbortSignal): AbortSignal {
    if (this.#linked === undefined) {
      this.#ending = new AbortController();
      this.#linked = linkAbort(attempt, this.#ending.signal);
      if (this.#isOver) this.#abandon();
    }
    return this.#linked.signal;
  }

  /** Ends the calls; `undefined` when none of them can still fail in this turn. */
  end(): Promise<CallFailure | undefined> | undefined {
    this.#isOver = true;
    if (this.#open.size === 0 && this.#failures.size === 0) {
      this.#abandon();
      return undefined;
    }
    return this.#unseen();
  }

  /** Tracks a promise derived from a call. */
  began(promise: CallPromise<unknown>): void {
    if (!this.#isOver) this.#open.add(promise);
  }

  seen(promise: CallPromise<unknown>): void {
    this.#open.delete(promise);
    this.#failures.delete(promise);
  }

  failed(promise: CallPromise<unknown>, error: unknown): void {
    if (this.#open.delete(promise)) this.#failures.set(promise, { error });
  }

  /** An immediate refusal rejects before the end of this turn. */
  async #unseen(): Promise<CallFailure | undefined> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => nextTick(resolve));
    const [first] = this.#failures.values();
    this.#open.clear();
    this.#abandon();
    return first;
  }

  #abandon(): void {
    this.#ending?.abort(new LeaseLostError(this.#taskId));
    this.#linked?.unlink();
  }

  #given(value: unknown): unknown {
    if (value instanceof Promise) return this.hold(value);
    return typeof value === 'object' && value !== null ? this.view(value) : value;
  }
}

/** A promise whose rejection, and that of promises derived from it, needs no handler. */
class CallPromise<T> extends Promise<T> {
  #calls: HandlerCalls | undefined;

  static of<T>(promise: Promise<T>, calls: HandlerCalls): Promise<T> {
    const own = new CallPromise<T>((resolve, reject) => {
      promise.then(resolve, reject);
    });
    own.#watch(calls);
    return own;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<R = T, E = never>(
    fulfilled?: ((value: T) => R | PromiseLike<R>) | null,
    rejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    this.#calls?.seen(this);
    const next = super.then(fulfilled, rejected);
    if (this.#calls !== undefined && next instanceof CallPromise) next.#watch(this.#calls);
    return next;
  }

  #watch(calls: HandlerCalls): void {
    this.#calls = calls;
    calls.began(this);
    void super.then(
      () => calls.seen(this),
      (error: unknown) => calls.failed(this, error),
    );
  }
}
