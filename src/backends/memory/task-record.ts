import { compareUtf8 } from '../../base/utf8-order.ts';
import type { AttemptRecord, TaskRecord } from '../../domain/task.ts';
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
    failures: entry.failures,
    losses: entry.losses,
    releases: entry.releases,
    dependsOn: entry.dependsOn,
    blockedBy: blockedIds(entry),
    cancelRequested: started && entry.cancelReason !== undefined,
    ...present('dueAt', entry.state === 'scheduled' ? entry.dueAt : undefined),
    ...present('expiresAt', entry.expiresAt),
    ...present('token', started ? entry.token : undefined),
    ...present('worker', started ? entry.worker : undefined),
    ...present('leasedAt', started ? entry.leasedAt : undefined),
    ...present('leaseUntil', started ? entry.leaseUntil : undefined),
    ...present('endedAt', entry.endedAt),
    ...present('failureType', entry.failureType),
    ...present('reason', entry.reason),
    ...present('error', entry.error),
    ...present('result', entry.result),
    ...present('idempotencyKey', entry.key?.key),
  };
}

/** Every attempt that is kept; the only one of a task that went well at once is told from its record. */
export function attemptsOf(entry: TaskEntry): readonly AttemptRecord[] {
  if (entry.attempts !== undefined) return [...entry.attempts];
  if (entry.state !== 'finished') return [];
  return [
    {
      attempt: 1,
      worker: entry.worker ?? '',
      leasedAt: entry.leasedAt ?? 0,
      endedAt: entry.endedAt ?? 0,
      outcome: 'succeeded',
      decision: 'finish',
    },
  ];
}

/** Whom an entry still waits for, in the one order that does not depend on history. */
export function blockedIds(entry: TaskEntry): string[] {
  return [...(entry.blocked ?? [])].sort(compareUtf8);
}

function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
