/**
 * The independent oracle: what a backend must answer. Written from `docs/mechanics.md` with plain
 * maps and linear scans; it shares types with `src/domain/` and no logic. Slow and obvious.
 */

import type { QueuePatch, Retention, UserPatch } from '../../../src/domain/fairness/settings.ts';
import type {
  BatchOptions,
  CancelReply,
  ChangeReply,
  DueReply,
  DueRequest,
  EditedTask,
  EnqueueReply,
  EventStart,
  ExtendRequest,
  FireReply,
  FireRequest,
  Leased,
  LeaseRef,
  LeaseRequest,
  PauseReply,
  PublishReply,
  QueueInfo,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
  SettleRequest,
  Stats,
  UserInfo,
  WorkerSpec,
} from '../../../src/domain/port/backend.ts';
import type { AskFilter, AskRecord, AskReply, GivenAnswer } from '../../../src/domain/task/ask.ts';
import type { Cause } from '../../../src/domain/task/cause.ts';
import type { ChannelWrites } from '../../../src/domain/task/channel.ts';
import {
  type AttemptRecord,
  isEnd,
  type NewTask,
  type TaskRecord,
  type TaskState,
} from '../../../src/domain/task/task.ts';
import type {
  SignalMessage,
  SignalReply,
  WaitEvent,
  WaitFigure,
} from '../../../src/domain/task/wait.ts';
import type { XComPlace, XComWrite } from '../../../src/domain/task/xcom.ts';
import * as asks from './asks.ts';
import * as channels from './channels.ts';
import * as control from './control.ts';
import { buryExpired, enqueueAll, enqueueEach } from './enqueue.ts';
import { isKept } from './events.ts';
import { runCascade, upstreamsOf } from './graph.ts';
import { type Given, leaseTurns, tellsPause } from './lease.ts';
import * as runs from './runs.ts';
import * as schedules from './schedules.ts';
import { type ExtendAnswer, extendOne, type SettleAnswer, settleOne } from './settle.ts';
import * as snapshots from './snapshots.ts';
import { closeStep, nextDueAt, restsUntil, upkeep } from './upkeep.ts';
import * as view from './view.ts';
import * as waits from './waits.ts';
import {
  copyOf,
  newWorld,
  ofUser,
  type Task,
  tasksWhere,
  type Worker,
  type World,
} from './world.ts';
import * as xcom from './xcom.ts';

/** A clock that steps back further than this is believed. */
const CLOCK_STEP_MS = 5_000;
/** No step for this long means that the backend was away … */
const OUTAGE_MS = 8_000;
/** … and workers get this long to extend before a sweep. */
const PAUSE_MS = 5_000;

export interface LeaseForecast {
  readonly leases: readonly Leased[];
  /** Something may be left: it stopped before there was nothing to give. */
  readonly stopped: boolean;
  readonly nextDueAt: number | undefined;
  /** A backend may count this in: it looks at users then who only rest. */
  readonly restsUntil: number | undefined;
  readonly schedulesDue: boolean;
  readonly now: number;
}

interface Publishing {
  readonly user: string;
  readonly event: WaitEvent;
  readonly starts: readonly EventStart[];
}

export class Oracle {
  #world: World;
  /** As the latest lease or tick was told. */
  #nextDueAt: number | undefined;

  constructor(clock: number, retention: Retention, leastKeptMs: number) {
    this.#world = newWorld(clock, retention, leastKeptMs);
  }

  get world(): World {
    return this.#world;
  }

  get nextDueAt(): number | undefined {
    return this.#nextDueAt;
  }

  set clock(ms: number) {
    this.#world.clock = ms;
  }

  enqueue(items: readonly NewTask[], { atomic, fence }: BatchOptions): readonly EnqueueReply[] {
    this.#open();
    buryExpired(this.#world, items, fence);
    if (!atomic) {
      const replies = enqueueEach(this.#world, items, fence);
      this.#close();
      return replies;
    }
    const draft = copyOf(this.#world);
    const replies = enqueueAll(draft, items);
    const last = replies.at(-1);
    if (last?.kind !== 'refused') {
      this.#world = draft;
      this.#close();
      return replies;
    }
    this.#close();
    const others: EnqueueReply = { kind: 'refused', refusal: { type: 'batch-refused' } };
    return items.map((_, at) => (at === replies.length - 1 ? last : others));
  }

  lease(request: LeaseRequest): LeaseForecast {
    this.#open();
    this.#heard(request.worker);
    return this.#lease(request);
  }

  settle(request: SettleRequest): {
    readonly answers: readonly SettleAnswer[];
    readonly lease: LeaseForecast | undefined;
  } {
    this.#open();
    this.#heard(request.worker);
    const answers = request.settlements.map((settlement) => settleOne(this.#world, settlement));
    if (request.lease === undefined) {
      this.#close();
      return { answers, lease: undefined };
    }
    runCascade(this.#world);
    return { answers, lease: this.#lease(request.lease) };
  }

  extend(request: ExtendRequest): {
    readonly answers: readonly ExtendAnswer[];
    readonly unknown: readonly LeaseRef[];
    readonly schedulesDue: boolean;
    readonly now: number;
  } {
    const world = this.#open();
    const worker = this.#heard(request.worker);
    const answers = request.leases.map((lease) =>
      extendOne(world, { ...lease, leaseMs: request.leaseMs }),
    );
    // Tasks of one lease may have equal tokens.
    const asked = new Set(request.leases.map(({ id, token }) => `${token} ${id}`));
    const unknown = (worker?.request.leases ?? []).filter(
      ({ id, token }) =>
        world.tasks.get(id)?.lease?.token === token && !asked.has(`${token} ${id}`),
    );
    upkeep(world);
    this.#close();
    return { answers, unknown, schedulesDue: schedules.areDue(world), now: world.now };
  }

  tick(): Omit<LeaseForecast, 'leases' | 'stopped'> {
    const world = this.#open();
    upkeep(world);
    this.#close();
    return { ...this.#due([...world.queues.keys()]), now: world.now };
  }

  cancel(id: string, cause: Cause): CancelReply {
    return this.#step((world) => control.cancelTask(world, id, cause));
  }

  redrive(id: string, edited: EditedTask | undefined): ChangeReply {
    return this.#step((world) => control.redriveTask(world, id, edited));
  }

  remove(id: string): ChangeReply {
    return this.#step((world) => control.removeTask(world, id));
  }

  runNow(id: string): ChangeReply {
    return this.#step((world) => control.runTaskNow(world, id));
  }

  pause(id: string, reason: string | undefined): PauseReply {
    return this.#step((world) => runs.pause(world, id, reason));
  }

  pausePart(id: string, run: string): ChangeReply {
    return this.#step((world) => runs.pausePart(world, id, run));
  }

  resume(id: string): ChangeReply {
    return this.#step((world) => runs.resume(world, id));
  }

  signal(id: string, signal: SignalMessage): SignalReply {
    return this.#step((world) => waits.signal(world, id, signal));
  }

  publish(user: string, event: WaitEvent, starts: readonly EventStart[]): PublishReply {
    const reply = this.#publish(this.#open(), { user, event, starts });
    this.#world.happened.push(`event ${reply.kind}`);
    this.#close();
    return reply;
  }

  answerAsk(id: string, answer: GivenAnswer): AskReply {
    return this.#step((world) => waits.answerAsk(world, id, answer));
  }

  ask(id: string): AskRecord | undefined {
    return asks.askOf(this.#world, id);
  }

  /** Ids of open questions, the oldest first. */
  openAsks(filter: AskFilter): readonly string[] {
    return asks.openAsks(this.#world, filter);
  }

  waitFigures(): readonly WaitFigure[] {
    return waits.figures(this.#world);
  }

  checkpoint(lease: LeaseRef, what: runs.Checkpoint): ReturnType<typeof runs.checkpoint> {
    return this.#step((world) => runs.checkpoint(world, lease, what));
  }

  writeChannel(lease: LeaseRef, channel: ChannelWrites): ReturnType<typeof runs.writeChannel> {
    return this.#step((world) => runs.writeChannel(world, lease, channel));
  }

  channels(run: string): Readonly<Record<string, string>> {
    return channels.read(this.#world, run);
  }

  /** On behalf of no task. */
  writeValues(writes: readonly XComWrite[]): void {
    this.#step((world) => xcom.writeValues(world, writes, undefined));
  }

  values(places: readonly XComPlace[]): readonly unknown[] {
    const world = this.#look();
    return places.map((place) => xcom.valueAt(world, place));
  }

  valueKeys(user: string, namespace: string): unknown {
    return xcom.keysIn(this.#look(), user, namespace);
  }

  journal(id: string): Readonly<Record<string, string>> {
    return runs.journalOf(this.#world, id);
  }

  saveGraph(hash: string, body: string): 'saved' | 'known' {
    return this.#step((world) => snapshots.saveGraph(world, hash, body));
  }

  loadGraph(hash: string): snapshots.GraphForecast {
    return this.#step((world) => snapshots.loadGraph(world, hash));
  }

  setUser(user: string, patch: UserPatch, queue: string | undefined): void {
    this.#step((world) => control.setUser(world, user, { patch, queue }));
  }

  setQueue(queue: string, patch: QueuePatch): void {
    this.#step((world) => control.setQueue(world, queue, patch));
  }

  setSchedule(change: ScheduleChange): ScheduleSetReply {
    return this.#step((world) => schedules.set(world, change));
  }

  removeSchedule(id: string): boolean {
    return this.#step((world) => schedules.remove(world, id));
  }

  schedules(): readonly ScheduleRecord[] {
    return schedules.all(this.#world);
  }

  /** One schedule, and how late the latest of all is. */
  schedule(id: string): {
    readonly record: ScheduleRecord | undefined;
    readonly now: number;
    readonly lag: number;
  } {
    // A look is no step: that it was taken is not remembered.
    const world = { ...this.#world, now: shown(this.#world) };
    const record = this.schedules().find((one) => one.id === id);
    return { record, now: world.now, lag: schedules.lag(world) };
  }

  due(request: DueRequest): DueReply {
    return this.#step((world) => schedules.due(world, request));
  }

  fire(request: FireRequest): FireReply {
    return this.#step((world) => schedules.fire(world, request));
  }

  leave(owner: string): void {
    this.#step((world) => schedules.leave(world, owner));
  }

  register(spec: WorkerSpec, starts: boolean): void {
    this.#step((world) => control.registerWorker(world, spec, starts));
  }

  unregister(id: string): void {
    this.#step((world) => control.unregisterWorker(world, id));
  }

  record(id: string): TaskRecord | undefined {
    const task = this.#world.tasks.get(id);
    return task === undefined ? undefined : view.recordOf(task);
  }

  records(): readonly TaskRecord[] {
    return [...this.#world.tasks.values()].map(view.recordOf);
  }

  /** In the order of the state's index: due time, creation, lease end, or end; ties by arrival. */
  list(state: TaskState): readonly TaskRecord[] {
    const moment = ({ dueAt = 0, lease, endOrder }: Task): number =>
      isEnd(state) ? endOrder : (lease?.until ?? dueAt);
    return tasksWhere(this.#world, (task) => task.state === state)
      .sort((one, other) => moment(one) - moment(other) || one.order - other.order)
      .map(view.recordOf);
  }

  /** A user's line: critical ones first, then level by level. */
  queued(queue: string, user: string): readonly string[] {
    return ofUser(this.#world, queue, user)
      .filter((task) => task.state === 'queued')
      .sort((one, other) => other.level - one.level || (one.seq ?? 0) - (other.seq ?? 0))
      .map(({ id }) => id);
  }

  attempts(id: string): readonly AttemptRecord[] {
    const task = this.#world.tasks.get(id);
    return task === undefined ? [] : view.attemptsOf(task);
  }

  user(user: string, queue: string): UserInfo {
    return view.userInfoOf(this.#world, queue, user);
  }

  queue(queue: string): QueueInfo {
    return view.queueInfoOf(this.#world, queue);
  }

  runnable(queue: string): number {
    return view.runnableOf(this.#world, queue);
  }

  /** Those that were heard of late, by id. */
  workers(): readonly view.WorkerFacts[] {
    return view.workersOf(this.#look());
  }

  stats(): Stats {
    return view.statsOf(this.#world);
  }

  #due(queues: readonly string[]): Omit<LeaseForecast, 'leases' | 'stopped' | 'now'> {
    const world = this.#world;
    this.#nextDueAt = nextDueAt(world, queues);
    const schedulesDue = schedules.areDue(world);
    return { nextDueAt: this.#nextDueAt, restsUntil: restsUntil(world), schedulesDue };
  }

  #step<T>(change: (world: World) => T): T {
    const answer = change(this.#open());
    this.#close();
    return answer;
  }

  /** What it starts is stored first, all or none. */
  #publish(world: World, { user, event, starts }: Publishing): PublishReply {
    if (isKept(world, user, event)) return { kind: 'repeated' };
    const others = schedules.unknownAt(world, { user, event: event.name }, starts);
    if (others !== undefined) return { kind: 'schedules', schedules: others };
    const tasks = starts.flatMap(({ task }) => task ?? []);
    if (tasks.length > 0) {
      const draft = copyOf(world);
      const replies = enqueueAll(draft, tasks);
      const last = replies.at(-1);
      const id = tasks[replies.length - 1]?.id ?? '';
      if (last?.kind === 'refused') return { kind: 'refused', id, refusal: last.refusal };
      this.#world = draft;
      for (const { schedule, task } of starts) {
        const isNew = replies.some((reply) => reply.kind === 'created' && reply.id === task?.id);
        if (task === undefined || !isNew) continue;
        schedules.noteStart(draft, schedule, task.id);
        draft.happened.push('event starts a task');
      }
    }
    waits.publish(this.#world, user, event);
    return { kind: 'published' };
  }

  /** Reads the clock, which may not step back a little. */
  #look(): World {
    const world = this.#world;
    world.now = shown(world);
    xcom.noteOver(world);
    return world;
  }

  /** Begins a step: a long silence delays the sweep. */
  #open(): World {
    const world = this.#look();
    if (world.seen - world.clock > CLOCK_STEP_MS) {
      world.sweepAfter = Math.min(world.sweepAfter, world.now + PAUSE_MS);
      world.hasGoneBack = true;
    }
    const isPaused = world.sweepAfter > world.seen;
    if (!isPaused && world.seen > 0 && world.now - world.seen > OUTAGE_MS) {
      world.sweepAfter = world.now + PAUSE_MS;
    }
    world.seen = world.now;
    return world;
  }

  #close(): void {
    runCascade(this.#world);
    closeStep(this.#world);
  }

  #heard(id: string): Worker | undefined {
    const worker = this.#world.workers.get(id);
    if (worker === undefined) return undefined;
    control.hear(this.#world, worker);
    return worker;
  }

  #lease(request: LeaseRequest): LeaseForecast {
    const world = this.#world;
    const worker = world.workers.get(request.worker);
    if (worker === undefined) throw new Error(`worker ${request.worker} is not registered`);
    control.welcome(world, worker);
    const resent = worker.request.id === request.requestId;
    if (!resent) upkeep(world);
    const { given, stopped } = resent
      ? { given: this.#again(worker), stopped: false }
      : leaseTurns(world, worker, request);
    if (!resent) {
      const leases = given.map(({ task, token }) => ({ id: task.id, token }));
      worker.request = { id: request.requestId, leases };
    }
    // Who ended in this lease has told its dependents before the worker hears of what it was given.
    runCascade(world);
    const leases = given.map((each) => view.leasedOf(world, each));
    this.#close();
    const queues = request.queues.map(({ queue }) => queue);
    return { leases, stopped, ...this.#due(queues), now: world.now };
  }

  /** What a request that is sent again was given, as far as it still holds, by arrival. */
  #again(worker: Worker): Given[] {
    const world = this.#world;
    const given = worker.request.leases.flatMap(({ id, token }) => {
      const task = world.tasks.get(id);
      if (task?.lease?.token !== token) return [];
      const upstreams = upstreamsOf(world, task);
      const paused = tellsPause(world, task);
      return [{ task, token, alone: task.losses >= 2, upstreams, paused }];
    });
    return given.sort((a, b) => a.task.order - b.task.order);
  }
}

/** What the clock is taken to show: a small step back is not believed. */
function shown({ clock, seen }: World): number {
  return seen - clock <= CLOCK_STEP_MS ? Math.max(clock, seen) : clock;
}
