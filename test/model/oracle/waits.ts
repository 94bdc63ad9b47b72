/** What suspended tasks wait for that is no task: time, signals, events and answers of people. */
import type { AskReply, GivenAnswer } from '../../../src/domain/task/ask.ts';
import type {
  SignalMessage,
  SignalReply,
  WaitEvent,
  WaitFigure,
  WaitTarget,
} from '../../../src/domain/task/wait.ts';
import * as asks from './asks.ts';
import { deliver, eventPlaceOf, keepEvent, pendingFor, placeOf } from './events.ts';
import { wake } from './graph.ts';
import { ended, type Task, type World } from './world.ts';

const KINDS = ['time', 'signal', 'ask', 'event'] as const;

/** It goes on with that; its journal says why. */
export function answer(
  world: World,
  task: Task,
  { by, payload }: { readonly by: WaitTarget['kind']; readonly payload: string },
): void {
  if (task.wait !== undefined) {
    task.journal.set(task.wait.entry, `${world.now} ${by} ${payload}`);
  }
  wake(world, task);
}

export function wakeByTime(world: World, task: Task): void {
  if (task.wait?.for.kind === 'ask') {
    world.happened.push('ask timed out');
    asks.closeAsk(task, { how: 'timed-out', at: world.now }, undefined);
  }
  const place = eventPlaceOf(task);
  if (place !== undefined && pendingFor(world, task) !== undefined) {
    world.happened.push('woken by an event later');
    hearEvent(world, task);
    deliver(world, place, (other) => hearEvent(world, other));
    return;
  }
  if (place !== undefined) world.happened.push('event waited for in vain');
  answer(world, task, { by: 'time', payload: '' });
}

export function answerAsk(world: World, id: string, given: GivenAnswer): AskReply {
  const asked = asks.askedTask(world, id);
  if (asked !== undefined && isOver(world, asked)) {
    world.happened.push('ask answered after its time');
    wakeByTime(world, asked);
  }
  return asks.answerAsk(world, id, {
    answer: given,
    wake: (task) => {
      const { choice, by, text, call } = given;
      const payload = JSON.stringify({ choice, by, text, call });
      answer(world, task, { by: 'ask', payload });
    },
  });
}

/** Those of the user who wait for it hear of it, some at once. */
export function publish(world: World, user: string, event: WaitEvent): void {
  const place = placeOf(user, event);
  keepEvent(world, place, event);
  deliver(world, place, (task) => hearEvent(world, task));
}

function hearEvent(world: World, task: Task): void {
  const pending = pendingFor(world, task);
  if (pending === undefined) return;
  if (pending.at > (task.wakeAt ?? Number.POSITIVE_INFINITY)) {
    world.happened.push('event after the time');
    answer(world, task, { by: 'time', payload: '' });
    return;
  }
  world.happened.push('woken by an event');
  answer(world, task, { by: 'event', payload: pending.event.payload });
}

/** How many wait for what, and since when the first of them does. */
export function figures(world: World): readonly WaitFigure[] {
  return KINDS.map((kind) => {
    const waiting = [...world.tasks.values()].filter(({ wait }) => wait?.for.kind === kind);
    const count = waiting.length;
    const since = Math.min(...waiting.map(({ waitsSince }) => waitsSince));
    return count === 0 ? { kind, count } : { kind, count, since };
  });
}

/** The oldest signal that one who begins to wait may take, which is kept no more. */
export function takeKept(world: World, task: Task): SignalMessage | undefined {
  if (task.wait?.for.kind !== 'signal') return undefined;
  const { name, targets } = task.wait.for;
  for (const id of targets) {
    const target = world.tasks.get(id);
    const kept = target?.signals.find((signal) => signal.name === name);
    if (target === undefined || kept === undefined) continue;
    target.signals = target.signals.filter((signal) => signal !== kept);
    return kept;
  }
  return undefined;
}

/** Its time is over, whether or not anything has come of that. */
function isOver(world: World, { wakeAt }: Task): boolean {
  return wakeAt !== undefined && wakeAt <= world.now;
}

/** Who waits for a signal of this name to this task: the oldest of them. */
function waiterFor(world: World, id: string, name: string): Task | undefined {
  const waiters = [...world.tasks.values()].filter(({ wait }) => {
    const awaited = wait?.for;
    return awaited?.kind === 'signal' && awaited.name === name && awaited.targets.includes(id);
  });
  return waiters.sort((one, other) => one.order - other.order)[0];
}

export function signal(world: World, id: string, sent: SignalMessage): SignalReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (ended(task)) return { kind: 'ended', state: task.state as 'finished' };
  const { name, payload, signalId } = sent;
  if (signalId !== undefined && task.signalIds.includes(signalId)) {
    world.happened.push('signal repeated');
    return { kind: 'repeated' };
  }
  if (signalId !== undefined) task.signalIds = [...task.signalIds, signalId];
  let waiter = waiterFor(world, id, name);
  for (; waiter !== undefined && isOver(world, waiter); waiter = waiterFor(world, id, name)) {
    world.happened.push('signal after the time');
    answer(world, waiter, { by: 'time', payload: '' });
  }
  if (waiter === undefined) {
    world.happened.push('signal kept');
    task.signals = [...task.signals, sent];
    return { kind: 'buffered' };
  }
  world.happened.push('woken by a signal');
  answer(world, waiter, { by: 'signal', payload });
  return { kind: 'delivered' };
}
