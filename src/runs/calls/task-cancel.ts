/** Cancels a task with what belongs to it. */
import type { CancelReply } from '../../domain/port/backend.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { CancelNotifier } from '../../events/cancel-notifier.ts';
import { openMembers } from '../driven/driven-nodes.ts';
import { isRun } from '../record.ts';
import { cancelRun } from './run-cancel.ts';
import type { ViewParts } from './run-view.ts';

/** What cancels need of their client. */
export interface CancelParts extends ViewParts {
  /** Workers of this process need not wait for a heartbeat. */
  readonly cancels: CancelNotifier;
}

/** Cancels this task and no other. */
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

/** The same with what it waits for as its own: of a run all that has not ended, of a member its members. */
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
