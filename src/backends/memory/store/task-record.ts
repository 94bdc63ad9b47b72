import { compareUtf8 } from '../../../base/utf8-order.ts';
import type { AttemptRecord, TaskRecord, TaskStanding } from '../../../domain/task/task.ts';
import type { TaskEntry } from './entities.ts';

/** What callers see of an entry. */
export function toRecord(entry: TaskEntry): TaskRecord {
  const started = entry.state === 'started';
  return {
    id: entry.id,
    name: entry.name,
    queue: entry.owner.lane.queue,
    user: entry.owner.user,
    level: entry.level,
    cost: entry.cost,
    payload: entry.payload,
    options: entry.options,
    state: entry.state,
    createdAt: entry.createdAt,
    failures: entry.rare.failures,
    losses: entry.rare.losses,
    releases: entry.rare.releases,
    dependsOn: entry.dependsOn,
    blockedBy: blockedIds(entry),
    cancelRequested: started && entry.rare.cancelCause !== undefined,
    ...present('dueAt', entry.state === 'scheduled' ? entry.dueAt : undefined),
    ...present('expiresAt', entry.rare.expiresAt),
    ...present('token', entry.token),
    ...present('worker', started ? entry.grant?.worker : undefined),
    ...present('leasedAt', started ? entry.grant?.leasedAt : undefined),
    ...present('leaseUntil', entry.leaseUntil),
    ...present('endedAt', entry.endedAt),
    ...present('cause', entry.rare.cause),
    ...present('error', entry.rare.error),
    ...present('result', entry.result),
    ...present('idempotencyKey', entry.rare.key?.key),
  };
}

/** The part of the record that is asked for many at once. */
export function toStanding({ state, rare, result }: TaskEntry): TaskStanding {
  return {
    state,
    ...present('cause', rare.cause),
    ...present('error', rare.error),
    ...present('result', result),
  };
}

/** Every attempt that is kept; the only one of a task that went well at once is told from its record. */
export function attemptsOf(entry: TaskEntry): readonly AttemptRecord[] {
  if (entry.rare.attempts !== undefined) return [...entry.rare.attempts];
  // A join has ended without one.
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

/** Whom an entry still waits for, in the one order that does not depend on history. */
export function blockedIds(entry: TaskEntry): string[] {
  return [...(entry.rare.blocked ?? [])].sort(compareUtf8);
}

function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
