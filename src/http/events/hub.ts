/** Readings that streams of changes share: each thing is read once for all that watch it with the same eyes. */
import { createHash } from 'node:crypto';
import { isPlainObject } from '../../base/records.ts';
import type { Clock, Timer } from '../../base/time.ts';
import type { View } from '../calls/view.ts';
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

/** One thing that somebody watches. */
export interface Watched {
  /** As it was read last; absent before the first reading. */
  readonly version: Version | undefined;
}

class Watching implements Watched {
  readonly subject: Subject;
  readonly view: View;
  readonly listeners = new Set<() => void>();
  version: Version | undefined;
  /** Of the latest two readings the cheaper one: a reading that has waited for others once says little. */
  costMs = 0;
  latestMs = 0;
  timer: Timer | undefined;

  constructor(subject: Subject, view: View) {
    this.subject = subject;
    this.view = view;
  }
}

/** All that is watched through one API. Nothing runs while nobody watches. */
export class Hub {
  readonly #read: ReadSubject;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watching>();

  constructor(read: ReadSubject, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** How many things are read. */
  get size(): number {
    return this.#watched.size;
  }

  /** Tells of each new version, until it is left. */
  watch(
    subject: Subject,
    view: View,
    changed: () => void,
  ): { readonly watched: Watched; readonly leave: () => void } {
    const key = `${view.scope} ${view.can.join()} ${subject.name}`;
    const known = this.#watched.get(key);
    const watched = known ?? new Watching(subject, view);
    watched.listeners.add(changed);
    if (known === undefined) {
      this.#watched.set(key, watched);
      void this.#look(watched);
    }
    const leave = (): void => {
      watched.listeners.delete(changed);
      if (watched.listeners.size > 0 || this.#watched.get(key) !== watched) return;
      this.#watched.delete(key);
      watched.timer?.cancel();
    };
    return { watched, leave };
  }

  async #look(watched: Watching): Promise<void> {
    const from = this.#clock.now();
    const version = versionOf(await this.#read(watched.subject, watched.view));
    if (watched.listeners.size === 0) return;
    const tookMs = Math.max(0, this.#clock.now() - from);
    watched.costMs = Math.min(tookMs, watched.latestMs);
    watched.latestMs = tookMs;
    watched.timer = this.#clock.setTimer(this.#pauseMs(watched), () => void this.#look(watched));
    if (version.digest === watched.version?.digest) return;
    watched.version = version;
    for (const changed of [...watched.listeners]) changed();
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
