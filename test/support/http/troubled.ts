/** A backend that answers, and says what goes wrong in it: `problems` as they are then. */
import type { Backend } from '../../../src/domain/port/backend.ts';

export function troubled(backend: Backend, problems: readonly string[]): Backend {
  const inspect = new Proxy(backend.inspect, {
    get: (of, key) => {
      if (key === 'ping')
        return async () =>
          problems.length === 0 ? of.ping() : { ...(await of.ping()), problems: [...problems] };
      const value: unknown = Reflect.get(of, key);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  return new Proxy(backend, {
    get: (of, key) => {
      if (key === 'inspect') return inspect;
      const value: unknown = Reflect.get(of, key);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
