import { compareUtf8 } from '../../../base/utf8-order.ts';
import type { AttemptRecord, TaskRecord, TaskStatus } from '../../../domain/task/task.ts';
import type { TaskEntry } from './entities.ts';

/** An entry as a record of the port. */
export function toRecord(entry: TaskEntry): TaskRecord {
  const started = entry.state === 'started';
  return {
    id: entry.id,
    name: entry.name,
    queue: entry.owner.queue.queue,
    user: entry.owner.user,
    level: entry.level,
    cost: entry.cost,
    payload: entry.payload,
    options: entry.options,
    state: entry.state,
    createdAt: entry.createdAt,
    failures: entry.optional.failures,
    losses: entry.optional.losses,
    releases: entry.optional.releases,
    dependsOn: entry.dependsOn,
    blockedBy: blockedIds(entry),
    cancelRequested: started && entry.optional.cancelCause !== undefined,
    ...present('dueAt', entry.state === 'scheduled' ? entry.dueAt : undefined),
    ...present('expiresAt', entry.optional.expiresAt),
    ...present('token', entry.token),
    ...present('worker', started ? entry.grant?.worker : undefined),
    ...present('leasedAt', started ? entry.grant?.leasedAt : undefined),
    ...present('leaseUntil', entry.leaseUntil),
    ...present('endedAt', entry.endedAt),
    ...present('cause', entry.optional.cause),
    ...present('error', entry.optional.error),
    ...present('result', entry.result),
    ...present('idempotencyKey', entry.optional.key?.key),
    ...present('paused', entry.optional.run?.pause),
  };
}

/** The part of the record for `Inspect.status`. */
export function toStatus({ state, optional, result }: TaskEntry): TaskStatus {
  return {
    state,
    ...present('cause', optional.cause),
    ...present('error', optional.error),
    ...present('result', result),
  };
}

/** Every kept attempt; that of a task that finished at the first is derived from its record. */
export function attemptsOf(entry: TaskEntry): readonly AttemptRecord[] {
  if (entry.optional.attempts !== undefined) return [...entry.optional.attempts];
  // A join ends without an attempt.
  if (entry.state !== 'finished' || entry.grant === undefined) return [];
  return [
    {
      attempt: 1,
      worker: entry.grant.worker,
      leasedAt: entry.grant.leasedAt,
      endedAt: entry.endedAt ?? 0,
      outcome: 'succeeded',
      decision: 'finish',
    },
  ];
}

/** Ids that an entry still waits for, in an order that does not depend on history. */
export function blockedIds(entry: TaskEntry): string[] {
  return [...(entry.optional.blocked ?? [])].sort(compareUtf8);
}

function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
