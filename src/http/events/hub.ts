/** Readings that streams of changes share: each thing is read once for all that watch it with the same eyes. */
import { createHash } from 'node:crypto';
import { isPlainObject } from '../../base/records.ts';
import { type Clock, elapsedMs, type Timer } from '../../base/time.ts';
import type { View } from '../../operations/view.ts';
import { Budget } from './budget.ts';
import type { Subject } from './subject.ts';

/** What a subject was at one moment. Nothing of it changes any more. */
export interface Version {
  /** Tells it from others of the same subject. */
  readonly digest: string;
  /** Its fields as JSON, by name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Reads a subject: what the route answers, or the problem that it is. Never rejects. */
export type ReadSubject = (subject: Subject, view: View) => Promise<unknown>;

/**
 * Least time between two readings of one thing, in ms. With the time until the next frame of a stream a change is on
 * screen within half a second.
 */
const LEAST_MS = 200;

/** Most time between them, in ms: what is older is no news. */
const MOST_MS = 10_000;

/** Of the time of one connection, readings of all that is dear together take about one part in so many. */
const SHARE = 20;

/** And those of all that is cheap, however many things that are. Most of it they wait, and the store works little. */
const CHEAP_SHARE = 5;

/** Of the time, readings for one caller take one part in so many, and all readings one in {@link ALL_PART}. */
const CALLER_PART = 5;
const ALL_PART = 2.5;

/** A reading that takes longer, in ms, lets the next one begin beside it: the store may be slow about one thing. */
const ALONE_MS = 1_000;

/** Things that one caller watches at most, and all of them together. */
const THINGS = { ofOne: 1_000, ofAll: 10_000 } as const;

/** One thing that is watched. */
export interface Watched {
  /** As it was read last; absent before the first reading. */
  readonly version: Version | undefined;
}

class Watching implements Watched {
  readonly subject: Subject;
  readonly view: View;
  /** Who is told, and for whom it may be read. */
  readonly listeners = new Map<() => void, Caller>();
  version: Version | undefined;
  /** It waits to be read. */
  isDue = false;
  /** Of the latest two readings the cheaper one: a reading that has waited for others once says little. */
  costMs = 0;
  latestMs = 0;
  timer: Timer | undefined;

  constructor(subject: Subject, view: View) {
    this.subject = subject;
    this.view = view;
  }
}

/** One of those who watch. */
class Caller {
  readonly budget: Budget = new Budget(CALLER_PART);
  /** What is to be read for it, the oldest wish first. */
  readonly due = new Set<Watching>();
  /** How many things it watches, counted in each stream. */
  things = 0;
  /** How many readings are under way for it. */
  readings = 0;

  /** It is as if it had never been here. */
  isIdle(now: number): boolean {
    return this.things === 0 && this.readings === 0 && this.budget.isWhole(now);
  }
}

/** Who watches what. */
export interface Wish {
  readonly subject: Subject;
  readonly view: View;
  /** Each has a budget of its own. */
  readonly caller: string;
  /** Is told of each new version. */
  readonly changed: () => void;
}

/**
 * All that is watched through one API. Nothing runs while nothing is watched. One thing is read after the other, for the
 * caller that has had least, within a budget of each and one of all: watching leaves the store free for other calls.
 */
export class Hub {
  readonly #read: ReadSubject;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watching>();
  readonly #callers = new Map<string, Caller>();
  readonly #budget = new Budget(ALL_PART);
  #things = 0;
  /** A reading is under way that the next one waits for. */
  #isReading = false;
  /** Of the next reading. */
  #next: Timer | undefined;

  constructor(read: ReadSubject, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** How many things are read. */
  get size(): number {
    return this.#watched.size;
  }

  /** Whether so many things more may be watched for this caller. */
  mayWatch(caller: string, count: number): boolean {
    const own = this.#callers.get(caller)?.things ?? 0;
    return own + count <= THINGS.ofOne && this.#things + count <= THINGS.ofAll;
  }

  /** Tells of each new version, until it is left. */
  watch(wish: Wish): { readonly watched: Watched; readonly leave: () => void } {
    const { subject, view, changed } = wish;
    const caller = this.#callerOf(wish.caller);
    const key = `${view.scope} ${view.can.join()} ${subject.key}`;
    const known = this.#watched.get(key);
    const watched = known ?? new Watching(subject, view);
    watched.listeners.set(changed, caller);
    caller.things++;
    this.#things++;
    if (known === undefined) {
      this.#watched.set(key, watched);
      this.#wish(watched);
    } else if (watched.isDue) this.#wish(watched);
    const leave = (): void => {
      if (!watched.listeners.delete(changed)) return;
      this.#things--;
      caller.things--;
      if (![...watched.listeners.values()].includes(caller)) caller.due.delete(watched);
      if (watched.listeners.size > 0 || this.#watched.get(key) !== watched) return;
      this.#watched.delete(key);
      watched.timer?.cancel();
      if (this.#watched.size === 0) this.#rest();
    };
    return { watched, leave };
  }

  /** One that has left is remembered until its budget is whole: to come again is no way to a new one. */
  #callerOf(name: string): Caller {
    const known = this.#callers.get(name);
    if (known !== undefined) return known;
    const now = elapsedMs(this.#clock);
    for (const [one, caller] of this.#callers) if (caller.isIdle(now)) this.#callers.delete(one);
    const caller = new Caller();
    this.#callers.set(name, caller);
    return caller;
  }

  /** It is to be read, for the one of its callers that comes first. */
  #wish(watched: Watching): void {
    watched.isDue = true;
    for (const caller of watched.listeners.values()) caller.due.add(watched);
    this.#plan();
  }

  #rest(): void {
    this.#next?.cancel();
    this.#next = undefined;
  }

  /** Reads what is next, as soon as budgets allow it. */
  #plan(): void {
    this.#rest();
    if (this.#isReading) return;
    const [watched, caller] = this.#first() ?? [];
    if (watched === undefined || caller === undefined) return;
    const now = elapsedMs(this.#clock);
    const waitMs = Math.max(caller.budget.waitMs(now), this.#budget.waitMs(now));
    if (waitMs === 0) {
      void this.#look(watched, caller);
      return;
    }
    this.#next = this.#clock.setTimer(waitMs, () => {
      this.#next = undefined;
      this.#plan();
    });
  }

  /** What is due for the caller that has had least. */
  #first(): readonly [Watching, Caller] | undefined {
    let first: readonly [Watching, Caller] | undefined;
    for (const caller of this.#callers.values()) {
      const [watched] = caller.due;
      const isNext = first === undefined || caller.budget.rank < first[1].budget.rank;
      if (watched !== undefined && isNext) first = [watched, caller];
    }
    return first;
  }

  async #look(watched: Watching, caller: Caller): Promise<void> {
    watched.isDue = false;
    for (const one of watched.listeners.values()) one.due.delete(watched);
    caller.readings++;
    const from = elapsedMs(this.#clock);
    const release = this.#alone();
    const value = await this.#read(watched.subject, watched.view);
    const now = elapsedMs(this.#clock);
    const tookMs = Math.max(0, now - from);
    caller.readings--;
    caller.budget.spend(now, tookMs);
    this.#budget.spend(now, tookMs);
    this.#publish(watched, versionOf(value), tookMs);
    release();
  }

  /** Nothing else is read until it is called, or until that takes too long. */
  #alone(): () => void {
    this.#isReading = true;
    let isOver = false;
    const release = (): void => {
      timer.cancel();
      if (isOver) return;
      isOver = true;
      this.#isReading = false;
      this.#plan();
    };
    const timer = this.#clock.setTimer(ALONE_MS, release);
    return release;
  }

  #publish(watched: Watching, version: Version, tookMs: number): void {
    if (watched.listeners.size === 0) return;
    watched.costMs = Math.min(tookMs, watched.latestMs);
    watched.latestMs = tookMs;
    watched.timer = this.#clock.setTimer(this.#pauseMs(watched), () => this.#wish(watched));
    if (version.digest === watched.version?.digest) return;
    watched.version = version;
    for (const changed of [...watched.listeners.keys()]) changed();
  }

  /** What is cheap is read as often as pages can show it; both kinds share their parts of the time. */
  #pauseMs({ costMs }: Watching): number {
    let [dear, cheapMs] = [0, 0];
    for (const one of this.#watched.values()) {
      if (isDear(one.costMs)) dear++;
      else cheapMs += one.costMs;
    }
    const pauseMs = isDear(costMs) ? costMs * SHARE * dear : cheapMs * CHEAP_SHARE;
    return Math.min(MOST_MS, Math.max(LEAST_MS, pauseMs));
  }
}

function isDear(costMs: number): boolean {
  return costMs * SHARE > LEAST_MS;
}

function versionOf(value: unknown): Version {
  const fields = new Map(
    Object.entries(isPlainObject(value) ? value : { value }).flatMap(([name, one]) => {
      const text: string | undefined = JSON.stringify(one);
      return text === undefined || CLOCKS.has(name) ? [] : [[name, text] as const];
    }),
  );
  const hash = createHash('sha256');
  for (const [name, text] of fields) hash.update(`${name}:${text},`);
  return { digest: hash.digest('base64url').slice(0, 10), fields };
}

/** Fields that change with every reading, and are no news: frames have moments of their own. */
const CLOCKS: ReadonlySet<string> = new Set(['at']);
