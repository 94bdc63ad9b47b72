import type { SharedBackend } from '../../backends/shared-backend.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { tickLogged } from '../../logging/dead-letter-lines.ts';

/** Most steps of maintenance before a look; each ends up to `expireStep` tasks. */
const MOST_STEPS = 100;

/**
 * The backend, after what has fallen due was done: without a worker that lives, tasks whose time is over would count
 * as those that still come. Where that cannot be done, as when the disk is full, what is stored is shown.
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
