import type { Clock } from '../base/time.ts';
import type { QueueStatus } from '../client/facades/queue-facade.ts';
import { isUnready, type UserStatus } from '../client/facades/user-facade.ts';
import { topOf, type UserSelection } from '../client/facades/user-selection.ts';
import type { MeasuredClient } from '../core/instruments.ts';
import { LIMITS } from '../domain/limits.ts';
import { allPages } from '../domain/port/all-pages.ts';
import { TASK_STATES } from '../domain/task/task.ts';
import { DependencyFigures } from './dependency-figures.ts';
import { couldBeServed, FairnessWindow } from './fairness.ts';
import type { Sample } from './table.ts';

/** Users of a queue per sample, besides those that waited longest in the last one. */
const SAMPLE = 50;

const MS_PER_SECOND = 1_000;

/** A user, and the age of the first task in its line. */
interface LineHead extends UserStatus {
  readonly headAgeMs: number;
}

/** Reads the store: all queues, and samples of users, so that a read costs little. */
export class StoreFigures {
  readonly #loom: MeasuredClient;
  readonly #clock: Clock;
  readonly #selection: UserSelection;
  readonly #dependencies: DependencyFigures;
  readonly #windows = new Map<string, FairnessWindow>();
  /** Of each queue: cursor of the next sample, and the users that waited longest so far. */
  readonly #samples = new Map<string, { cursor?: string; oldest: readonly string[] }>();

  constructor(loom: MeasuredClient, clock: Clock, selection: UserSelection) {
    this.#loom = loom;
    this.#clock = clock;
    this.#selection = selection;
    this.#dependencies = new DependencyFigures(loom, clock);
  }

  turn(queue: string, user: string): void {
    this.#window(queue).turn(user);
  }

  /** Never rejects: an unavailable store is a figure too. */
  async look(): Promise<readonly Sample[]> {
    try {
      const [stats, queues, workers, lagMs, ofDependencies, health] = await Promise.all([
        this.#loom.stats(),
        this.#loom.queues.list(),
        this.#loom.workers.list(),
        this.#loom.schedules.lag(),
        this.#dependencies.look(),
        this.#loom.health(),
      ]);
      const ofUsers = await Promise.all(queues.map((queue) => this.#users(queue)));
      const { deadLetters, lost, stolen } = stats.totals;
      return [
        sample('storeUp', {}, 1),
        sample('storeProblems', {}, health.problems?.length ?? 0),
        sample('deadLetters', {}, deadLetters),
        sample('leasesLost', {}, lost),
        sample('steals', {}, stolen),
        sample('liveWorkers', {}, workers.length),
        sample('schedulerLag', {}, lagMs / MS_PER_SECOND),
        ...ofDependencies,
        ...queues.flatMap(queueSamples),
        ...ofUsers.flat(),
        ...this.#graphs(),
      ];
    } catch {
      return [sample('storeUp', {}, 0), ...this.#graphs()];
    }
  }

  async #users({ queue, settings }: QueueStatus): Promise<readonly Sample[]> {
    const looked = await this.#sample(queue);
    const seen = await Promise.all(looked.map((user) => this.#withHead(user)));
    const waiting = seen
      .filter(({ queued }) => queued > 0)
      .sort((one, other) => other.headAgeMs - one.headAgeMs);
    // A user that is held back by its settings, or is in a paused queue, is not counted.
    const served = settings.paused === true ? [] : waiting.filter((user) => !isUnready(user));
    const state = this.#samples.get(queue);
    if (state !== undefined) {
      const oldest = [waiting, served].flatMap((users) => users.slice(0, this.#kept()));
      state.oldest = oldest.map(({ user }) => user);
    }
    return [
      sample('oldest', { queue }, (served[0]?.headAgeMs ?? 0) / MS_PER_SECOND),
      ...this.#fairness(queue, served.filter(couldBeServed)),
      ...this.#shown(seen, waiting).flatMap(userSamples),
    ];
  }

  /** The next page of users, and again those that waited longest. */
  async #sample(queue: string): Promise<readonly UserStatus[]> {
    if (this.#selection === 'all') return this.#everybody(queue);
    const state = this.#samples.get(queue) ?? { oldest: [] };
    this.#samples.set(queue, state);
    const page = await this.#loom.users.list({
      queue,
      configured: false,
      limit: SAMPLE,
      ...(state.cursor === undefined ? {} : { cursor: state.cursor }),
    });
    if (page.cursor === undefined) delete state.cursor;
    else state.cursor = page.cursor;
    const inPage = new Set(page.items.map(({ user }) => user));
    const named = typeof this.#selection === 'string' ? [] : this.#selection;
    const others = [...new Set([...state.oldest, ...named])].filter((user) => !inPage.has(user));
    const found = await Promise.all(others.map((user) => this.#loom.users.get(user, { queue })));
    return [...page.items, ...found.flatMap((user) => user ?? [])];
  }

  async #everybody(queue: string): Promise<readonly UserStatus[]> {
    const all: UserStatus[] = [];
    const pages = allPages(LIMITS.pageMax, (page) =>
      this.#loom.users.list({ queue, configured: false, ...page }),
    );
    for await (const { items } of pages) all.push(...items);
    return all;
  }

  async #withHead(user: UserStatus): Promise<LineHead> {
    if (user.queued === 0) return { ...user, headAgeMs: 0 };
    const filter = { state: 'queued', queue: user.queue, user: user.user, limit: 1 } as const;
    const { items } = await this.#loom.tasks.list(filter);
    const [head] = items;
    return { ...user, headAgeMs: head === undefined ? 0 : this.#ageOf(head.createdAt) };
  }

  #ageOf(moment: number): number {
    return Math.max(0, this.#clock.now() - moment);
  }

  #fairness(queue: string, served: readonly LineHead[]): readonly Sample[] {
    const users = served.map(({ user, settings }) => ({ user, weight: settings.weight ?? 1 }));
    const figures = this.#window(queue).look(users);
    if (figures === undefined) return [];
    return [
      sample('jain', { queue }, figures.jain),
      sample('minShare', { queue }, figures.minShare),
    ];
  }

  #window(queue: string): FairnessWindow {
    const window = this.#windows.get(queue) ?? new FairnessWindow();
    this.#windows.set(queue, window);
    return window;
  }

  #kept(): number {
    return topOf(this.#selection) ?? SAMPLE / 5;
  }

  #shown(seen: readonly LineHead[], waiting: readonly LineHead[]): readonly LineHead[] {
    const selection = this.#selection;
    if (selection === 'none') return [];
    if (selection === 'all') return seen;
    if (typeof selection === 'string') return waiting.slice(0, topOf(selection));
    return seen.filter(({ user }) => selection.includes(user));
  }

  #graphs(): readonly Sample[] {
    const { saves, loads, hits, touches, bytesBefore, bytesAfter } = this.#loom.graphs.stats();
    return [
      sample('graphSaves', {}, saves),
      sample('graphLoads', {}, loads),
      sample('graphHits', {}, hits),
      sample('graphExtensions', {}, touches),
      sample('graphBytes', { stage: 'before' }, bytesBefore),
      sample('graphBytes', { stage: 'after' }, bytesAfter),
    ];
  }
}

function queueSamples({
  queue,
  counts,
  deadLetters,
  runnable,
  readyUsers,
}: QueueStatus): readonly Sample[] {
  return [
    ...TASK_STATES.map((state) => sample('tasks', { queue, state }, counts[state])),
    sample('runnable', { queue }, runnable),
    sample('readyUsers', { queue }, readyUsers),
    sample('deferred', { queue }, counts.deferred),
    sample('dead', { queue }, deadLetters),
  ];
}

function userSamples({ queue, user, headAgeMs, ...of }: LineHead): readonly Sample[] {
  const labels = { queue, user };
  return [
    sample('userMaxWait', labels, headAgeMs / MS_PER_SECOND),
    sample('userQueued', labels, of.queued),
    sample('userRunning', labels, of.running),
    sample('userAhead', labels, of.ahead),
  ];
}

function sample(key: Sample['key'], labels: Sample['labels'], value: number): Sample {
  return { key, labels, value };
}
