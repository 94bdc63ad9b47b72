/**
 * The invariants, checked on what a backend says alone, without the oracle's rules:
 * I1 conservation · I2 one place · I3 running is what is started · I4 only the newest token ends a
 * lease · I5 an end is final · I6 failures are what was settled so · I7 nothing starts before its
 * dependencies · I10 nothing starts before it is due · I12 one live task per key.
 */
import { ok } from 'node:assert/strict';
import type {
  FireOutcome,
  LeaseReply,
  SettleAnswer,
  SettleRequest,
} from '../../src/domain/port/backend.ts';
import {
  type EdgePolicies,
  isEnd,
  type NewTask,
  TASK_STATES,
  type TaskRecord,
  type TaskState,
} from '../../src/domain/task/task.ts';
import type { Call } from './calls.ts';
import { mustBeSame } from './same.ts';
import type { State } from './state.ts';

/** Policies under which one task at a time holds a key. */
const EXCLUSIVE: ReadonlySet<string> = new Set(['return', 'reject', 'replace-queued']);

/** What a task of a schedule does about those of earlier slots: it waits, however they end. */
const BEHIND: EdgePolicies = {
  onFailure: 'run',
  onCancel: 'run',
  onMissing: 'satisfied',
  allowCrossUser: true,
};

export class Ledger {
  /** Accepted and not removed by hand or by age; what it was given as. */
  readonly #specs = new Map<string, NewTask>();
  readonly #tokens = new Map<string, string>();
  readonly #failures = new Map<string, number>();
  readonly #redriven = new Set<string>();
  #redrives = 0;
  /** Redriven by the step in hand. */
  #revived = new Set<string>();
  #removed = new Set<string>();
  #records = new Map<string, TaskRecord>();

  leased({ leases, now }: LeaseReply): void {
    for (const { id, token, upstreams } of leases) {
      const before = this.#tokens.get(id);
      ok(
        before === undefined || before === token || numberOf(before) < numberOf(token),
        `I4 ${id}`,
      );
      this.#tokens.set(id, token);
      const spec = this.#specs.get(id);
      ok(spec !== undefined, `leased, but never accepted: ${id}`);
      const record = this.#records.get(id);
      ok(spec.join === undefined, `leased, though it is a join: ${id}`);
      const run = spec.owner === undefined ? undefined : this.#records.get(spec.owner);
      const isAbandoned = spec.owner !== undefined && (run === undefined || isEnd(run.state));
      ok(before === token || !isAbandoned, `leased, though its run has ended: ${id}`);
      ok(record?.dueAt === undefined || record.dueAt <= now, `I10 ${id} before its time`);
      for (const { id: upstream, state } of upstreams) {
        const { onFailure, onCancel, onMissing } = spec.edges;
        const satisfied =
          state === 'finished' ||
          (state === 'failed' && onFailure === 'run') ||
          (state === 'canceled' && onCancel === 'run') ||
          // It was missing, and may have come since.
          onMissing === 'satisfied' ||
          spec.idempotency?.policy === 'run-once-more' ||
          // It let this one go when it failed, and runs again since.
          this.#redriven.has(upstream);
        ok(satisfied, `I7 ${id} started while ${upstream} is ${state}`);
      }
    }
  }

  /** Learns from a call and its answer. */
  answered(call: Call, answer: unknown): void {
    this.#revived = new Set();
    this.#removed = new Set();
    if (call.type === 'enqueue') {
      this.#accepted(call.tasks, answer as readonly { readonly kind: string }[]);
    }
    if (call.type === 'fire') {
      const { outcomes = [] } = answer as { readonly outcomes?: readonly FireOutcome[] };
      this.#accepted(
        call.request.firings.map(({ task }) => ({ ...task, edges: BEHIND })),
        outcomes,
      );
    }
    if (call.type === 'settle') {
      this.#settled(
        call.request,
        (answer as { readonly answers: readonly SettleAnswer[] }).answers,
      );
    }
    if (call.type === 'redrive' && (answer as { readonly kind: string }).kind === 'ok') {
      this.#revived.add(call.id);
      this.#redrives += 1;
      this.#redriven.add(call.id);
      this.#failures.delete(call.id);
    }
    if (call.type === 'remove') this.#removed.add(call.id);
  }

  /** Learns of tasks that another call than an enqueue has stored. */
  stored(tasks: readonly NewTask[]): void {
    const created = { kind: 'created' };
    this.#accepted(
      tasks,
      tasks.map(() => created),
    );
  }

  #accepted(tasks: readonly NewTask[], replies: readonly { readonly kind: string }[]): void {
    tasks.forEach((task, at) => {
      if (replies[at]?.kind !== 'created') return;
      this.#specs.set(task.id, task);
      this.#failures.delete(task.id);
      this.#tokens.delete(task.id);
      this.#redriven.delete(task.id);
    });
  }

  #settled({ settlements }: SettleRequest, answers: readonly SettleAnswer[]): void {
    settlements.forEach(({ id, token, decision }, at) => {
      const answer = answers[at];
      if (answer?.kind !== 'ok' || answer.repeated) return;
      mustBe(token, this.#tokens.get(id), `I4 ${id} was ended by an old token`);
      const failed = decision.type === 'retry' || decision.type === 'dead-letter';
      if (failed && answer.state !== 'canceled') {
        this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1);
      }
    });
  }

  /** What was seen after the step becomes what the next step starts from. */
  seen({ records }: State): void {
    const stored = records.filter((record) => record !== undefined);
    this.#records = new Map(stored.map((record) => [record.id, record]));
  }

  check({ records, users, queues, stats }: State, waiting: ReadonlySet<string>): void {
    const stored = records.filter((record) => record !== undefined);
    mustBe(stats.counts, countsOf(stored), 'I1, I2 records against counts');
    for (const queue of queues) {
      const mine = stored.filter((record) => record.queue === queue.queue);
      mustBe(queue.counts, countsOf(mine), `I1, I2 of queue ${queue.queue}`);
    }
    for (const { user, queue, queued, running, later, levels } of users) {
      const mine = stored.filter((record) => record.user === user && record.queue === queue);
      const counts = countsOf(mine);
      mustBe(running, counts.started, `I3 of ${user}`);
      mustBe(queued, counts.queued, `I1 of ${user}`);
      mustBe(later, counts.scheduled + counts.deferred, `I1 of ${user}`);
      mustBe(sum(levels), counts.queued, `levels of ${user}`);
    }
    const ends = stats.totals;
    const over = ends.finished + ends.failed + ends.canceled;
    mustBe(ends.enqueued + this.#redrives - over, live(stats.counts), 'I1 conservation');
    for (const record of stored) this.#checkRecord(record, waiting);
    this.#checkKeys(stored);
    this.#checkEnds(new Map(stored.map((record) => [record.id, record])));
  }

  #checkRecord(record: TaskRecord, waiting: ReadonlySet<string>): void {
    mustBe(record.failures, this.#failures.get(record.id) ?? 0, `I6 of ${record.id}`);
    const { state, token } = record;
    mustBe(token !== undefined, state === 'started', `token of ${record.id}, ${state}`);
    mustBe(record.dueAt !== undefined, state === 'scheduled', `due of ${record.id}`);
    mustBe(record.endedAt !== undefined, isEnd(state), `end of ${record.id}`);
    const isWaiting = waiting.has(record.id) || record.blockedBy.length > 0;
    if (state === 'deferred') ok(isWaiting, `${record.id} waits for nothing`);
    if (state === 'queued' || state === 'started') {
      mustBe(record.blockedBy, [], `I7 ${record.id} is ${state}`);
    }
  }

  /** I5: an ended task stays as it ended, until it is redriven or removed; but for the end of its pause. */
  #checkEnds(now: ReadonlyMap<string, TaskRecord>): void {
    for (const before of this.#records.values()) {
      if (!isEnd(before.state) || this.#revived.has(before.id)) continue;
      const after = now.get(before.id);
      if (after === undefined || after.createdAt !== before.createdAt) continue;
      if (this.#removed.has(before.id)) continue;
      mustBe(unpaused(after), unpaused(before), `I5 ${before.id} had ended`);
    }
  }

  /** I12: of the live tasks with one key only followers come on top. */
  #checkKeys(stored: readonly TaskRecord[]): void {
    const owners = new Map<string, string>();
    for (const { id, queue, user, state, dependsOn, idempotencyKey } of stored) {
      const spec = this.#specs.get(id)?.idempotency;
      if (idempotencyKey === undefined || isEnd(state) || this.#redriven.has(id)) continue;
      if (spec !== undefined && (!EXCLUSIVE.has(spec.policy) || 'ttlMs' in spec)) continue;
      const name = JSON.stringify([queue, user, idempotencyKey]);
      const other = owners.get(name);
      ok(other === undefined || dependsOn.includes(other), `I12 ${id} and ${other} have one key`);
      owners.set(name, id);
    }
  }
}

/** Says which invariant does not hold. */
function mustBe(actual: unknown, expected: unknown, invariant: string): void {
  try {
    mustBeSame(actual, expected);
  } catch (error) {
    if (error instanceof Error) error.message = `${invariant}\n${error.message}`;
    throw error;
  }
}

/** How many have not ended: accepted or redriven, and not over again. */
function live(counts: Readonly<Record<TaskState, number>>): number {
  return counts.scheduled + counts.deferred + counts.queued + counts.started;
}

function numberOf(token: string): number {
  return Number(token.split('-')[0]);
}

function countsOf(records: readonly TaskRecord[]): Record<TaskState, number> {
  const counts = { ...NONE };
  for (const { state } of records) counts[state] += 1;
  return counts;
}

const NONE = Object.fromEntries(TASK_STATES.map((state) => [state, 0])) as Record<
  TaskState,
  number
>;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function unpaused({ paused: _paused, ...record }: TaskRecord): Omit<TaskRecord, 'paused'> {
  return record;
}
