/** What the named tests of runs share. */
import type { Backend } from '../../../../src/domain/port/backend.ts';

/** Numbers in [0, 1) that follow from the seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32: 32 bits of state are enough to shuffle by.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same in another order. */
export function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Both ways in which a run can be carried out. */
export const FORMS = ['dispatched', 'driven'] as const;

/** The same backend with some methods of one store replaced. */
export function replaced<Store extends 'tasks' | 'graphs' | 'runs' | 'inspect'>(
  backend: Backend,
  store: Store,
  methods: Partial<Backend[Store]>,
): Backend {
  const inner: Backend[Store] = backend[store];
  const changed = new Proxy(inner, {
    get: (target, name) => {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return new Proxy(backend, {
    get: (target, name) => {
      if (name === store) return changed;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
