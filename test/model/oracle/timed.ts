/** Queues that charge by time: what is expected at the lease, and what it came to in the end. */
import {
  advance,
  begins,
  countsIn,
  grainsAt,
  grainsOf,
  lifted,
  linger,
  lowered,
  TURN,
  weightOfAll,
} from './fairness.ts';
import { type Person, personOf, type QueueEntry, queueOf, type Task, type World } from './world.ts';

/** What a turn of this person is charged, before it is known how long it takes. */
export function expected(queue: QueueEntry, person: Person): number {
  return person.meanRun ?? queue.meanRun ?? 1;
}

function after(mean: number | undefined, seconds: number): number {
  return mean === undefined ? seconds : mean + (seconds - mean) / 8;
}

/** A lease is over. */
export function settleTime(world: World, task: Task): void {
  const queue = queueOf(world, task.queue);
  if (queue.settings.charge !== 'time') return;
  const person = personOf(queue, task.user);
  const seconds = Math.max(0, world.now - (task.lease?.leasedAt ?? world.now)) / 1_000;
  person.meanRun = after(person.meanRun, seconds);
  queue.meanRun = after(queue.meanRun, seconds);
  const { charged } = task;
  task.charged = undefined;
  if (charged === undefined || task.chargedIn !== queue.epoch || person.epoch !== queue.epoch)
    return;
  const grains = grainsOf(seconds) - grainsOf(charged);
  const counted = countsIn(queue, person);
  if (grains < 0 && counted) {
    queue.v = Math.max(0, queue.v + ((grains / TURN) * 100) / weightOfAll(queue));
  }
  person.tag += grains;
  linger(queue, person);
  if (grains <= 0 || !countsIn(queue, person)) return;
  const ahead = ((begins(person) - queue.v) * person.weight) / 100;
  advance(queue, counted ? grains / TURN : Math.min(grains / TURN, ahead));
}

/** The queue charges by something else from now on. */
export function recount(queue: QueueEntry): void {
  queue.epoch += 1;
  for (const list of queue.lists.values()) list.clock = 0;
  for (const person of queue.people.values()) {
    if (!person.ready) continue;
    const level = grainsAt(queue.v, person.weight);
    person.tag = lifted(lowered(person.tag, level + TURN), level - TURN);
    person.epoch = queue.epoch;
  }
}
