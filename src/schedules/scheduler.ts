import { pauseMs } from '../base/pause.ts';
import { type Clock, elapsedMs, type Timer } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend, FireOutcome, FireReply, ScheduleRecord } from '../domain/port/backend.ts';
import { refusalError } from '../domain/port/refusal.ts';
import { firedTaskId } from '../domain/port/schedule.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { Emitter } from '../events/emitter.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import { SpecCache, taskOf } from './spec.ts';
import { type FirePlan, planDue } from './timing/catch-up.ts';

/** Events of a scheduler. */
export type SchedulerEvents = Pick<
  WorkerEvents,
  'schedule.fired' | 'schedule.missed' | 'schedule.skipped'
>;

/** Names of all events. */
export const SCHEDULER_EVENTS: OptionKeys<SchedulerEvents> = keysOf<SchedulerEvents>()({
  'schedule.fired': true,
  'schedule.missed': true,
  'schedule.skipped': true,
});

/** Dependencies of a scheduler. */
export interface SchedulerParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  /** Id among schedulers. */
  readonly owner: string;
  /** Interval of polls, in ms; absent: never, it is woken by replies to its worker. */
  readonly pollMs?: number;
  readonly events: Pick<Emitter<SchedulerEvents>, 'emit'>;
  /** Called for tasks of earlier slots whose cancel was requested. */
  readonly canceled: (ids: readonly string[], cause: Cause) => void;
  /** Called with an error; false: the scheduler has ended. */
  readonly failed: (operation: string, error: unknown) => boolean;
  readonly answered: () => void;
}

/** A fired slot, and its delay. */
interface FiredSlot {
  readonly schedule: string;
  readonly slot: number;
  readonly lateMs: number;
}

/** Result of firing one schedule, and its next due time. */
interface Fired {
  readonly kind: FireReply['kind'] | 'failed';
  readonly nextDueAt?: number;
}

type Granted = Extract<Awaited<ReturnType<Backend['schedules']['due']>>, { kind: 'granted' }>;

/**
 * Fires due schedules. Any number of schedulers may run: one at a time reads what is due, which
 * saves the others the work, and the backend lets one of several fire a slot. It sleeps until the
 * next slot; replies of the backend to its worker announce earlier ones.
 */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #specs = new SpecCache();
  #timer: Timer | undefined;
  #isRunning = false;
  #stopped = false;
  /** Replies do not wake it before this moment: another scheduler has the lock, or all firings failed. */
  #lockedUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  /** False while it calls the backend. */
  get isQuiet(): boolean {
    return !this.#isRunning;
  }

  start(): void {
    void this.#round();
  }

  /** Called when the backend answers that a schedule is due. */
  wake(): void {
    if (this.#isRunning || this.#failures > 0) return;
    if (elapsedMs(this.#parts.clock) >= this.#lockedUntil) void this.#round();
  }

  /** Releases the lock, so that another scheduler takes over at once. */
  async leave(): Promise<void> {
    this.stop();
    await this.#parts.backend.schedules.leave(this.#parts.owner);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Fires until nothing is due; then sleeps. */
  async #round(): Promise<void> {
    if (this.#isRunning || this.#stopped) return;
    this.#isRunning = true;
    this.#timer?.cancel();
    let sleepMs: number | undefined;
    try {
      do sleepMs = await this.#step();
      while (sleepMs === 0 && !this.#stopped);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      if (!this.#parts.failed('schedules', error)) this.#stopped = true;
      sleepMs = pauseMs(this.#failures, this.#parts.random());
    }
    this.#isRunning = false;
    this.#sleep(sleepMs);
  }

  #sleep(ms: number | undefined): void {
    const { pollMs, clock } = this.#parts;
    const least = Math.min(ms ?? Number.POSITIVE_INFINITY, pollMs ?? Number.POSITIVE_INFINITY);
    if (this.#stopped || least === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimer(least, () => void this.#round());
  }

  /** One call and its firings. Answers the time until the next: 0 for at once, absent to wait for `wake`. */
  async #step(): Promise<number | undefined> {
    const { backend, clock, owner, answered } = this.#parts;
    const reply = await backend.schedules.due({ owner, limit: LIMITS.scheduleDue });
    answered();
    if (reply.kind === 'locked') {
      const restMs = Math.min(reply.until - reply.now, LIMITS.scheduleRetryMs);
      this.#lockedUntil = elapsedMs(clock) + restMs;
      return undefined;
    }
    this.#lockedUntil = Number.NEGATIVE_INFINITY;
    const askedAt = elapsedMs(clock);
    const fired = await Promise.all(reply.schedules.map((record) => this.#fire(record, reply)));
    if (fired.some(({ kind }) => kind === 'superseded')) return undefined;
    if (fired.length > 0 && fired.every(({ kind }) => kind === 'failed')) {
      // Every schedule failed, so they stay due: wait before the next try.
      this.#lockedUntil = elapsedMs(clock) + LIMITS.scheduleRetryMs;
      return LIMITS.scheduleRetryMs;
    }
    // Only the backend knows the next slot of schedules that others have fired.
    if (fired.some(({ kind }) => kind !== 'fired')) return 0;
    const moments = [reply.nextDueAt, ...fired.map(({ nextDueAt }) => nextDueAt)];
    const next = Math.min(...moments.map((moment) => moment ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) return undefined;
    const restMs = next - reply.now - (elapsedMs(clock) - askedAt);
    return Math.max(fired.length === 0 ? 1 : 0, Math.ceil(restMs));
  }

  /** A schedule that cannot be fired does not stop the others. */
  async #fire(record: ScheduleRecord, reply: Granted): Promise<Fired> {
    try {
      return await this.#fireNow(record, reply);
    } catch (error) {
      // An outage affects all of them.
      if (isOwn(error) && error.code === 'BACKEND_UNAVAILABLE') throw error;
      this.#parts.failed(`schedule ${record.id}`, error);
      return { kind: 'failed' };
    }
  }

  async #fireNow(record: ScheduleRecord, { now, fence }: Granted): Promise<Fired> {
    const { id, next } = record;
    if (next === undefined) return { kind: 'stale' };
    const { spec, table } = this.#specs.of(id, record.spec);
    const { missed, cap, task, catchesUp } = spec;
    const most = Math.max(1, Math.floor(LIMITS.scriptBytes / (3 * task.payload.length + 1_000)));
    const plan = planDue(table, { slot: next.slot, now, missed, cap, most });
    const reply = await this.#parts.backend.schedules.fire({
      ...{ id, revision: record.revision, slot: next.slot, fence, passed: plan.passed },
      firings: plan.fire.map((slot) => ({ slot, task: taskOf(id, spec, { slot }) })),
      ...(plan.next === undefined ? {} : { next: plan.next }),
      ...(catchesUp === true && plan.isLate ? { catchUp: true } : {}),
    });
    if (reply.kind === 'fired') {
      this.#reportMissed(record, plan);
      for (const [at, outcome] of reply.outcomes.entries()) {
        const slot = plan.fire[at] ?? next.slot;
        this.#report({ schedule: id, slot, lateMs: now - table.dueAt(slot) }, outcome);
      }
    }
    const nextDueAt = plan.next?.dueAt;
    return nextDueAt === undefined ? { kind: reply.kind } : { kind: reply.kind, nextDueAt };
  }

  #reportMissed({ id, next }: ScheduleRecord, { passed }: FirePlan): void {
    if (passed === 0 || next === undefined) return;
    this.#parts.events.emit('schedule.missed', { schedule: id, slot: next.slot, slots: passed });
  }

  #report({ schedule, slot, lateMs }: FiredSlot, outcome: FireOutcome): void {
    const { events, canceled } = this.#parts;
    const ownId = firedTaskId(schedule, slot);
    switch (outcome.kind) {
      case 'created':
        events.emit('schedule.fired', { schedule, slot, taskId: ownId, lateMs });
        if (outcome.canceled.length > 0) {
          canceled(outcome.canceled, { type: 'schedule', schedule, slot });
        }
        break;
      case 'existing':
      case 'overlap': {
        const { id: taskId, kind: reason } = outcome;
        events.emit('schedule.skipped', { schedule, slot, taskId, reason });
        break;
      }
      case 'refused': {
        const error = refusalError(ownId, outcome.refusal);
        events.emit('schedule.missed', { schedule, slot, slots: 1, error });
        break;
      }
      case 'over':
        break;
    }
  }
}
