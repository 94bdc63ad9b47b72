/** Writes where tasks stand: what is found by state, by moment, by whom they wait for. */

import { askPlace, askSets } from '../../domain/task/ask.ts';
import { errorGroupOf } from '../../domain/task/cause.ts';
import { awaitedFrom } from '../../domain/task/dependency-edge.ts';
import { isEnd } from '../../domain/task/task.ts';
import { nameIn } from '../../domain/task/task-name.ts';
import type { TaskEntry } from '../memory/store/entities.ts';
import { eventPair } from '../redis/wire/ask.ts';
import { levelPart } from '../redis/wire/keys.ts';
import { pairOf } from './keys-reader.ts';
import { stampText } from './stamps.ts';
import type { TaskContext } from './write-tasks.ts';

/** Writes a task into the places that its state and its facts say. */
export async function writePlaces(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys, stamps } = context;
  const { id, optional, owner } = entry;
  const { queue } = owner;
  const member = stamps.arrivalText(entry) + id;
  if (entry.state === 'scheduled') {
    await writer.score(keys.state('scheduled'), member, entry.dueAt ?? 0);
    await writer.score(keys.scheduled(queue.queue, owner.user), member, entry.dueAt ?? 0);
  }
  if (entry.state === 'deferred') {
    await writer.score(keys.state('deferred'), id, stamps.arrival(entry));
  }
  if (optional.deadline !== undefined && !isEnd(entry.state)) {
    await writer.score(keys.deadlines, member, optional.deadline);
  }
  if (optional.cascadeAt !== undefined) await writer.score(keys.cascade, id, stamps.end(entry));
  if (optional.parkedUntil !== undefined) await writeParked(context, entry);
  if (entry.state === 'failed') await writeFailure(context, entry);
  await writeEdges(context, entry);
  await writeWait(context, entry);
}

/** Writes users' lines, and the lists of those that have ended. */
export async function writeLines({ writer, keys, store }: TaskContext): Promise<void> {
  for (const queue of store.queues.values()) {
    for (const user of queue.users.values()) {
      for (const [at, line] of user.levels.entries()) {
        const key = keys.line(queue.queue, levelPart(at + 1), user.user);
        for (const { id } of line ?? []) await writer.push(key, id);
      }
    }
  }
  const ended = [...store.records.values()].filter(({ state }) => isEnd(state));
  for (const { id, state } of ended.sort((a, b) => a.endOrder - b.endOrder)) {
    await writer.push(keys.ended(state), id);
  }
}

async function writeParked(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys, stamps } = context;
  const { id, name, level, owner } = entry;
  const { queue } = owner.queue;
  const member = pairOf(owner.user, level + stampText(stamps.place(entry)) + id);
  await writer.score(keys.parked(queue), member, 0);
  await writer.score(keys.parkedOfName(queue, name), member, 0);
  const turn = owner.queue.parked.turnOf(entry);
  await writer.score(keys.parkedUsers(queue, name), level + owner.user, turn);
  await writer.hash(keys.parkedNames(queue), name, '');
}

async function writeFailure(
  { writer, keys, stamps }: TaskContext,
  entry: TaskEntry,
): Promise<void> {
  const stamp = stamps.end(entry);
  await writer.score(keys.failedNamed(nameIn(entry.name)), entry.id, stamp);
  const group = errorGroupOf(entry.optional.cause, entry.name);
  if (group !== undefined) await writer.score(keys.failedOf(group), entry.id, stamp);
}

/** Whom it waits for, and who waits for it. */
async function writeEdges(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys, stamps, store } = context;
  const { id, optional } = entry;
  const stamp = stamps.arrival(entry);
  const from = awaitedFrom({ user: entry.owner.user, edges: entry.edges });
  for (const other of optional.blocked ?? []) {
    await writer.member(keys.blocked(id), other);
    if (!store.missing.awaits(other, entry)) continue;
    await writer.score(keys.missing(pairOf(other, from)), id, stamp);
    await writer.score(keys.missingIds, pairOf(other, from), 1);
  }
  for (const waiter of optional.waiting ?? []) {
    await writer.score(keys.waiting(id), waiter.id, stamps.arrival(waiter));
  }
  for (const waiter of optional.awaitingRedrive ?? []) {
    await writer.score(keys.awaitingRedrive(id), waiter.id, stamps.arrival(waiter));
  }
  if (hasDependents(entry)) await writer.hash(keys.ears, id, 'd');
  for (const one of optional.run?.aside ?? []) {
    const entryAside = store.records.get(one);
    if (entryAside !== undefined) {
      await writer.score(keys.aside(id), one, stamps.arrival(entryAside));
    }
  }
}

/** Whether tasks wait for its end, or for its redrive. */
export function hasDependents({ optional }: TaskEntry): boolean {
  return (optional.waiting?.size ?? 0) + (optional.awaitingRedrive?.size ?? 0) > 0;
}

/** Where it is found while it waits for what is no task. */
async function writeWait(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys, stamps, store } = context;
  const { wait, asks } = entry.optional.run ?? {};
  if (wait === undefined) return;
  const { user } = entry.owner;
  const { id } = entry;
  await writer.score(keys.waits(wait.for.kind), id, store.waiters.since(entry));
  if (wait.for.kind === 'signal') {
    for (const target of wait.for.targets) {
      await writer.score(keys.waiters(target, wait.for.name), id, stamps.arrival(entry));
    }
  }
  if (wait.for.kind === 'event') {
    const place = pairOf(user, eventPair(wait.for));
    await writer.score(keys.eventWaiters(place), id, store.events.begunAt(entry) ?? 0);
  }
  if (wait.for.kind !== 'ask') return;
  const mark = askPlace(wait.for.ask.id)?.mark ?? '';
  const asked = String(asks?.get(mark)?.record.askedAt ?? 0).padStart(16, '0');
  for (const [whose, name] of askSets(user, wait.for.ask.for)) {
    await writer.score(keys.asks(whose, name), `${asked} ${mark}.${id}`, 0);
  }
}
