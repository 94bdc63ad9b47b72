/** Names without code: a command line knows what live workers say they stand for. */

import type { Fairloom } from '../../client/client.ts';
import type { WorkerInfo } from '../../domain/port/backend.ts';
import { CliError, EXIT, exitCodeOf } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';

/**
 * Refuses a name that live workers know as that of a pipeline alone: stored as a task, it would never
 * run. A name that no live worker knows is taken with a note: a worker that does may come later.
 *
 * @throws {@link CliError}
 */
export async function demandTaskName(loom: Fairloom, name: string, output: Output): Promise<void> {
  const workers = await liveWorkers(loom);
  if (workers.length > 0 && !workers.some((worker) => knowsOf(worker).includes(name))) {
    output.note(`no live worker knows ${name}: it waits for one that does`);
  }
  const knows = workers.filter(({ pipelines }) => pipelines?.includes(name));
  const runs = workers.some(
    ({ names, pipelines }) => names.includes(name) && pipelines?.includes(name) !== true,
  );
  if (knows.length === 0 || runs) return;
  const by = `on worker ${knows[0]?.id}`;
  throw new CliError(
    EXIT.usage,
    `${name} is a pipeline ${by}, and only its module can say what its tasks are`,
    'name the module that exports it with --module',
  );
}

/** None where the store cannot be reached: what is wrong with the call itself is to be said first. */
async function liveWorkers(loom: Fairloom): Promise<readonly WorkerInfo[]> {
  try {
    return await loom.workers.list();
  } catch (error) {
    if (exitCodeOf(error) === EXIT.unreachable) return [];
    throw error;
  }
}

function knowsOf({ names, pipelines = [] }: WorkerInfo): readonly string[] {
  return [...names, ...pipelines];
}
