/** Tasks of a bulk action, and the change of one of them. */

import { inChunks } from '../base/chunks.ts';
import { messageOf } from '../base/message-of.ts';
import { assertNever } from '../base/never.ts';
import { isOwn } from '../domain/errors/errors.ts';
import type { Backend, ChangeReply } from '../domain/port/backend.ts';
import { cycleError } from '../domain/port/refusal.ts';
import type { Cause } from '../domain/task/cause.ts';
import { isEnd, type TaskRecord, type TaskRow } from '../domain/task/task.ts';
import { resume } from '../runs/calls/resume.ts';
import { type CancelParts, cancelWhole } from '../runs/calls/task-cancel.ts';
import { recordsOf } from '../runs/failure-cause.ts';
import { isRun, runPlaceOf } from '../runs/record.ts';
import { redriven } from '../runs/redriven.ts';
import { isShown, matcherOf } from '../search/match.ts';
import { whereOf } from '../search/where.ts';
import type { BulkSpec, BulkTarget } from './bulk-record.ts';

/** Outcome of a change of one task; a text is the reason of its failure. */
export type BulkOutcome = 'done' | 'skipped' | { readonly error: string };

/** Records per read: each may have a MiB. */
const READ_AT_ONCE = 50;

interface TargetParts extends CancelParts {
  readonly backend: Backend;
}

/** The tasks of one bulk action: those that matched at its start. */
export class BulkTargets {
  readonly #parts: TargetParts;
  readonly #spec: BulkSpec;
  readonly #own: string;
  /** Moment of its start, by the backend's clock: later tasks and changes are not touched. */
  readonly #startedBy: number;
  readonly #isMeant: (task: TaskRow) => boolean;
  readonly #isOne: (task: TaskRow) => boolean;
  /** Runs met under this lease: the first part of a run represents the others. */
  readonly #seen = new Set<string>();

  constructor(
    parts: TargetParts,
    spec: BulkSpec,
    { id, createdAt }: { readonly id: string; readonly createdAt: number },
  ) {
    const where = whereOf(spec.where);
    this.#parts = parts;
    this.#spec = spec;
    this.#own = id;
    this.#startedBy = createdAt;
    this.#isMeant = matcherOf(where, createdAt);
    this.#isOne = isShown(where, { runs: true });
  }

  /** The tasks of a page to change; parts of runs that are redriven are replaced by their runs, once each. */
  async among(rows: readonly TaskRow[]): Promise<readonly BulkTarget[]> {
    const meant = rows.filter(
      (row) => row.id !== this.#own && this.#isOne(row) && this.#isMeant(row) && this.#isOld(row),
    );
    if (this.#spec.action === 'redrive') return this.#wholes(meant);
    const waited = this.#spec.action === 'run-now' ? await this.#withoutRetried(meant) : meant;
    return waited.map(({ id }) => ({ id, isRun: false }));
  }

  /** Changes a task, unless it is newer than the action. */
  async change({ id, isRun: whole }: BulkTarget): Promise<BulkOutcome> {
    try {
      return await this.#change(id, whole);
    } catch (error) {
      if (!isOwn(error)) throw error;
      if (error.code === 'TASK_BUSY') return 'skipped';
      if (error.retryable || error.code === 'CLOSED') throw error;
      const isGone = error.code === 'WRONG_STATE' || error.code === 'TASK_NOT_FOUND';
      return isGone ? 'skipped' : { error: messageOf(error) };
    }
  }

  /**
   * Outcomes of changes that may have been made before; those still to make are absent. A task in
   * another state counts as changed by this action.
   */
  async settled(targets: readonly BulkTarget[]): Promise<ReadonlyMap<string, BulkOutcome>> {
    const known = new Map<string, BulkOutcome>();
    const { inspect } = this.#parts.backend;
    for (const some of inChunks(targets, READ_AT_ONCE)) {
      const records = await inspect.get(some.map(({ id }) => id));
      const open: TaskRecord[] = [];
      for (const [at, { id, isRun: whole }] of some.entries()) {
        const record = records[at];
        const outcome = this.#outcomeOf(record, whole);
        if (outcome !== undefined) known.set(id, outcome);
        else if (record !== undefined) open.push(record);
      }
      if (this.#spec.action !== 'run-now') continue;
      const waited = new Set((await this.#withoutRetried(open)).map(({ id }) => id));
      for (const { id } of open) if (!waited.has(id)) known.set(id, 'done');
    }
    return known;
  }

  /** `undefined`: it is still to be changed. */
  #outcomeOf(record: TaskRecord | undefined, whole: boolean): BulkOutcome | undefined {
    const { action } = this.#spec;
    // Another task may have its id since.
    if (record === undefined || record.createdAt > this.#startedBy) {
      return action === 'remove' ? 'done' : 'skipped';
    }
    switch (action) {
      case 'redrive':
        // A run that continues may have been redriven in part.
        return this.#isOld(record) && (whole || record.state === 'failed') ? undefined : 'done';
      case 'cancel':
        if (record.state === 'canceled' || record.cancelRequested) return 'done';
        return isEnd(record.state) ? 'skipped' : undefined;
      case 'remove':
        return isEnd(record.state) && this.#isOld(record) ? undefined : 'skipped';
      case 'run-now':
        return record.state === 'scheduled' ? undefined : 'done';
      default:
        return assertNever(action);
    }
  }

  async #change(id: string, whole: boolean): Promise<BulkOutcome> {
    const { tasks } = this.#parts.backend;
    const { log } = this.#parts.connection;
    switch (this.#spec.action) {
      case 'redrive':
        if (!whole)
          return outcomeOf(id, await redriven({ tasks, log }, id, undefined, this.#startedBy));
        await resume(this.#parts, id, this.#startedBy);
        return 'done';
      case 'cancel': {
        const { kind } = await cancelWhole(this.#parts, id, this.#cause);
        return kind === 'canceled' || kind === 'requested' ? 'done' : 'skipped';
      }
      case 'remove':
        return outcomeOf(id, await tasks.remove(id, this.#startedBy));
      case 'run-now':
        return outcomeOf(id, await tasks.runNow(id));
    }
  }

  get #cause(): Cause {
    const { reason } = this.#spec;
    return reason === undefined ? { type: 'request' } : { type: 'request', reason };
  }

  /** It was in this state at the start of the action; for a running task, it was stored by then. */
  #isOld({ createdAt, endedAt, cancelRequested, state }: TaskRow): boolean {
    if (isEnd(state)) return (endedAt ?? 0) <= this.#startedBy;
    return createdAt <= this.#startedBy && !(state === 'started' && cancelRequested);
  }

  /** Without tasks that were tried since: they wait for another attempt now. */
  async #withoutRetried<T extends TaskRow>(rows: readonly T[]): Promise<readonly T[]> {
    const { inspect } = this.#parts.backend;
    const waited = await Promise.all(
      rows.map(async ({ id, failures, losses, releases }) => {
        if (failures + losses + releases === 0) return true;
        const last = (await inspect.attempts(id)).at(-1);
        return last === undefined || last.endedAt <= this.#startedBy;
      }),
    );
    return rows.filter((_, at) => waited[at] === true);
  }

  /** Replaces parts of runs, and tasks that a handler ran, by their wholes. */
  async #wholes(rows: readonly TaskRow[]): Promise<readonly BulkTarget[]> {
    const owners = new Map<string, TaskRow | undefined>();
    for (const row of rows) {
      const owner = runPlaceOf(row.options)?.id ?? row.id;
      if (owner === row.id) owners.set(owner, row);
      else if (!owners.has(owner)) owners.set(owner, undefined);
    }
    const unread = [...owners].filter(([, row]) => row === undefined).map(([id]) => id);
    const { inspect } = this.#parts.backend;
    for (const some of inChunks(unread, READ_AT_ONCE)) {
      for (const record of await recordsOf(inspect, some)) {
        if (record !== undefined) owners.set(record.id, record);
      }
    }
    const targets: BulkTarget[] = [];
    for (const [id, owner] of owners) {
      const isLate = owner !== undefined && isEnd(owner.state) && !this.#isOld(owner);
      if (isLate || this.#seen.has(id)) continue;
      const whole = owner !== undefined && isRun(owner);
      if (whole || unread.includes(id)) this.#seen.add(id);
      targets.push({ id, isRun: whole });
    }
    return targets;
  }
}

function outcomeOf(id: string, reply: ChangeReply): BulkOutcome {
  if (reply.kind === 'ok') return 'done';
  if (reply.kind !== 'cycle' && reply.kind !== 'dependency-limit') return 'skipped';
  return { error: messageOf(cycleError(id, reply)) };
}
