/** Queues that charge by time: what is expected at the lease, and what it came to in the end. */
import { grainsAt, grainsOf, lifted, lowered, TURN } from './fairness.ts';
import { type Lane, laneOf, type Person, personOf, type Task, type World } from './world.ts';

/** What a turn of this person is charged, before it is known how long it takes. */
export function expected(lane: Lane, person: Person): number {
  return person.meanRun ?? lane.meanRun ?? 1;
}

function after(mean: number | undefined, seconds: number): number {
  return mean === undefined ? seconds : mean + (seconds - mean) / 8;
}

/** A lease is over. */
export function settleTime(world: World, task: Task): void {
  const lane = laneOf(world, task.queue);
  if (lane.settings.charge !== 'time') return;
  const person = personOf(lane, task.user);
  const seconds = Math.max(0, world.now - (task.lease?.leasedAt ?? world.now)) / 1_000;
  person.meanRun = after(person.meanRun, seconds);
  lane.meanRun = after(lane.meanRun, seconds);
  const { charged } = task;
  task.charged = undefined;
  if (charged === undefined || task.chargedIn !== lane.epoch || person.epoch !== lane.epoch) return;
  const before = person.tag - grainsOf(charged);
  const least = grainsAt(lane.v, person.weight) - grainsOf(charged);
  person.tag = lifted(before + grainsOf(seconds), least);
}

/** The queue charges by something else from now on. */
export function recount(lane: Lane): void {
  lane.epoch += 1;
  for (const list of lane.lists.values()) list.clock = 0;
  for (const person of lane.people.values()) {
    if (!person.ready) continue;
    person.tag = lowered(person.tag, grainsAt(lane.v, person.weight) + TURN);
    person.epoch = lane.epoch;
  }
}
