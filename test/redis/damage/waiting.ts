/** Tasks that wait for what is no task: one of each kind, and signals that no wait has taken. */

import type { Kit, TaskFields } from '../../../src/conformance/kit.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { ANSWER, type WaitTarget } from '../../../src/domain/task/wait.ts';

/** The field of their journals for what ends their waits. */
export const ENTRY = `${ANSWER}1`;

/** What the tasks wait for, by their ids. */
export const WAITING: Readonly<Record<string, WaitTarget>> = {
  sleeps: { kind: 'time' },
  hears: { kind: 'signal', name: 'go', targets: ['hears', 'sleeps'] },
  asks: {
    kind: 'ask',
    ask: { id: 'asks.m1', choices: ['yes', 'no'], for: ['role:x'], text: '{"title":"?"}' },
  },
  watches: { kind: 'event', name: 'paid', key: 'o:1' },
};

/** A place that an event is waited for at. */
export const PAID = { name: 'paid', key: 'o:1', keepMs: LIMITS.eventKeepMs } as const;

/** Adds them, and suspends each; whom nothing else wakes goes on after so long. */
export async function fillWaits(
  kit: Kit,
  add: (fields: TaskFields) => Promise<string>,
  { user, wakeAfterMs }: { readonly user: string; readonly wakeAfterMs?: number },
): Promise<void> {
  for (const id of Object.keys(WAITING)) await add({ id, user });
  await kit.backend.waits.signal('sleeps', { name: 'stop', payload: '"kept"', signalId: 's1' });
  await kit.backend.waits.publish(user, { ...PAID, payload: '0', eventId: 'e0' }, []);
  for (const leased of await kit.leaseMany(100, { worker: 'w3' })) {
    const awaited = WAITING[leased.id];
    if (awaited === undefined) continue;
    const after = awaited.kind === 'time' ? (wakeAfterMs ?? 3_600_000) : wakeAfterMs;
    await kit.settle(leased, {
      type: 'suspend',
      waitFor: [],
      wakeOn: 'all',
      wait: { for: awaited, entry: ENTRY },
      ...(after === undefined ? {} : { wakeAfterMs: after }),
    });
  }
}
