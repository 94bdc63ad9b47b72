/** What suspended tasks wait for that is no task: time and signals. */
import type { SignalMessage, SignalReply } from '../../../src/domain/task/wait.ts';
import { wake } from './graph.ts';
import { ended, type Task, type World } from './world.ts';

/** It goes on with that; its journal says why. */
export function answer(world: World, task: Task, by: 'time' | 'signal', payload: string): void {
  if (task.wait !== undefined) {
    task.journal.set(task.wait.entry, `${world.now} ${by} ${payload}`);
  }
  wake(world, task);
}

export function wakeByTime(world: World, task: Task): void {
  answer(world, task, 'time', '');
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
  answer(world, waiter, 'signal', payload);
  return { kind: 'delivered' };
}
