import type { SharedBackend } from '../../backends/shared-backend.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { tickLogged } from '../../logging/dead-letter-lines.ts';

/** Most steps of maintenance before a read; each ends up to `expireStep` tasks. */
const MOST_STEPS = 100;

/**
 * The backend, after due maintenance: without a live worker, expired tasks would still count as
 * waiting. If maintenance fails, as on a full disk, stored data is shown as it is.
 */
export async function caughtUp(connection: SharedBackend): Promise<Backend> {
  const backend = await connection.open();
  for (let step = 0; step < MOST_STEPS; step++) {
    const more = await tickLogged(backend.tasks, connection.log).then(
      (reply) => reply.more,
      () => false,
    );
    if (!more) break;
  }
  return backend;
}
