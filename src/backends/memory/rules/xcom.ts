import { LIMITS } from '../../../domain/limits.ts';
import type { Page, PageRequest, XComStore } from '../../../domain/port/backend.ts';
import {
  type XComFact,
  type XComPlace,
  type XComValue,
  type XComWrite,
  xcomEnd,
} from '../../../domain/task/xcom.ts';
import type { Store } from '../store/store.ts';
import type { XComEntry } from '../store/xcom-entries.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `XComStore`. */
export function xcomStore(store: Store, step: Step, look: Step): XComStore {
  return {
    write: (writes) => step(() => writeXCom(store, writes, undefined)),
    read: (places) => look(() => places.map((place) => valueAt(store, place))),
    list: (where, page) => look(() => list(store, where, page)),
    namespaces: (user, page) => look(() => namespaces(store, user, page)),
  };
}

/** Changes values, in order, for a task or for none. */
export function writeXCom(
  store: Store,
  writes: readonly XComWrite[],
  writer: string | undefined,
): void {
  const { xcom, now } = store;
  for (const write of writes) {
    if (write.type === 'delete') {
      xcom.delete(write.place);
      continue;
    }
    const { place, text, ttlMs } = write;
    xcom.set(place, { text, ttlMs, writer, pushedAt: now, lookAt: now + ttlMs });
  }
}

/** Removes expired values; true when it stopped at its bound. */
export function sweepXCom(store: Store, most: number): boolean {
  const { xcom, now } = store;
  for (let looked = 0; looked < most; looked++) {
    const entry = xcom.first();
    if (entry === undefined || entry.lookAt > now) return false;
    const end = endOf(store, entry);
    if (end === undefined) xcom.lookLater(entry, now + LIMITS.xcomHoldMs);
    else if (end > now) xcom.lookLater(entry, end);
    else xcom.delete(entry.place);
  }
  return true;
}

function endOf(store: Store, entry: XComEntry): number | undefined {
  const writer = entry.writer === undefined ? undefined : store.records.get(entry.writer);
  if (writer === undefined) return xcomEnd(entry, undefined);
  return xcomEnd(entry, { endedAt: writer.endedAt, readers: writer.optional.readers });
}

/** `undefined` when it has expired. */
function factOf(store: Store, entry: XComEntry): XComFact | undefined {
  const end = endOf(store, entry);
  if (end !== undefined && end <= store.now) return undefined;
  const { place, writer, pushedAt } = entry;
  return {
    ...place,
    pushedAt,
    ...(writer === undefined ? {} : { writer }),
    ...(end === undefined ? {} : { expiresAt: end }),
  };
}

function valueAt(store: Store, place: XComPlace): XComValue | undefined {
  const entry = store.xcom.get(place);
  const fact = entry === undefined ? undefined : factOf(store, entry);
  return entry === undefined || fact === undefined ? undefined : { ...fact, text: entry.text };
}

function list(
  store: Store,
  { user, namespace }: { readonly user: string; readonly namespace: string },
  { limit, cursor }: PageRequest,
): Page<XComFact> {
  const most = Math.min(limit, LIMITS.pageMax);
  const items: XComFact[] = [];
  let last: string | undefined;
  let looked = 0;
  for (const entry of store.xcom.keysOf(user, namespace, cursor)) {
    if (looked === most && last !== undefined) return { items, cursor: last };
    looked++;
    last = entry.place.key;
    const fact = factOf(store, entry);
    if (fact !== undefined) items.push(fact);
  }
  return { items };
}

function namespaces(store: Store, user: string, { limit, cursor }: PageRequest): Page<string> {
  const most = Math.min(limit, LIMITS.pageMax);
  const items: string[] = [];
  for (const namespace of store.xcom.namespacesOf(user, cursor)) {
    if (items.length === most) return { items, cursor: items.at(-1) ?? '' };
    items.push(namespace);
  }
  return { items };
}
