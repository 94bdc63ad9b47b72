import { messageOf } from '../base/message-of.ts';
import { sleep } from '../base/pause.ts';
import type { Core } from '../core/core.ts';
import type { Backend, Capabilities, Pong } from '../domain/port/backend.ts';
import type { Worker } from '../worker/worker.ts';

/** Whether the backend and the workers of this process are well. */
export interface Health {
  /** The backend answered, and every worker here is well. */
  readonly isHealthy: boolean;
  /** Round trip to the backend in ms; absent when it did not answer. */
  readonly pingMs?: number;
  /** Why it did not. */
  readonly error?: string;
  /** What goes wrong in the backend though it answers, a line each; absent: none. Calls may still be sent here. */
  readonly problems?: readonly string[];
  /** Where tasks live, and what that is worth. */
  readonly backend: BackendFacts;
  /** Workers of this process. */
  readonly workers: readonly {
    /** Of the worker. */
    readonly id: string;
    /** It renews its leases in time. */
    readonly isHealthy: boolean;
  }[];
}

/** What a backend is called, and what it can do. */
export interface BackendFacts extends Capabilities {
  /** `memory`, `file`, `redis`. */
  readonly name: string;
}

/** How long to wait for the backend, in ms: a probe wants an answer. */
const PING_MS = 2_000;

/** Never rejects: that the backend is away is an answer too. */
export async function healthOf(core: Core, members: Iterable<Worker>): Promise<Health> {
  const workers = [...members].map(({ id, isHealthy }) => ({ id, isHealthy }));
  // After the ping: what a backend can do may show only when it is open.
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

/** What a backend says of itself without being asked. */
export function backendFacts({ name, capabilities }: Backend): BackendFacts {
  const { durable, shared, sync } = capabilities;
  return { name, durable, shared, ...(sync === undefined ? {} : { sync }) };
}

async function ping({ connection }: Core): Promise<Pong> {
  return (await connection.open()).inspect.ping();
}
