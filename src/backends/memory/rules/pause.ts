/** Paused runs: their tasks are set aside at their turn, until the end of the pause. */
import { LIMITS } from '../../../domain/limits.ts';
import type { ChangeReply, PauseReply } from '../../../domain/port/backend.ts';
import { isEnd } from '../../../domain/task/task.ts';
import { nextState } from '../../../domain/task/transition.ts';
import { byArrival, type TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { enterDeferred, enterQueue, leave } from './places.ts';

/** The run whose pause stops a task: its own, or an enclosing one. Owners may form a cycle. */
export function pauserOf(store: Store, entry: TaskEntry): TaskEntry | undefined {
  let one: TaskEntry | undefined = entry;
  for (let depth = 0; depth < LIMITS.graphDepth && one?.optional.run !== undefined; depth++) {
    const { pause, pausedBy, owner }: RunLinks = one.optional.run;
    if (pause !== undefined) return one;
    const above: string | undefined = pausedBy ?? owner;
    one = above === undefined ? undefined : store.records.get(above);
  }
  return undefined;
}

/** Whether it was suspended to decide, and has not yet: a pause leaves it in line, and it is leased. */
export function mayDecide({ optional: { run }, settledToken }: TaskEntry): boolean {
  return run?.decidesAfter !== undefined && run.decidesAfter === settledToken;
}

type RunLinks = NonNullable<TaskEntry['optional']['run']>;

/** Sets a queued task aside until the pause of `run` ends; it keeps its place in line. */
export function setAside(store: Store, entry: TaskEntry, run: TaskEntry): void {
  leave(store, entry);
  enterDeferred(store, entry);
  entry.ownRun().asideFor = run.id;
  const facts = run.ownRun();
  facts.aside ??= new Set();
  facts.aside.add(entry.id);
  reindex(store, entry.owner);
}

/** See `RunStore.pause`. */
export function pause(store: Store, id: string, reason: string | undefined): PauseReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  const { state } = entry;
  if (isEnd(state)) return { kind: 'wrong-state', state };
  const facts = entry.ownRun();
  facts.pause ??= { since: store.now, ...(reason === undefined ? {} : { reason }) };
  setAsideNow(store, entry);
  return { kind: 'ok', pause: facts.pause };
}

/** See `RunStore.pausePart`. */
export function pausePart(store: Store, id: string, run: string): ChangeReply {
  const refusal = refused(store, id);
  if (refusal !== undefined) return refusal;
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  entry.ownRun().pausedBy = run;
  setAsideNow(store, entry);
  return { kind: 'ok', state: entry.state };
}

/** See `RunStore.resume`. */
export function resume(store: Store, id: string): ChangeReply {
  const refusal = refused(store, id);
  if (refusal !== undefined) return refusal;
  const entry = store.records.get(id);
  if (entry?.optional.run !== undefined) {
    const facts = entry.ownRun();
    facts.pause = undefined;
    for (const one of takeAside(store, entry, Number.POSITIVE_INFINITY)) putBack(store, one);
  }
  return { kind: 'ok', ...(entry === undefined ? {} : { state: entry.state }) };
}

/** Takes up to `most` tasks that its pause has set aside, by arrival. */
export function takeAside(store: Store, entry: TaskEntry, most: number): readonly TaskEntry[] {
  const ids = [...(entry.optional.run?.aside ?? [])];
  const all = ids.flatMap((id) => store.records.get(id) ?? []).sort(byArrival);
  const some = all.slice(0, most);
  if (all.length > 0) {
    entry.ownRun().aside =
      all.length > most ? new Set(all.slice(most).map(({ id }) => id)) : undefined;
  }
  return some;
}

/** Ends the pause of an ended task; one that can be redriven stays paused. */
export function leavePause(store: Store, entry: TaskEntry): void {
  const { run } = entry.optional;
  if (run?.asideFor !== undefined) {
    store.records.get(run.asideFor)?.optional.run?.aside?.delete(entry.id);
    entry.ownRun().asideFor = undefined;
  }
  if (run?.pause !== undefined && entry.state !== 'failed') entry.ownRun().pause = undefined;
}

function refused(store: Store, id: string): ChangeReply | undefined {
  const state = store.records.get(id)?.state;
  if (state === undefined) return { kind: 'not-found' };
  const isOver = state === 'finished' || state === 'canceled';
  return isOver ? { kind: 'wrong-state', state } : undefined;
}

function setAsideNow(store: Store, entry: TaskEntry): void {
  if (nextState(entry.state, 'paused', entry) === undefined || mayDecide(entry)) return;
  const run = pauserOf(store, entry);
  if (run !== undefined) setAside(store, entry, run);
}

function putBack(store: Store, entry: TaskEntry): void {
  entry.ownRun().asideFor = undefined;
  leave(store, entry);
  enterQueue(store, entry);
}
