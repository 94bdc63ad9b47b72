import { atRoot, callUserCode } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { type OptionKeys, unknownWord } from '../domain/errors/options.ts';
import { say } from '../logging/log-events.ts';

/** Removes a listener; may be called twice. */
export type Unsubscribe = () => void;

/**
 * Typed events of one object. An error or a rejection of a listener is logged and affects no other listener.
 */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => unknown>>();
  readonly #log: Logger;
  readonly #names: OptionKeys<Events>;

  constructor(log: Logger, names: OptionKeys<Events>) {
    this.#log = log;
    this.#names = names;
  }

  /** @throws {@link InvalidOptionError} for an unknown event, or an invalid listener. */
  on<Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => unknown,
  ): Unsubscribe {
    // `hasOwn` would accept a list with one name as that name.
    if (typeof name !== 'string' || !Object.hasOwn(this.#names, name)) {
      throw unknownWord('event', name, this.#names);
    }
    if (typeof listener !== 'function') {
      throw new InvalidOptionError('listener', 'a function', listener);
    }
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  }

  /** Whether an event has listeners: events of the hot path are only created for listeners. */
  has(name: keyof Events): boolean {
    return this.#listeners.size > 0 && this.#listeners.has(name);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    for (const listener of [...listeners]) this.#call(name, listener, event as never);
  }

  #call(name: keyof Events, listener: (event: never) => unknown, event: never): void {
    try {
      const answer = atRoot(() => callUserCode(listener, event));
      if (isThenable(answer)) answer.then(undefined, (error: unknown) => this.#threw(name, error));
    } catch (error) {
      this.#threw(name, error);
    }
  }

  #threw(name: keyof Events, error: unknown): void {
    const on = String(name);
    say(this.#log, 'listener.threw', `a listener of ${on} threw`, { on, error });
  }
}

/** Async listeners are not awaited: their rejections are caught and logged. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && isFunction(value.then);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
