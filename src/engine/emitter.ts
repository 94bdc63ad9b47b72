import { apart, atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import { say } from './log-events.ts';

/** Ends a subscription; safe to call twice. */
export type Unsubscribe = () => void;

/** Typed events of one object. A listener that throws is logged and disturbs nobody. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): Unsubscribe {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  }

  /** Whether anybody listens: events of the hot path are not even made when nobody does. */
  has(name: keyof Events): boolean {
    return this.#listeners.size > 0 && this.#listeners.has(name);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    for (const listener of [...listeners]) this.#call(name, listener, event as never);
  }

  #call(name: keyof Events, listener: (event: never) => void, event: never): void {
    try {
      atRoot(() => apart(listener, event));
    } catch (error) {
      const on = String(name);
      say(this.#log, 'listener.threw', `a listener of ${on} threw`, { on, error });
    }
  }
}
