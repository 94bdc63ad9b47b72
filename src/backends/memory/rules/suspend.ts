import type { Suspension } from '../../../domain/port/backend.ts';
import { isEnd } from '../../../domain/task/task.ts';
import type { Wait } from '../../../domain/task/wait.ts';
import type { TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { openAsk } from './asks.ts';
import { blockBy } from './dependencies.ts';
import { addReader, wake } from './end.ts';
import { eventPlace } from './events.ts';
import { enterDeferred, leave, setDeadline, stateAfter } from './places.ts';
import { answerWait, takeKept } from './signals.ts';

/** Suspends a started task; see `Suspension`. */
export function suspend(store: Store, entry: TaskEntry, suspension: Suspension): void {
  const { waitFor, wakeOn, wakeAfterMs, wait, attended, timeLeft, decides } = suspension;
  leaveEarlier(store, entry);
  const facts = entry.ownRun();
  facts.wakeOn = wakeOn;
  facts.attendedBy = attended ? entry.grant?.token : undefined;
  facts.timeLeft = attended ? timeLeft : undefined;
  facts.decidesAfter = decides ? entry.grant?.token : undefined;
  if (wakeAfterMs !== undefined) facts.wakeAt = store.now + wakeAfterMs;
  const anyFailed = link(store, entry, waitFor);
  facts.wait = wait;
  store.waiters.add(entry, store.now);
  if (wait?.for.kind === 'ask') openAsk(store, entry, wait.for.ask);
  if (wait?.for.kind === 'event') {
    store.events.enter(eventPlace(entry.owner.user, wait.for), entry, store.now);
  }
  if (entry.optional.losses > 0) entry.own().losses = 0;
  const next = stateAfter(entry, 'suspended');
  leave(store, entry);
  enterDeferred(store, entry);
  const kept = wait === undefined ? undefined : keptFor(store, entry, wait);
  if (kept !== undefined) answerWait(store, entry, kept);
  else if (next === 'queued' || (anyFailed && wakeOn === 'failure')) wake(store, entry);
  else setDeadline(store, entry);
  reindex(store, entry.owner);
}

/** A kept signal or event that answers the wait at once. */
function keptFor(
  store: Store,
  entry: TaskEntry,
  wait: Wait,
): { readonly by: 'signal' | 'event'; readonly payload: string } | undefined {
  const { for: awaited, withinMs } = wait;
  if (awaited.kind === 'event' && withinMs !== undefined) {
    const place = eventPlace(entry.owner.user, awaited);
    const payload = store.events.recent(place, withinMs, store.now);
    return payload === undefined ? undefined : { by: 'event', payload };
  }
  const payload = takeKept(store, wait);
  return payload === undefined ? undefined : { by: 'signal', payload };
}

/** Stops reading the tasks of its previous wait. */
function leaveEarlier(store: Store, entry: TaskEntry): void {
  for (const id of entry.optional.run?.waitFor ?? []) {
    const upstream = store.records.get(id);
    if (upstream !== undefined) addReader(store, upstream, -1);
  }
}

/** Waits for tasks that have not ended and reads the others; true if one of these has not finished. */
function link(store: Store, entry: TaskEntry, ids: readonly string[]): boolean {
  const stored: string[] = [];
  let anyFailed = false;
  for (const id of ids) {
    const upstream = store.records.get(id);
    if (upstream === undefined) continue;
    stored.push(id);
    if (isEnd(upstream.state)) {
      addReader(store, upstream, 1);
      anyFailed ||= upstream.state !== 'finished';
    } else {
      blockBy(entry, upstream);
    }
  }
  entry.ownRun().waitFor = stored;
  return anyFailed;
}
