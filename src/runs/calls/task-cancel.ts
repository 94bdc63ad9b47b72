/** Cancels a task and the tasks that belong to it. */
import type { CancelReply } from '../../domain/port/backend.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { CancelNotifier } from '../../events/cancel-notifier.ts';
import { openMembers } from '../driven/driven-nodes.ts';
import { isRun } from '../record.ts';
import { cancelRun } from './run-cancel.ts';
import type { ViewParts } from './run-view.ts';

/** Parts of the client that cancels need. */
export interface CancelParts extends ViewParts {
  /** Notifies workers of this process without the delay of a heartbeat. */
  readonly cancels: CancelNotifier;
}

/** Cancels only this task. */
export async function cancelOne(
  { connection, cancels }: CancelParts,
  id: string,
  cause: Cause,
): Promise<CancelReply> {
  const { tasks } = await connection.open();
  const reply = await tasks.cancel(id, cause);
  cancels.notify(id, cause, reply);
  return reply;
}

/** Cancels a task and its parts: the open tasks of a run, or the members of a member. */
export async function cancelWhole(
  parts: CancelParts,
  id: string,
  cause: Cause,
): Promise<CancelReply> {
  const { inspect } = await parts.connection.open();
  const [record] = await inspect.get([id]);
  if (record !== undefined && isRun(record)) {
    return (await cancelRun(parts, (task) => cancelOne(parts, task, cause), id)).run;
  }
  const own = record === undefined ? [] : await openMembers(inspect, record);
  const reply = await cancelOne(parts, id, cause);
  for (const { record: member } of own) await cancelOne(parts, member.id, cause);
  return reply;
}
