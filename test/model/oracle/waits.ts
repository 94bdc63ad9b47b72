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
import { wake } from './graph.ts';
import { byBytes, ended, type Task, type World } from './world.ts';

/** Of one user, name and key the newest are kept. */
const EVENTS_KEPT = 32;
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
  if (task.wait?.for.kind === 'event') world.happened.push('event waited for in vain');
  answer(world, task, { by: 'time', payload: '' });
}

export function answerAsk(world: World, id: string, given: GivenAnswer): AskReply {
  return asks.answerAsk(world, id, {
    answer: given,
    wake: (task) => {
      const { choice, by, text, call } = given;
      const payload = JSON.stringify({ choice, by, text, call });
      answer(world, task, { by: 'ask', payload });
    },
  });
}

/** Everybody of the user who waits for it hears of it; all of them began after the event before. */
export function publish(world: World, user: string, event: WaitEvent): 'published' | 'repeated' {
  const place = placeOf(user, event);
  const kept = world.events.get(place) ?? [];
  if (kept.some(({ event: { eventId } }) => eventId === event.eventId)) {
    world.happened.push('event repeated');
    return 'repeated';
  }
  world.events.set(place, [...kept, { at: world.now, event }].slice(-EVENTS_KEPT));
  const waiting = [...world.tasks.values()].filter((task) => eventPlaceOf(task) === place);
  for (const task of waiting.sort((one, other) => byBytes(one.id, other.id))) {
    world.happened.push('woken by an event');
    answer(world, task, { by: 'event', payload: event.payload });
  }
  return 'published';
}

/** The newest, if it is not too old for a wait that looks back. */
export function recentEvent(world: World, task: Task): string | undefined {
  const place = eventPlaceOf(task);
  const within = task.wait?.withinMs;
  if (place === undefined || within === undefined) return undefined;
  const newest = world.events.get(place)?.at(-1);
  return newest !== undefined && world.now - newest.at <= within ? newest.event.payload : undefined;
}

function eventPlaceOf({ user, wait }: Task): string | undefined {
  return wait?.for.kind === 'event' ? placeOf(user, wait.for) : undefined;
}

function placeOf(user: string, { name, key }: Pick<WaitEvent, 'name' | 'key'>): string {
  return JSON.stringify([user, name, key]);
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
  const waiter = waiterFor(world, id, name);
  if (waiter === undefined) {
    world.happened.push('signal kept');
    task.signals = [...task.signals, sent];
    return { kind: 'buffered' };
  }
  world.happened.push('woken by a signal');
  answer(world, waiter, { by: 'signal', payload });
  return { kind: 'delivered' };
}
