import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Leased, LeaseReply, LeaseRequest, UpstreamFact } from '../../domain/port/backend.ts';
import { isEnd } from '../../domain/task/task.ts';
import { type Choice, choose, headOf, isAbandoned, type Scope } from './rules/choose.ts';
import { madeDeadLetters } from './rules/dead-letters.ts';
import { upstreamOf } from './rules/edges.ts';
import { cascade, end, endIfExpired } from './rules/end.ts';
import { type Brought, bringBack, parkLeft, wakeKnowing } from './rules/parking.ts';
import { mayDecide, pauserOf, setAside } from './rules/pause.ts';
import { enterStarted, leaveAsServed, liftLimits, park } from './rules/places.ts';
import { areSchedulesDue } from './rules/schedule-places.ts';
import { rejoin, scopeOf, wakeFor } from './rules/workers.ts';
import type { QueueEntry, TaskEntry } from './store/entities.ts';
import { jump } from './store/leavers.ts';
import { boundRate, charge, queueOpen, reindex } from './store/ready-index.ts';
import type { Store, WorkerEntry } from './store/store.ts';
import { startTag } from './store/tag-order.ts';
import { toRecord } from './store/task-record.ts';
import { nextDueAt, tickSteps } from './tick.ts';

/** A queue in one lease: the queue, this worker's scope in it, and the worker's stride. */
interface Share {
  readonly queue: QueueEntry;
  readonly scope: Scope | undefined;
  readonly step: number;
  pass: number;
}

/** A choice, and its task. */
interface Turn {
  readonly choice: Choice;
  readonly entry: TaskEntry;
}

/** State of one lease. */
interface Batch {
  readonly worker: WorkerEntry;
  readonly request: LeaseRequest;
  readonly given: Leased[];
  unknownNames: number;
  /** Tasks parked by this lease, since its worker does not know their names. */
  readonly newlyParked: TaskEntry[];
  /** It stopped although tasks may be left. */
  stopped: boolean;
}

/** One lease: due maintenance, then turns until the slots are full. See `TaskStore.lease`. */
export function lease(store: Store, request: LeaseRequest): LeaseReply {
  const worker = store.workers.get(request.worker);
  if (worker === undefined) {
    throw new InvalidOptionError('worker', 'a registered worker', request.worker);
  }
  rejoin(store, worker);
  store.line.delete(worker);
  worker.token = false;
  if (worker.lastRequest === request.requestId) return repeat(store, worker);
  const ticked = tickSteps(store);
  const batch = fill(store, worker, request);
  // A task with an unknown name may have ended: its dependents are updated in this step.
  const left = batch.unknownNames > 0 && cascade(store, LIMITS.cascadeStep);
  worker.lastRequest = request.requestId;
  const leases = batch.given;
  worker.lastLeases = leases;
  if (leases.length === 0 && request.wait && !batch.stopped && !ticked) store.line.add(worker);
  else for (const { queue } of request.queues) wakeFor(store, store.queue(queue), 1);
  const reply = answer(
    store,
    leases,
    batch.stopped || ticked || left,
    request.queues.map(({ queue }) => queue),
  );
  for (const { queue } of request.queues) wakeKnowing(store, store.queue(queue), batch.newlyParked);
  return store.deadLetters.length === 0 ? reply : { ...reply, ...madeDeadLetters(store) };
}

function fill(store: Store, worker: WorkerEntry, request: LeaseRequest): Batch {
  const shares = request.queues.map(({ queue: queueName, weight, pass }): Share => {
    const queue = store.queue(queueName);
    boundRate(store, queue);
    return { queue, scope: scopeOf(worker, queue), step: 1 / weight, pass };
  });
  const batch: Batch = {
    worker,
    request,
    given: [],
    unknownNames: 0,
    newlyParked: [],
    stopped: false,
  };
  let left = false;
  const brought: Brought[] = [];
  for (const { queue } of shares) {
    left = bringBack(store, queue, { worker, slots: request.limit }, brought) || left;
  }
  while (batch.given.length < request.limit && !batch.stopped) {
    const turn = nextTurn(store, shares);
    if (turn === undefined) break;
    const entry = headOf(turn.choice.user);
    if (entry === undefined) break;
    take(store, { choice: turn.choice, entry }, batch);
    if (batch.given.at(-1)?.id === entry.id) turn.share.pass += turn.share.step;
  }
  parkLeft(store, brought);
  // Parked tasks that it knows are left, and it has slots for them.
  if (left && batch.given.length < request.limit) batch.stopped = true;
  return batch;
}

function nextTurn(
  store: Store,
  shares: readonly Share[],
): { readonly share: Share; readonly choice: Choice } | undefined {
  let best: { readonly share: Share; readonly choice: Choice } | undefined;
  for (const share of shares) {
    if (best !== undefined && best.share.pass <= share.pass) continue;
    if (!queueOpen(store, share.queue)) continue;
    const choice = choose(share.queue, share.scope);
    if (choice !== undefined) best = { share, choice };
  }
  return best;
}

/** Starts the chosen task, unless its name is unknown here or it must run alone. */
function take(store: Store, turn: Turn, batch: Batch): void {
  const { entry } = turn;
  const { request } = batch;
  if (isPassedBy(store, entry, batch)) {
    batch.unknownNames++;
    batch.stopped = batch.unknownNames >= LIMITS.unknownNamesPerLease;
    return;
  }
  const alone = entry.optional.losses >= LIMITS.maxLost - 1;
  if (alone && batch.given.length > 0) {
    batch.stopped = true;
    return;
  }
  start(store, turn, request);
  // Built now: later turns of this lease may end other tasks.
  batch.given.push(toLeased(store, entry, alone));
  if (alone) batch.stopped = true;
}

/** Skips a task whose time has passed, whose run has ended or is paused, or whose name is unknown here. */
function isPassedBy(store: Store, entry: TaskEntry, { worker, newlyParked }: Batch): boolean {
  // Maintenance ends a bounded number per step, and may have left this one.
  if (endIfExpired(store, entry)) return true;
  if (isAbandoned(store, entry)) {
    const run = entry.optional.run?.owner ?? '';
    end(store, entry, { event: 'canceled', cause: { type: 'run-ended', run } });
    return true;
  }
  const pauser = pauserOf(store, entry);
  if (pauser !== undefined && !mayDecide(entry)) {
    setAside(store, entry, pauser);
    return true;
  }
  if (worker.names.has(entry.name)) return false;
  park(store, entry);
  newlyParked.push(entry);
  return true;
}

function start(store: Store, { choice, entry }: Turn, request: LeaseRequest): void {
  const { list } = choice;
  const user = entry.owner;
  const { queue } = user;
  if (choice.v !== undefined) jump(queue, choice.v);
  charge(store, entry, list?.clock);
  if (list !== undefined) list.clock = startTag(user);
  if (choice.stolen) queue.totals.stolen++;
  leaveAsServed(entry);
  queue.counts.queued--;
  const number = Math.max(entry.tokenNumber + 1, store.now * 1_000);
  entry.grant = store.grantOf(number, request);
  liftLimits(store, entry);
  if (entry.optional.expiresInMs !== undefined) entry.own().expiresInMs = undefined;
  enterStarted(store, entry, store.now + (queue.settings.leaseMs ?? request.leaseMs));
  reindex(store, user);
}

/** A repeated request: its leases that are still in force. */
function repeat(store: Store, worker: WorkerEntry): LeaseReply {
  const given = worker.lastLeases.flatMap(({ id, token }) => {
    const entry = store.records.get(id);
    return entry?.token === token ? [entry] : [];
  });
  const leases = given
    .sort((a, b) => a.order - b.order)
    .map((entry) => toLeased(store, entry, entry.optional.losses >= LIMITS.maxLost - 1));
  return answer(store, leases, false, worker.spec.queues);
}

function answer(
  store: Store,
  leases: readonly Leased[],
  more: boolean,
  queues: readonly string[],
): LeaseReply {
  const due = nextDueAt(store, queues);
  const wait = due === undefined ? LIMITS.floorMs : Math.min(LIMITS.floorMs, due - store.now);
  return {
    leases,
    more,
    ...(due === undefined ? {} : { nextDueAt: due }),
    waitMs: Math.max(0, wait),
    schedulesDue: areSchedulesDue(store),
    now: store.now,
  };
}

const NO_UPSTREAMS: readonly UpstreamFact[] = [];

function toLeased(store: Store, entry: TaskEntry, alone: boolean): Leased {
  const { retries, timeoutMs } = entry.owner.queue.settings;
  let leased: Leased = {
    id: entry.id,
    token: entry.token ?? '',
    attempt: entry.optional.failures + 1,
    losses: entry.optional.losses,
    leaseUntil: entry.leaseUntil ?? 0,
    leasedAt: entry.grant?.leasedAt ?? 0,
    createdAt: entry.createdAt,
    name: entry.name,
    queue: entry.owner.queue.queue,
    user: entry.owner.user,
    level: entry.level,
    payload: entry.payload,
    options: entry.options,
    releases: entry.optional.releases,
    alone,
    upstreams: entry.dependsOn.length === 0 ? NO_UPSTREAMS : upstreamsOf(store, entry),
  };
  const { releasedMs } = entry.optional;
  if (releasedMs !== undefined) leased = { ...leased, releasedMs };
  if (mayDecide(entry) && pauserOf(store, entry) !== undefined)
    leased = { ...leased, paused: true };
  if (retries === undefined && timeoutMs === undefined) return leased;
  const attemptSettings = {
    ...(retries === undefined ? {} : { retries }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return { ...leased, attemptSettings };
}

/** States, results and errors of the dependencies, the latter two within the budget. */
function upstreamsOf(store: Store, entry: TaskEntry): readonly UpstreamFact[] {
  let bytesLeft = LIMITS.upstreamBytes;
  return entry.dependsOn.map((id): UpstreamFact => {
    // A dependency that was missing was not waited for, even if it has been stored since.
    const isAbsent = entry.optional.absent?.has(id) === true;
    const upstream = isAbsent ? undefined : upstreamOf(store, entry, id);
    if (upstream === undefined || !isEnd(upstream.state)) {
      return { id, name: upstream?.name ?? '', state: 'missing', cut: false };
    }
    const { result, error } = toRecord(upstream);
    const size = Buffer.byteLength(result ?? '') + Buffer.byteLength(error ?? '');
    const fits = size <= bytesLeft;
    if (fits) bytesLeft -= size;
    return {
      id,
      name: upstream.name,
      state: upstream.state,
      ...(result !== undefined && fits ? { result } : {}),
      ...(error !== undefined && fits ? { error } : {}),
      cut: !fits,
    };
  });
}
