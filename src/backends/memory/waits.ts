import type { WaitStore } from '../../domain/port/backend.ts';
import { publish } from './publish.ts';
import { sendSignal } from './rules/signals.ts';
import type { Store } from './store/store.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `WaitStore`. */
export function waitStore(store: Store, step: Step, look: Step): WaitStore {
  return {
    signal: (id, signal) => step(() => sendSignal(store, id, signal)),
    publish: (user, event, starts) => step(() => publish(store, user, event, starts)),
    figures: () => look(() => store.waiters.figures()),
  };
}
