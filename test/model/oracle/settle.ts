/** What workers say about the tasks they hold. */
import type { Decision, Settlement, Suspension } from '../../../src/domain/port/backend.ts';
import type { ChannelRefusal } from '../../../src/domain/task/channel.ts';
import type { AttemptRecord } from '../../../src/domain/task/task.ts';
import * as channels from './channels.ts';
import { grainsAt, grainsOf, joinAt, lifted, linger } from './fairness.ts';
import { callBack, end, queueUp, schedule } from './graph.ts';
import { speaks, suspend } from './runs.ts';
import { type Lease, note, personOf, queueOf, settingsOf, type Task, type World } from './world.ts';
import { writeValues } from './xcom.ts';

const EVENTS = {
  finish: 'finished',
  retry: 'retried',
  'dead-letter': 'deadLettered',
  cancel: 'canceled',
  release: 'released',
  suspend: 'suspended',
} as const;
/** Of each task's attempts the newest are kept. */
const ATTEMPTS_KEPT = 20;

export type SettleAnswer =
  | { readonly kind: 'ok'; readonly state: Task['state']; readonly repeated: boolean }
  /** `once`: it was the lease in force once, and was settled; a backend may remember that. */
  | { readonly kind: 'leaseLost'; readonly once?: Task['state'] }
  | { readonly kind: 'refused'; readonly refusal: ChannelRefusal }
  | { readonly kind: 'notFound' };

export function settleOne(world: World, settlement: Settlement): SettleAnswer {
  const { id, token, decision, channel, xcom } = settlement;
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'notFound' };
  const waits = mayCallBack(world, settlement);
  if (task.settledBy === token && !waits) return { kind: 'ok', state: task.state, repeated: true };
  const lease = waits ? task.lastLease : task.lease;
  if ((!waits && task.state !== 'started') || lease === undefined || lease.token !== token) {
    return task.settledBefore.has(token)
      ? { kind: 'leaseLost', once: task.state }
      : { kind: 'leaseLost' };
  }
  if (decision.type === 'finish' && task.cancelCause === undefined) {
    const refusal = channel && channels.write(world, channel);
    if (refusal !== undefined) return { kind: 'refused', refusal };
    writeValues(world, xcom ?? [], id);
  }
  if (task.settledBy !== undefined) task.settledBefore.add(task.settledBy);
  task.settledBy = token;
  const { cancelCause } = task;
  const asked: Decision | Suspension =
    cancelCause === undefined ? decision : { type: 'cancel', cause: cancelCause };
  note(world, task, EVENTS[decision.type]);
  if (waits) {
    world.happened.push(`handler that waited: ${decision.type}`);
    callBack(world, task);
  }
  task.decides = asked.type === 'suspend' && asked.decides === true;
  if (asked.type === 'suspend') suspend(world, task, asked);
  else apply(world, task, { decision: asked, lease });
  return { kind: 'ok', state: task.state, repeated: false };
}

/** Its handler has ended while it waited; a suspension that is sent again says nothing new. */
function mayCallBack(world: World, { id, token, decision }: Settlement): boolean {
  const task = world.tasks.get(id);
  if (task === undefined || task.lease !== undefined || !speaks(world, { id, token })) return false;
  if (decision.type !== 'suspend') return true;
  const { waitFor, wait, wakeAfterMs } = decision;
  if (task.state !== 'deferred' || wait !== undefined) return false;
  return waitFor.length === 0 && wakeAfterMs === undefined;
}

function apply(
  world: World,
  task: Task,
  { decision, lease }: { readonly decision: Decision; readonly lease: Lease },
): void {
  const attempt = { ...attemptOf(world, task, lease), decision: decision.type };
  const holder = world.workers.get(lease.worker);
  if (holder !== undefined && decision.type === 'finish') holder.attempts.succeeded += 1;
  const isFailure = decision.type === 'retry' || decision.type === 'dead-letter';
  if (holder !== undefined && isFailure) holder.attempts.failed += 1;
  switch (decision.type) {
    case 'finish':
      if (task.attempts.length > 0) keep(task, { ...attempt, outcome: 'succeeded' });
      end(world, task, { state: 'finished', result: decision.result });
      break;
    case 'retry':
      keep(task, {
        ...attempt,
        outcome: 'failed',
        cause: decision.cause,
        error: decision.error,
      });
      task.failures += 1;
      task.error = decision.error;
      world.totals.retried += 1;
      if (decision.delayMs <= 0) queueUp(world, task);
      else schedule(world, task, world.now + decision.delayMs);
      break;
    case 'dead-letter':
      keep(task, {
        ...attempt,
        outcome: 'failed',
        cause: decision.cause,
        error: decision.error,
      });
      task.failures += 1;
      end(world, task, {
        state: 'failed',
        cause: decision.cause,
        error: decision.error,
      });
      break;
    case 'cancel':
      keep(task, { ...attempt, outcome: 'canceled', cause: decision.cause });
      end(world, task, { state: 'canceled', cause: decision.cause });
      break;
    case 'release':
      keep(task, { ...attempt, outcome: 'released', cause: decision.cause });
      if (task.state === 'started') giveBack(world, task);
      if (decision.delayMs === undefined) {
        queueUp(world, task);
      } else {
        task.releases += 1;
        task.seq = undefined;
        schedule(world, task, world.now + decision.delayMs);
      }
      break;
  }
}

/** A lease that was given back has not been a turn. */
function giveBack(world: World, task: Task): void {
  const queue = queueOf(world, task.queue);
  const person = personOf(queue, task.user);
  const { chargedIn } = task;
  const { rate } = settingsOf(world, task.queue, task.user);
  const timed = queue.settings.charge === 'time';
  if (!timed && chargedIn === queue.epoch && person.epoch === queue.epoch) {
    const level = grainsAt(joinAt(queue, person), person.weight);
    person.tag = lifted(person.tag, level) - grainsOf(task.cost);
    linger(queue, person);
  }
  if (rate !== undefined) person.tat -= rate.perMs / rate.limit;
  const ours = queue.settings.rate;
  if (ours !== undefined) queue.tat -= ours.perMs / ours.limit;
}

type Attempt = Omit<AttemptRecord, 'decision' | 'outcome'>;

function attemptOf(world: World, task: Task, lease: Lease): Attempt {
  return {
    attempt: task.failures + 1,
    worker: lease.worker,
    leasedAt: lease.leasedAt,
    endedAt: world.now,
  };
}

function keep(task: Task, attempt: AttemptRecord): void {
  task.attempts = [...task.attempts, attempt].slice(-ATTEMPTS_KEPT);
}

export type ExtendAnswer = 'ok' | 'canceling' | 'lost';

export function extendOne(
  world: World,
  { id, token, leaseMs }: { readonly id: string; readonly token: string; readonly leaseMs: number },
): ExtendAnswer {
  const task = world.tasks.get(id);
  if (task?.lease === undefined || task.lease.token !== token) return 'lost';
  task.lease.until = world.now + leaseMs;
  return task.cancelCause === undefined ? 'ok' : 'canceling';
}

/** Ends the leases whose time is over, the oldest first. */
export function sweep(world: World): void {
  if (world.now < world.sweepAfter) return;
  const over = [...world.tasks.values()]
    .flatMap((task) => (task.lease === undefined ? [] : [{ task, lease: task.lease }]))
    .filter(({ lease }) => lease.until <= world.now)
    .sort((one, other) => one.lease.until - other.lease.until || one.task.order - other.task.order);
  for (const { task, lease } of over) lose(world, task, lease);
}

/** First back to its place, then after a pause, then it is given up: it may be what kills workers. */
function lose(world: World, task: Task, lease: Lease): void {
  const attempt = attemptOf(world, task, lease);
  note(world, task, 'leaseEnded');
  task.losses += 1;
  world.totals.lost += 1;
  const holder = world.workers.get(lease.worker);
  if (holder !== undefined && holder.startedAt <= lease.leasedAt) holder.attempts.lost += 1;
  const { cancelCause } = task;
  if (cancelCause !== undefined) {
    keep(task, { ...attempt, outcome: 'lost', decision: 'cancel' });
    end(world, task, { state: 'canceled', cause: cancelCause });
  } else if (task.losses === 1) {
    keep(task, { ...attempt, outcome: 'lost', decision: 'release' });
    queueUp(world, task);
  } else if (task.losses === 2) {
    keep(task, { ...attempt, outcome: 'lost', decision: 'release' });
    schedule(world, task, world.now + 5_000 + (task.tokenNumber % 1_000));
  } else {
    keep(task, { ...attempt, outcome: 'lost', decision: 'dead-letter' });
    end(world, task, { state: 'failed', cause: { type: 'lost', leases: 3 } });
  }
}
