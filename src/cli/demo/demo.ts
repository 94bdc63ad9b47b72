/**
 * The demo: one user with 100,000 waiting tasks and nine with short backlogs share the slots of
 * one worker by their weights, and every lease is held against the exact share.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { onAbort } from '../../base/abort-watch.ts';
import { clearInterval, monotonicMs, setInterval } from '../../base/globals.ts';
import { Fairloom } from '../../client/client.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { silentLogger } from '../../logging/logger.ts';
import { type Actor, NOISY, QUIET, WEIGHTS } from './cast.ts';
import { type LeftBehind, leftBehind } from './earlier.ts';
import { LeaseTrace } from './lease-trace.ts';
import { seededRandom } from './statistics.ts';
import {
  cancelOne,
  diamond,
  retryOnce,
  runPipeline,
  STORY_TASKS,
  type Story,
  work,
} from './story.ts';
import { type Figures, figuresOf, RECENT_WAITS } from './summary.ts';

/** Slots of the demo's worker. */
const SLOTS = 10;
/** A task works for 1 to 3 ms, drawn from the seed. */
const WORK_MS = { least: 1, most: 3 };
/** Tasks of one enqueueMany of the noisy user. */
const CHUNK = 2_000;
/** How long the story may go on after the time is over, in ms, on a machine with other work. */
const STORY_MS = 10_000;
/** How long tasks that an earlier demo has left to the quiet ones may take, in ms. */
const EARLIER_MS = 20_000;
/** Between two looks at them, in ms. */
const LOOK_MS = 50;
/** When the scenes of the story begin, as parts of the running time. */
const SCENES = { retry: 0.2, cancel: 0.35, diamond: 0.5, pipeline: 0.65 };

/** What one demo goes by. */
export interface DemoOptions {
  readonly backend: Backend;
  /** How long everybody competes, in seconds, > 0; filling the queue comes before that. */
  readonly seconds: number;
  /** Of the lengths of the tasks. */
  readonly seed: number;
  /** Gets the lines of the trace in order. */
  readonly trace?: ((line: string) => void) | undefined;
  /** Something happened. */
  readonly news: (text: string) => void;
  /** The figures so far, every `frameMs`. */
  readonly frame: (figures: Figures, seconds: number) => void;
  readonly frameMs: number;
  /** How many times as long as usual tasks work, so that people can follow; 1 unless it is said. */
  readonly slower?: number | undefined;
  /** Runs beside the demo; what it answers with ends it before the client is closed. */
  readonly beside?: ((loom: Fairloom) => Promise<() => Promise<unknown>>) | undefined;
  /** The store outlives the demo: what an earlier one has left there is gone on with. */
  readonly goesOn?: boolean | undefined;
  /** Ends the demo early; what was measured so far is the answer. */
  readonly signal?: AbortSignal | undefined;
}

/** What the demo found; the figures of its JSON line. */
export interface DemoResult extends Figures {
  /** Where it was played. */
  readonly backend: string;
  /** Of the lengths of the tasks. */
  readonly seed: number;
  /** How long they competed. */
  readonly seconds: number;
  /** Turns per second. */
  readonly tasksPerSecond: number;
  /** What was shown besides: a retry, a cancel, dependencies, a pipeline; those that were seen to end. */
  readonly story: Partial<Story>;
}

/** Plays the demo once on a backend, and closes it. */
export async function playDemo(options: DemoOptions): Promise<DemoResult> {
  const demo = new Demo(options);
  try {
    return await demo.play();
  } finally {
    await demo.close();
  }
}

class Demo {
  readonly #options: DemoOptions;
  readonly #trace: LeaseTrace;
  readonly #loom: Fairloom;
  readonly #random: () => number;
  /** Quiet users whose backlog is being topped up at the moment. */
  readonly #toppingUp = new Map<string, Promise<void>>();
  /** Ends what runs beside. */
  #endBeside: (() => Promise<unknown>) | undefined;
  /** The quiet ones have come; from now on they are kept backlogged. */
  #crowded = false;

  constructor(options: DemoOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#trace = new LeaseTrace(
      WEIGHTS,
      (user, count) => this.#waiting(user, count),
      options.trace,
    );
    this.#loom = new Fairloom({
      backend: this.#trace.watch(options.backend),
      tasks: [work, ...STORY_TASKS],
      log: silentLogger,
    });
  }

  async play(): Promise<DemoResult> {
    const { backend, seed, beside } = this.#options;
    this.#endBeside = await beside?.(this.#loom);
    const left = await this.#resume();
    const queued = (user: string): number => left.get(user)?.queued ?? 0;
    this.#trace.begin(left);
    await this.#prepare(queued(NOISY.user));
    const worker = this.#loom.worker({ concurrency: SLOTS });
    const began = monotonicMs();
    await worker.start();
    if (left.size > 0) await this.#oneRound();
    await Promise.all(QUIET.map((actor) => this.#topUp(actor, queued(actor.user))));
    this.#crowded = true;

    const story: Partial<Mutable<Story>> = {};
    await this.#compete(began, story);

    // What is on its way is counted among what waits.
    this.#crowded = false;
    await Promise.allSettled(this.#toppingUp.values());
    this.#trace.stop();
    const elapsed = (monotonicMs() - began) / 1_000;
    const figures = figuresOf(this.#trace);
    await worker.stop();
    return {
      backend: backend.name,
      seed,
      seconds: Number(elapsed.toFixed(3)),
      tasksPerSecond: Math.round(figures.turns / elapsed),
      ...figures,
      story,
    };
  }

  /** Until the time is over and the story told, or the signal aborts. */
  async #compete(began: number, story: Partial<Mutable<Story>>): Promise<void> {
    const { seconds, frame, frameMs, signal } = this.#options;
    const frames = setInterval(() => {
      frame(figuresOf(this.#trace, RECENT_WAITS), (monotonicMs() - began) / 1_000);
    }, frameMs);
    try {
      const played = Promise.all([this.#scenes(story), pause(seconds * 1_000)]);
      const late = pause(seconds * 1_000 + STORY_MS, undefined, { ref: false });
      await Promise.race([played, late, aborted(signal)]);
    } finally {
      clearInterval(frames);
    }
  }

  async close(): Promise<void> {
    await this.#endBeside?.();
    await Promise.allSettled(this.#toppingUp.values());
    await this.#loom.close();
  }

  /**
   * Tells what an earlier demo has left, and works off what is not the noisy one's: the others come anew. Answers
   * what is left then.
   */
  async #resume(): Promise<ReadonlyMap<string, LeftBehind>> {
    const { news, signal, goesOn = false } = this.#options;
    if (!goesOn) return new Map();
    const found = await leftBehind(this.#loom);
    const count = [...found.values()].reduce((sum, { open }) => sum + open, 0);
    if (count === 0) return found;
    news(`${count} tasks of an earlier demo are still here: they have outlived its process`);
    const worker = this.#loom.worker({ concurrency: SLOTS });
    await worker.start();
    for (const end = monotonicMs() + EARLIER_MS; monotonicMs() < end; await pause(LOOK_MS)) {
      const left = await leftBehind(this.#loom);
      const isDone = QUIET.every(({ user }) => (left.get(user)?.open ?? 0) === 0);
      if (isDone || signal?.aborted === true) break;
    }
    await worker.stop();
    return leftBehind(this.#loom);
  }

  /** Waits for so many turns that those from before make no difference. */
  async #oneRound(): Promise<void> {
    const { signal } = this.#options;
    while (this.#trace.turns < SLOTS && signal?.aborted !== true) await pause(1);
  }

  /** Weights, and the noisy user's tasks, of which so many are there. */
  async #prepare(found: number): Promise<void> {
    const { news } = this.#options;
    for (const [user, weight] of WEIGHTS) await this.#loom.users.set(user, { weight });
    const missing = Math.max(0, NOISY.backlog - found);
    news(`${NOISY.user} (weight ${NOISY.weight}) enqueues ${missing} tasks`);
    const began = monotonicMs();
    for (let left = missing; left > 0; left -= CHUNK) {
      if (this.#options.signal?.aborted === true) return;
      await this.#enqueue(NOISY.user, Math.min(left, CHUNK));
    }
    const seconds = (monotonicMs() - began) / 1_000;
    const names = QUIET.map(({ user }) => user).join(', ');
    news(`enqueued in ${seconds.toFixed(1)} s; now come ${names} (weights 7, 3, 1)`);
  }

  /** Enqueues tasks of a user in one call. */
  async #enqueue(user: string, count: number): Promise<void> {
    const { least, most } = WORK_MS;
    const { slower = 1 } = this.#options;
    const draw = (): number => slower * (least + Math.floor(this.#random() * (most - least + 1)));
    const inputs = Array.from({ length: count }, draw);
    await Promise.all(inputs.map((ms) => this.#loom.enqueue(work, ms, { user })));
  }

  /** A quiet user whose backlog gets short enqueues more. */
  #waiting(user: string, count: number): void {
    const actor = QUIET.find((one) => one.user === user);
    if (!this.#crowded || actor === undefined || count > actor.backlog / 2) return;
    if (!this.#toppingUp.has(user)) void this.#topUp(actor, count);
  }

  async #topUp(actor: Actor, count: number): Promise<void> {
    const filling = this.#enqueue(actor.user, actor.backlog - count);
    this.#toppingUp.set(actor.user, filling);
    // A failure shows as an empty backlog; the worker's own calls report it.
    await filling.catch(() => undefined);
    this.#toppingUp.delete(actor.user);
  }

  /** The story's scenes, each at its time; ends with the last one. */
  async #scenes(story: Partial<Mutable<Story>>): Promise<void> {
    const { seconds, news } = this.#options;
    const [first, second, third, fourth] = QUIET.map(({ user }) => user);
    const at = (part: number): Promise<void> => pause(part * seconds * 1_000);
    const scenes = [
      at(SCENES.retry).then(async () => {
        story.retried = await retryOnce(this.#loom, first ?? '', news);
      }),
      at(SCENES.cancel).then(async () => {
        story.canceled = await cancelOne(this.#loom, second ?? '', news);
      }),
      at(SCENES.diamond).then(async () => {
        story.diamond = await diamond(this.#loom, third ?? '', news);
      }),
      at(SCENES.pipeline).then(async () => {
        story.pipeline = await runPipeline(this.#loom, fourth ?? '', news);
      }),
    ];
    await Promise.all(scenes);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Ends when the signal aborts; never without one. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else if (signal !== undefined) onAbort([signal], () => resolve());
  });
}
