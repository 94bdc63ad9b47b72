import type { ExtendReply, ExtendRequest } from '../../domain/port/backend.ts';
import { areSchedulesDue } from './rules/schedule-places.ts';
import type { Store } from './store/store.ts';

/** Extends leases, and answers leases of this worker that it did not name. See `TaskStore.extend`. */
export function extend(store: Store, request: ExtendRequest): ExtendReply {
  // Tasks of one lease may share a token: only id and token together identify a lease.
  const asked = new Map(request.leases.map(({ id, token }) => [id, token]));
  const answers = request.leases.map(({ id, token }) => {
    const entry = store.records.get(id);
    if (entry?.state !== 'started' || entry.token !== token) return 'lost';
    store.byState.started.delete(entry);
    store.byState.started.add(entry, store.now + request.leaseMs);
    return entry.optional.cancelCause === undefined ? 'ok' : 'canceling';
  });
  const given = store.workers.get(request.worker)?.lastLeases ?? [];
  const unknown = given
    .filter(({ id, token }) => {
      return store.records.get(id)?.token === token && asked.get(id) !== token;
    })
    .map(({ id, token }) => ({ id, token }));
  return { answers, unknown, now: store.now, schedulesDue: areSchedulesDue(store) };
}
