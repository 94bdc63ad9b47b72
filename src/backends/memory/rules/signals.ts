/** Waits of suspended tasks: what ends them, and signals that are kept for the next one. */
import type { WaitStore } from '../../../domain/port/backend.ts';
import { isEnd } from '../../../domain/task/task.ts';
import {
  type Awaited,
  answerText,
  type Signal,
  type SignalReply,
  type Wait,
} from '../../../domain/task/wait.ts';
import type { TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import { SignalBox } from '../store/signal-box.ts';
import type { Store } from '../store/store.ts';
import { wake } from './end.ts';
import { closeAsk } from './places.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `WaitStore`. */
export function waitStore(store: Store, step: Step, look: Step): WaitStore {
  return {
    signal: (id, signal) => step(() => sendSignal(store, id, signal)),
    figures: () => look(() => store.waiters.figures()),
  };
}

/** A signal that was kept for it, and is kept no more. */
export function takeKept(store: Store, { for: awaited }: Wait): string | undefined {
  if (awaited.kind !== 'signal') return undefined;
  for (const id of awaited.targets) {
    const payload = store.records.get(id)?.optional.run?.signals?.take(awaited.name);
    if (payload !== undefined) return payload;
  }
  return undefined;
}

/** What it waits for has come: it is written to its journal, and the task goes on. */
export function answerWait(
  store: Store,
  entry: TaskEntry,
  { by, payload }: { readonly by: Awaited['kind']; readonly payload: string },
): void {
  const { wait, journal } = entry.ownRun();
  if (wait === undefined) return;
  const answer = answerText({ by, at: store.now, payload });
  journal.set(wait.entry, answer);
  if (wait.for.kind === 'ask') closeAsk(store, entry, wait.for.ask.id, answer);
  wake(store, entry);
}

/** The time of a wait is over, if it has one: the task goes on. */
export function wakeByTime(store: Store, entry: TaskEntry): void {
  if (entry.optional.run?.wait === undefined) wake(store, entry);
  else answerWait(store, entry, { by: 'time', payload: '' });
}

function sendSignal(store: Store, id: string, signal: Signal): SignalReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (isEnd(entry.state)) return { kind: 'ended', state: entry.state };
  const { name, payload, signalId } = signal;
  const facts = entry.ownRun();
  if (facts.signals?.hasSeen(signalId) === true) return { kind: 'repeated' };
  const waiter = store.waiters.first(id, name);
  if (waiter === undefined) {
    facts.signals ??= new SignalBox();
    const limit = facts.signals.keep(signal);
    if (limit !== undefined) return { kind: 'full', limit };
    facts.signals.remember(signalId);
    return { kind: 'buffered' };
  }
  if (signalId !== undefined) {
    facts.signals ??= new SignalBox();
    facts.signals.remember(signalId);
  }
  answerWait(store, waiter, { by: 'signal', payload });
  reindex(store, waiter.owner);
  return { kind: 'delivered' };
}
