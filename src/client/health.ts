import { messageOf } from '../base/message-of.ts';
import { sleep } from '../base/pause.ts';
import type { Core } from '../core/core.ts';
import type { Backend, Capabilities, Pong } from '../domain/port/backend.ts';
import type { Worker } from '../worker/worker.ts';

/** Health of the backend and of the workers of this process. */
export interface Health {
  /** The backend answered, and every worker here is healthy. */
  readonly isHealthy: boolean;
  /** Round trip to the backend in ms; absent when it did not answer. */
  readonly pingMs?: number;
  /** Error of the ping; absent when it answered. */
  readonly error?: string;
  /** Problems of a backend that answers, one line each; absent: none. Calls still succeed. */
  readonly problems?: readonly string[];
  /** Name and capabilities of the backend. */
  readonly backend: BackendFacts;
  /** Workers of this process. */
  readonly workers: readonly {
    /** Id of the worker. */
    readonly id: string;
    /** It renews its leases in time. */
    readonly isHealthy: boolean;
  }[];
}

/** Name and capabilities of a backend. */
export interface BackendFacts extends Capabilities {
  /** `memory`, `file`, `redis`. */
  readonly name: string;
}

/** Timeout of the ping, in ms: a probe needs an answer. */
const PING_MS = 2_000;

/** Never rejects: an unavailable backend is a result too. */
export async function healthOf(core: Core, members: Iterable<Worker>): Promise<Health> {
  const workers = [...members].map(({ id, isHealthy }) => ({ id, isHealthy }));
  // Read after the ping: capabilities may be known only once it is open.
  const around = (): Pick<Health, 'backend' | 'workers'> => ({
    backend: backendFacts(core.connection.backend),
    workers,
  });
  const isWell = workers.every(({ isHealthy }) => isHealthy);
  const stop = new AbortController();
  try {
    const silence = sleep(core.clock, PING_MS, stop.signal);
    const pong = await Promise.race([ping(core), silence]);
    if (pong !== undefined) {
      const { ms: pingMs, problems } = pong;
      return { isHealthy: isWell, pingMs, ...(problems && { problems }), ...around() };
    }
    return { isHealthy: false, error: `no answer within ${PING_MS} ms`, ...around() };
  } catch (error) {
    return { isHealthy: false, error: messageOf(error), ...around() };
  } finally {
    stop.abort();
  }
}

/** Name and capabilities of a backend, without a call. */
export function backendFacts({ name, capabilities }: Backend): BackendFacts {
  const { durable, shared, sync } = capabilities;
  return { name, durable, shared, ...(sync === undefined ? {} : { sync }) };
}

async function ping({ connection }: Core): Promise<Pong> {
  return (await connection.open()).inspect.ping();
}
