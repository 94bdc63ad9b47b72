/** A bulk action under one lease: continues from its stored progress, and decides about its task. */

import type { OwnEnd, OwnLease } from '../attempt/own-lease.ts';
import { persist } from '../attempt/persist.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import { Pace } from '../client/facades/pace.ts';
import { afterStart, allowedAt, boundedTat } from '../domain/fairness/rate-limit.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend } from '../domain/port/backend.ts';
import { refOf } from '../domain/port/leasing.ts';
import type { CancelParts } from '../runs/calls/task-cancel.ts';
import { JournalLost } from '../runs/driven/run-journal.ts';
import { SearchWalk } from '../search/search-walk.ts';
import { whereOf } from '../search/where.ts';
import {
  ACTION_STATES,
  type BulkProgress,
  type BulkSpec,
  type BulkTarget,
  bulkSpecIn,
  LAST_FIELD,
  PAGE_FIELD,
  PAUSE_ENTRY,
  PROGRESS_FIELD,
  pageIn,
  pageText,
  progressIn,
} from './bulk-record.ts';
import { type BulkOutcome, BulkTargets } from './bulk-targets.ts';

/** Dependencies on the worker. */
export interface BulkTools extends CancelParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Most walks of a cancel: tasks may have moved to states that it has passed. */
const MOST_WALKS = 5;

/** Runs a bulk action for one turn. */
export async function driveBulk(tools: BulkTools, own: OwnLease): Promise<OwnEnd> {
  try {
    return await new BulkDrive(tools, own).run();
  } catch (error) {
    if (error instanceof JournalLost) return { type: 'lost' };
    throw error;
  }
}

class BulkDrive {
  readonly #tools: BulkTools;
  readonly #own: OwnLease;
  readonly #spec: BulkSpec;
  readonly #walk: SearchWalk;
  readonly #targets: BulkTargets;
  /** End of this turn, on the worker's clock. */
  readonly #turnEnd: number;
  #page: readonly BulkTarget[] = [];
  #at: BulkProgress;
  /** Outcomes of the current chunk that an earlier lease may have caused. */
  #known: ReadonlyMap<string, BulkOutcome> = new Map();
  #savedAt: number;

  constructor(tools: BulkTools, own: OwnLease) {
    const { lease } = own;
    this.#tools = tools;
    this.#own = own;
    this.#spec = bulkSpecIn(tools.codec, lease.payload);
    const { action, where } = this.#spec;
    const states = ACTION_STATES[action];
    this.#walk = new SearchWalk(tools.backend, whereOf(where), { states, runs: true });
    this.#targets = new BulkTargets(tools, this.#spec, lease);
    this.#savedAt = elapsedMs(tools.clock);
    this.#turnEnd = this.#savedAt + LIMITS.bulkTurnMs;
    this.#at = begun(lease.leasedAt, this.#walk);
  }

  async run(): Promise<OwnEnd> {
    await this.#load();
    for (;;) {
      if (this.#at.from < this.#page.length) {
        const waitMs = await this.#chunk();
        if (waitMs !== undefined) return pause(waitMs);
      } else if (this.#at.place === undefined) {
        const isOver = this.#at.changed === 0 || this.#at.walks + 1 >= MOST_WALKS;
        if (this.#spec.action !== 'cancel' || isOver) return this.#finished();
        this.#at = { ...this.#at, ...placeOf(this.#walk), walks: this.#at.walks + 1, changed: 0 };
      } else {
        await this.#nextPage(this.#at.place);
      }
      this.#own.signal.throwIfAborted();
      if (this.#isTurnOver) {
        await this.#save();
        return pause(0);
      }
    }
  }

  /** A dry run changes nothing, so it starts anew with every lease. */
  async #load(): Promise<void> {
    const { backend } = this.#tools;
    const fields = await this.#again(() => backend.runs.load(this.#own.lease.id));
    const before = progressIn(fields);
    if (before === undefined) return;
    if (this.#spec.dryRun === true) {
      this.#at = { ...this.#at, startedAt: before.startedAt };
      return;
    }
    this.#at = before;
    this.#page = pageIn(fields);
    const begun = this.#page.slice(before.from, before.until);
    if (begun.length > 0) this.#known = await this.#again(() => this.#targets.settled(begun));
  }

  async #nextPage(place: NonNullable<BulkProgress['place']>): Promise<void> {
    const step = await this.#again(() => this.#walk.step(place, { limit: LIMITS.pageMax }));
    const page = await this.#again(() => this.#targets.among(step.rows));
    const { place: _place, ...rest } = this.#at;
    const next = step.next === undefined ? {} : { place: step.next };
    const matched = rest.matched + page.length;
    this.#at = { ...rest, ...next, matched, from: 0, until: 0 };
    this.#page = this.#spec.dryRun === true ? [] : page;
    this.#known = new Map();
    // The page is stored with its first chunk.
    const isLate = elapsedMs(this.#tools.clock) - this.#savedAt >= LIMITS.bulkHoldMs;
    if (this.#page.length === 0 && isLate) await this.#save();
  }

  /** Changes a part of the page; answers the delay if the rate allows none for so long. */
  async #chunk(): Promise<number | undefined> {
    const { clock } = this.#tools;
    const { from, until } = this.#at;
    const tat = this.#boundedTat();
    const isAgain = until > from;
    const waitMs = isAgain ? 0 : this.#waitMs(clock.now(), tat);
    if (waitMs >= LIMITS.bulkHoldMs) {
      await this.#save();
      return waitMs;
    }
    if (!isAgain) {
      const ahead = this.#planned();
      this.#at = { ...this.#at, until: from + ahead.count, tat: ahead.tat };
      await this.#save();
    }
    const chunk = this.#page.slice(from, this.#at.until);
    // The reservation for these starts before it was made.
    const { outcomes, tat: spent } = await this.#changeAll(chunk, tat);
    const end = outcomes.indexOf(undefined);
    const count = end < 0 ? chunk.length : end;
    const whole = counted(this.#at, chunk, outcomes.slice(0, count));
    // When a page is continued, tasks after a gap are checked again.
    const last = counted(this.#at, chunk, outcomes);
    this.#at = { ...whole, from: from + count, tat: Math.max(this.#boundedTat(), spent) };
    this.#known = new Map();
    if (count < chunk.length) {
      await this.#saveLast(last);
      this.#own.signal.throwIfAborted();
    }
    return undefined;
  }

  /** Number of changes that fit in the time of its slot, and the `tat` after them. */
  #planned(): { readonly count: number; readonly tat: number } {
    const left = this.#page.length - this.#at.from;
    const { rate } = this.#spec;
    let tat = this.#boundedTat();
    if (rate === undefined) return { count: left, tat };
    const now = this.#tools.clock.now();
    let count = 0;
    for (; count < left; count++) {
      const at = Math.max(now, allowedAt(rate, tat));
      if (at - now >= LIMITS.bulkHoldMs) break;
      tat = afterStart(rate, tat, at);
    }
    return { count, tat };
  }

  /** Changes tasks in order, several at once; `undefined` for those after an interruption. */
  async #changeAll(
    chunk: readonly BulkTarget[],
    reserved: number,
  ): Promise<{ readonly outcomes: readonly (BulkOutcome | undefined)[]; readonly tat: number }> {
    const { signal } = this.#own;
    const outcomes: (BulkOutcome | undefined)[] = chunk.map(() => undefined);
    const { rate } = this.#spec;
    const pace = rate === undefined ? undefined : new Pace(rate, this.#tools.clock, reserved);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < chunk.length; at = next++) {
        const target = chunk[at];
        if (target === undefined || signal.aborted) return;
        const known = this.#known.get(target.id);
        if (known === undefined) await pace?.turn(signal);
        if (signal.aborted) return;
        outcomes[at] = known ?? (await this.#change(target));
      }
    };
    await Promise.all(Array.from({ length: LIMITS.bulkAtOnce }, work));
    return { outcomes, tat: pace?.tat ?? reserved };
  }

  /** `undefined`: it was interrupted; the task may or may not have been changed. */
  async #change(target: BulkTarget): Promise<BulkOutcome | undefined> {
    let isAgain = false;
    const change = async (): Promise<BulkOutcome> => {
      // The answer may have been lost, not the call.
      const known = isAgain ? await this.#targets.settled([target]) : undefined;
      isAgain = true;
      return known?.get(target.id) ?? this.#targets.change(target);
    };
    try {
      return await this.#again(change);
    } catch (error) {
      if (this.#own.signal.aborted) return undefined;
      throw error;
    }
  }

  /** A reservation reaches no further than a slot is held; a later one is of a clock that was set back since. */
  #boundedTat(): number {
    const { rate } = this.#spec;
    const { tat } = this.#at;
    if (rate === undefined) return tat;
    return boundedTat(rate, tat, this.#tools.clock.now() + LIMITS.bulkHoldMs);
  }

  #waitMs(now: number, tat: number): number {
    const { rate } = this.#spec;
    return rate === undefined ? 0 : Math.max(0, allowedAt(rate, tat) - now);
  }

  get #isTurnOver(): boolean {
    return elapsedMs(this.#tools.clock) >= this.#turnEnd && this.#spec.dryRun !== true;
  }

  async #finished(): Promise<OwnEnd> {
    this.#page = [];
    await this.#save();
    const { matched, done, skipped, failed } = this.#at;
    const { codec } = this.#tools;
    const result = codec.result(this.#own.lease.id, { matched, done, skipped, failed });
    return { type: 'settle', decision: { type: 'finish', result } };
  }

  /** Stores the progress, with the page at its start, and its removal at the end. */
  async #save(): Promise<void> {
    const { backend } = this.#tools;
    const isFresh = this.#at.from === 0 || this.#page.length === 0;
    const page = isFresh ? { [PAGE_FIELD]: pageText(this.#page) } : {};
    const entries = { ...page, [PROGRESS_FIELD]: JSON.stringify(this.#at) };
    const lease = refOf(this.#own.lease);
    const answer = await this.#again(() => backend.runs.checkpoint(lease, entries));
    this.#savedAt = elapsedMs(this.#tools.clock);
    if (answer === 'ok' || answer === 'paused') return;
    if (answer !== 'canceling') throw new JournalLost();
    this.#own.interrupt({ type: 'cancel', cause: { type: 'request' } });
    await this.#saveLast(this.#at);
    this.#own.signal.throwIfAborted();
  }

  /** During a cancel its journal is closed, but it can still write its result to a channel. */
  async #saveLast(last: BulkProgress): Promise<void> {
    const { backend } = this.#tools;
    const lease = refOf(this.#own.lease);
    const entries = { [PROGRESS_FIELD]: JSON.stringify(this.#at) };
    if ((await backend.runs.checkpoint(lease, entries)) !== 'canceling') return;
    const writes = [{ type: 'set', field: LAST_FIELD, text: JSON.stringify(last) }] as const;
    await backend.runs.writeChannel(lease, { run: lease.id, writes });
  }

  #again<T>(call: () => Promise<T>): Promise<T> {
    return persist(this.#tools, this.#own.signal, call);
  }
}

function begun(startedAt: number, walk: SearchWalk): BulkProgress {
  const none = { from: 0, until: 0, tat: 0, walks: 0, changed: 0, errors: [] };
  return { startedAt, ...placeOf(walk), ...none, matched: 0, done: 0, skipped: 0, failed: 0 };
}

function placeOf({ start }: SearchWalk): Pick<BulkProgress, 'place'> {
  return start === undefined ? {} : { place: start };
}

/** The progress with these outcomes, up to the first missing one. */
function counted(
  before: BulkProgress,
  targets: readonly BulkTarget[],
  outcomes: readonly (BulkOutcome | undefined)[],
): BulkProgress {
  const done = outcomes.filter((one) => one === 'done').length;
  const skipped = outcomes.filter((one) => one === 'skipped').length;
  const errors = outcomes.flatMap((one, at) => {
    const id = targets[at]?.id;
    return typeof one !== 'object' || id === undefined ? [] : [{ id, error: one.error }];
  });
  return {
    ...before,
    changed: before.changed + done,
    done: before.done + done,
    skipped: before.skipped + skipped,
    failed: before.failed + errors.length,
    errors: [...before.errors, ...errors].slice(0, LIMITS.bulkErrors),
  };
}

/** Releases the slot, and continues at its user's turn after the delay. */
function pause(ms: number): OwnEnd {
  const wait = { for: { kind: 'time' }, entry: PAUSE_ENTRY } as const;
  const wakeAfterMs = Math.max(1, Math.ceil(ms));
  return {
    type: 'settle',
    decision: { type: 'suspend', waitFor: [], wakeOn: 'all', wakeAfterMs, wait },
  };
}
