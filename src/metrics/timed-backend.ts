import { monotonicMs } from '../base/globals.ts';
import type { Backend } from '../domain/port/backend.ts';

/** Called with the name of a call, as `tasks.lease`, its duration in seconds, and whether it failed. */
export type OnCall = (operation: string, seconds: number, failed: boolean) => void;

/** Calls that wait by design: their duration is no figure. */
const WAITING = new Set(['workers.waitForWork', 'inspect.waitForEnd', 'streams.waitForChunks']);

/** Wraps a backend and reports the duration of each call. */
export function timedBackend(backend: Backend, onCall: OnCall): Backend {
  return {
    tasks: timedPart('tasks', backend.tasks, onCall),
    users: timedPart('users', backend.users, onCall),
    queues: timedPart('queues', backend.queues, onCall),
    workers: timedPart('workers', backend.workers, onCall),
    inspect: timedPart('inspect', backend.inspect, onCall),
    runs: timedPart('runs', backend.runs, onCall),
    graphs: timedPart('graphs', backend.graphs, onCall),
    schedules: timedPart('schedules', backend.schedules, onCall),
    xcom: timedPart('xcom', backend.xcom, onCall),
    waits: timedPart('waits', backend.waits, onCall),
    streams: timedPart('streams', backend.streams, onCall),
    asks: timedPart('asks', backend.asks, onCall),
    series: timedPart('series', backend.series, onCall),
    name: backend.name,
    get capabilities() {
      return backend.capabilities;
    },
    open: (settings) => backend.open(settings),
    close: () => backend.close(),
  };
}

function timedPart<T extends object>(part: string, target: T, onCall: OnCall): T {
  return new Proxy(target, {
    get(of, key) {
      const value: unknown = Reflect.get(of, key, of);
      if (typeof value !== 'function') return value;
      const operation = `${part}.${String(key)}`;
      if (WAITING.has(operation)) return value.bind(of);
      return (...args: readonly unknown[]) => {
        const began = monotonicMs();
        const record = (failed: boolean): void =>
          onCall(operation, (monotonicMs() - began) / 1_000, failed);
        const answer: unknown = Reflect.apply(value, of, args);
        if (answer instanceof Promise) {
          answer.then(
            () => record(false),
            () => record(true),
          );
        }
        return answer;
      };
    },
  });
}
