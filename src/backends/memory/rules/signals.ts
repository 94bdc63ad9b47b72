/** Waits of suspended tasks: their answers, and signals that are kept for the next one. */
import { isEnd } from '../../../domain/task/task.ts';
import {
  answerText,
  type SignalMessage,
  type SignalReply,
  type Wait,
  type WaitTarget,
} from '../../../domain/task/wait.ts';
import type { TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import { SignalBox } from '../store/signal-box.ts';
import type { Store } from '../store/store.ts';
import { wake } from './end.ts';
import { closeAsk } from './places.ts';

/** Takes the oldest kept signal for a wait. */
export function takeKept(store: Store, { for: awaited }: Wait): string | undefined {
  if (awaited.kind !== 'signal') return undefined;
  for (const id of awaited.targets) {
    const payload = store.records.get(id)?.optional.run?.signals?.take(awaited.name);
    if (payload !== undefined) return payload;
  }
  return undefined;
}

/** Writes the answer of a wait to the journal; the task continues. */
export function answerWait(
  store: Store,
  entry: TaskEntry,
  { by, payload }: { readonly by: WaitTarget['kind']; readonly payload: string },
): void {
  const { wait, journal } = entry.ownRun();
  if (wait === undefined) return;
  const answer = answerText({ by, at: store.now, payload });
  journal.set(wait.entry, answer);
  if (wait.for.kind === 'ask') closeAsk(store, entry, wait.for.ask.id, answer);
  wake(store, entry);
}

/** Ends a wait whose time has passed by this step's clock, before maintenance does; answers whether it did. */
export function endIfOver(store: Store, entry: TaskEntry): boolean {
  const wakeAt = entry.optional.run?.wakeAt;
  if (wakeAt === undefined || wakeAt > store.now) return false;
  answerWait(store, entry, { by: 'time', payload: '' });
  reindex(store, entry.owner);
  return true;
}

/** See `WaitStore.signal`. */
export function sendSignal(store: Store, id: string, signal: SignalMessage): SignalReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (isEnd(entry.state)) return { kind: 'ended', state: entry.state };
  const { name, payload, signalId } = signal;
  const facts = entry.ownRun();
  if (facts.signals?.hasSeen(signalId) === true) return { kind: 'repeated' };
  let waiter = store.waiters.first(id, name);
  while (waiter !== undefined && endIfOver(store, waiter)) waiter = store.waiters.first(id, name);
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
