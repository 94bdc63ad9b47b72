/** Keys that gather calls: one task for many of them. */
import type { EnqueueReply } from '../../../src/domain/port/backend.ts';
import type { KeySpec, NewTask } from '../../../src/domain/task/task.ts';
import { enterLine, schedule } from './graph.ts';
import { ended, type Key, type Task, type World } from './world.ts';

export type GatheringSpec = KeySpec & { readonly policy: 'debounce' | 'throttle' };

export function gathers(spec: KeySpec): spec is GatheringSpec {
  return spec.policy === 'debounce' || spec.policy === 'throttle';
}

/** A task that has run, or that never will: it takes no new input. */
function isPast(task: Task | undefined): boolean {
  return task === undefined || task.lastLease !== undefined || ended(task);
}

/** Whether the task that holds the key stands for a call; else the call makes a new one. */
function standsFor(world: World, key: Key, spec: GatheringSpec): 'as it is' | 'anew' | 'no' {
  const owner = key.gone === undefined ? world.tasks.get(key.owner) : undefined;
  if (spec.policy === 'debounce') return isPast(owner) ? 'no' : 'anew';
  if (!spec.trailing) return 'as it is';
  const isAhead = (key.began ?? world.now) > world.now;
  return isAhead && !isPast(owner) ? 'anew' : 'no';
}

/** Moves the start of a debounced task, as a call now asks for. */
function postpone(world: World, key: Key, owner: Task, spec: GatheringSpec): void {
  if (spec.policy !== 'debounce' || owner.state !== 'scheduled' || owner.dueAt === undefined)
    return;
  const latest = (key.began ?? world.now) + (spec.maxWaitMs ?? Number.POSITIVE_INFINITY);
  const due = Math.max(world.now, Math.min(world.now + spec.waitMs, latest));
  if (owner.expiresAt !== undefined) owner.expiresAt += due - owner.dueAt;
  if (due > world.now) schedule(world, owner, due);
  else enterLine(world, owner);
}

/** When the task of a call that makes a new one starts, and the window that this begins. */
export function windowFor(
  world: World,
  key: Key | undefined,
  spec: GatheringSpec,
): { readonly due: number; readonly began: number; readonly until: number | undefined } {
  const { now } = world;
  if (spec.policy === 'debounce') {
    const wait = Math.min(spec.waitMs, spec.maxWaitMs ?? Number.POSITIVE_INFINITY);
    return { due: now + wait, began: now, until: undefined };
  }
  const { began = now, until } = key ?? {};
  if (until === undefined || until <= now) return { due: now, began: now, until: now + spec.perMs };
  if (began > now) return { due: began, began, until };
  return { due: until, began: until, until: until + spec.perMs };
}

/** The answer of a key that gathers; `undefined`: the call makes a new task. */
export function gatheredBy(
  world: World,
  item: NewTask,
  { key, owner, spec }: { readonly key: Key; readonly owner: Task; readonly spec: GatheringSpec },
): EnqueueReply | undefined {
  const stands = standsFor(world, key, spec);
  if (stands === 'no') return undefined;
  const conflict = item.payload !== key.firstPayload;
  if (stands === 'anew') {
    postpone(world, key, owner, spec);
    owner.payload = item.payload;
    owner.options = item.options;
  }
  const { id, state } = owner;
  return { kind: 'existing', id, state, conflict, replaced: stands === 'anew' };
}
