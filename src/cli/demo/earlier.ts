import type { Fairloom } from '../../client/client.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { WEIGHTS } from './cast.ts';
import { DEMO_NAMES } from './story.ts';

/** Of one user. */
export interface LeftBehind {
  /** What waits for a turn. */
  readonly queued: number;
  /** All that has not ended. */
  readonly open: number;
  /** Turns that it is ahead of its share. */
  readonly ahead: number;
}

/** More than there are in the cast. */
const USERS = { limit: 100 };

/**
 * By user, what an earlier demo has left in a store that outlives it.
 *
 * @throws {@link CliError} when there are tasks that are none of the demo: it would mix with them.
 */
export async function leftBehind(loom: Fairloom): Promise<ReadonlyMap<string, LeftBehind>> {
  const [{ items: users }, queues] = await Promise.all([
    loom.users.list(USERS),
    loom.queues.list(),
  ]);
  const samples = await Promise.all([
    loom.tasks.list({ state: 'finished', limit: 1 }),
    ...users.map(({ user }) => loom.tasks.list({ state: 'queued', user, limit: 1 })),
  ]);
  const isMixed =
    users.some(({ user }) => !WEIGHTS.has(user)) ||
    samples.some(({ items }) => items.some(({ name }) => !DEMO_NAMES.has(name)));
  if (isMixed || queues.some(({ queue }) => queue !== 'default')) {
    throw new CliError(EXIT.usage, 'there are tasks of others in it', 'name a folder for the demo');
  }
  return new Map(
    users.map(({ user, queued, running, later, ahead }) => [
      user,
      { queued, open: queued + running + later, ahead },
    ]),
  );
}
