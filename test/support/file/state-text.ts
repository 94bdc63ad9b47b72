/** What a store has, as text: the same for two that do the same from then on. */
import {
  type KnownClass,
  knownClasses,
  nameOf,
} from '../../../src/backends/file/state/known-classes.ts';
import { MomentIndex } from '../../../src/backends/memory/store/moment-index.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';

/** Timers, whom to wake, the moment of the call in hand, and where an item stands among those of its moment. */
const LEFT_KEYS: ReadonlySet<string> = new Set(['timer', 'wake', 'now', 'place']);

/**
 * Unlike in a snapshot, plain data that is the same twice is written twice: whether two places share it depends on
 * when the state was read. Items of one moment stand in their order: whether they are sorted yet depends on who looked.
 */
export function stateText(store: Store): string {
  return new Writer(store).text;
}

class Writer {
  readonly text: string;
  readonly #known: ReadonlyMap<unknown, KnownClass>;
  readonly #parts: string[] = [];
  /** Instances of classes, in the order in which they are met. */
  readonly #numbers = new Map<unknown, number>();

  constructor(store: Store) {
    const classes = knownClasses(store.clock);
    this.#known = new Map(classes.map((known) => [known.prototype, known]));
    this.#value(store);
    this.text = this.#parts.join('');
  }

  #value(value: unknown): void {
    const parts = this.#parts;
    if (typeof value !== 'object' || value === null) {
      parts.push(
        typeof value === 'string' ? JSON.stringify(value) : (nameOf(value) ?? String(value)),
      );
      return;
    }
    const name = nameOf(value);
    if (name !== undefined) parts.push(name);
    else if (Array.isArray(value) || value instanceof Set) this.#list(value);
    else if (value instanceof MomentIndex) this.#list(value);
    else if (value instanceof Map) this.#list([...value].flat(1));
    else this.#object(value);
  }

  #list(items: Iterable<unknown>): void {
    this.#parts.push('[');
    for (const item of items) {
      this.#value(item);
      this.#parts.push(',');
    }
    this.#parts.push(']');
  }

  #object(value: object): void {
    const known = this.#known.get(Object.getPrototypeOf(value));
    if (known !== undefined) {
      const number = this.#numbers.get(value);
      this.#parts.push(`#${number ?? this.#numbers.size}`);
      if (number !== undefined) return;
      this.#numbers.set(value, this.#numbers.size);
      if (known.text !== undefined) {
        this.#parts.push(known.text.write(value));
        return;
      }
    }
    this.#parts.push('{');
    for (const [key, item] of Object.entries(value)) {
      if (known?.left.includes(key) === true || LEFT_KEYS.has(key)) continue;
      this.#parts.push(key, ':');
      this.#value(key === 'moment' ? Reflect.get(Object(item), 'at') : item);
      this.#parts.push(',');
    }
    this.#parts.push('}');
  }
}
