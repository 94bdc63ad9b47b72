import type { Fairloom } from '../../client/client.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { WEIGHTS } from './cast.ts';

/** Of one user: what waits for a turn, and all that has not ended. */
export interface LeftBehind {
  readonly queued: number;
  readonly open: number;
}

/** More than there are in the cast. */
const USERS = { limit: 100 };

/**
 * By user, what an earlier demo has left in a store that outlives it.
 *
 * @throws {@link CliError} when there are tasks that are none of the demo: it would mix with them.
 */
export async function leftBehind(loom: Fairloom): Promise<ReadonlyMap<string, LeftBehind>> {
  const [users, ended, queues] = await Promise.all([
    loom.users.list(USERS),
    loom.tasks.list({ state: 'finished', limit: 1 }),
    loom.queues.list(),
  ]);
  const strangers = [...users.items, ...ended.items].some(({ user }) => !WEIGHTS.has(user));
  if (strangers || queues.some(({ queue }) => queue !== 'default')) {
    throw new CliError(EXIT.usage, 'there are tasks of others in it', 'name a folder for the demo');
  }
  return new Map(
    users.items.map(({ user, queued, running, later }) => [
      user,
      { queued, open: queued + running + later },
    ]),
  );
}
