/** Runs by filters, page by page. */

import type { Fairloom } from '../../client/client.ts';
import type { TaskState } from '../../domain/task/task.ts';
import type { RunInfo } from '../../runs/run-info.ts';
import type { RunForm } from '../../runs/run-options.ts';
import { STATES_BY_INTEREST } from '../../search/search.ts';
import { rowsOf, usersInLine } from './select-tasks.ts';

/** What may be said about the runs that are meant. */
export interface RunFilterOptions {
  readonly state?: TaskState | undefined;
  readonly form?: RunForm | undefined;
  readonly queue?: string | undefined;
  readonly user?: string | undefined;
  /** With inputs. */
  readonly values?: boolean | undefined;
}

/** Runs in the order of their state's index; without a state those of all, living ones first. */
export async function* selectRuns(
  loom: Fairloom,
  { state, form, queue, user, values }: RunFilterOptions,
): AsyncGenerator<RunInfo> {
  for (const one of state === undefined ? STATES_BY_INTEREST : [state]) {
    const filter = { state: one, form, queue, user, values };
    if (one !== 'queued' || user !== undefined) {
      yield* rowsOf((page) => loom.runs.list({ ...filter, ...page }));
    } else if (form !== 'dispatched') yield* queuedRuns(loom, { ...filter, form: 'driven' });
  }
}

/** Queued ones are listed per user, so the users of each queue come first. */
async function* queuedRuns(
  loom: Fairloom,
  filter: RunFilterOptions & { readonly state: TaskState },
): AsyncGenerator<RunInfo> {
  const all = await loom.queues.list();
  const queues = filter.queue === undefined ? all.map(({ queue }) => queue) : [filter.queue];
  for (const queue of queues) {
    for await (const user of usersInLine(loom, queue)) {
      yield* rowsOf((page) => loom.runs.list({ ...filter, ...page, queue, user }));
    }
  }
}
