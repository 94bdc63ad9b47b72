import { compareUtf8 } from '../../../base/utf8-order.ts';
import { type XComPlace, xcomPlaceText } from '../../../domain/task/xcom.ts';
import { SortedList } from './sorted-list.ts';

/** A value as the embedded backend keeps it. */
export interface XComEntry {
  readonly place: XComPlace;
  /** Text of the place. */
  readonly name: string;
  text: string;
  ttlMs: number;
  pushedAt: number;
  writer: string | undefined;
  /** When to check whether it has expired. Changes only while the entry is in no index. */
  lookAt: number;
}

/** One namespace of one user. */
interface Space {
  readonly namespace: string;
  readonly entries: SortedList<XComEntry>;
}

/** All values, by place, by key within a namespace, and by the time of their next check. */
export class XComEntries {
  private readonly entries = new Map<string, XComEntry>();
  private readonly users = new Map<string, SortedList<Space>>();
  private readonly byLook = new SortedList<XComEntry>(byLook);

  get(place: XComPlace): XComEntry | undefined {
    return this.entries.get(xcomPlaceText(place));
  }

  /** Stores a value, in place of an earlier one. */
  set(place: XComPlace, facts: Omit<XComEntry, 'place' | 'name'>): void {
    const name = xcomPlaceText(place);
    const known = this.entries.get(name);
    if (known !== undefined) {
      this.byLook.delete(known);
      Object.assign(known, facts);
      this.byLook.add(known);
      return;
    }
    const entry: XComEntry = { place, name, ...facts };
    this.entries.set(name, entry);
    this.byLook.add(entry);
    this.#spaceOf(place).entries.add(entry);
  }

  delete(place: XComPlace): void {
    const entry = this.get(place);
    if (entry === undefined) return;
    const { user, namespace } = place;
    this.entries.delete(entry.name);
    this.byLook.delete(entry);
    const spaces = this.users.get(user);
    const space = this.#space(user, namespace);
    if (spaces === undefined || space === undefined) return;
    space.entries.delete(entry);
    if (space.entries.size > 0) return;
    spaces.delete(space);
    if (spaces.size === 0) this.users.delete(user);
  }

  all(): Iterable<XComEntry> {
    return this.entries.values();
  }

  /** The value with the earliest check. */
  first(): XComEntry | undefined {
    return this.byLook.first();
  }

  lookLater(entry: XComEntry, at: number): void {
    this.byLook.delete(entry);
    entry.lookAt = at;
    this.byLook.add(entry);
  }

  /** Values of a namespace by key, those after `after` only. */
  *keysOf(user: string, namespace: string, after: string | undefined): Generator<XComEntry> {
    const entries = this.#space(user, namespace)?.entries;
    if (entries === undefined) return;
    const isBefore = (entry: XComEntry): boolean => isUpTo(entry.place.key, after);
    yield* entries.from(entries.countWhile(isBefore));
  }

  /** Namespaces of a user by name, those after `after` only. */
  *namespacesOf(user: string, after: string | undefined): Generator<string> {
    const spaces = this.users.get(user);
    if (spaces === undefined) return;
    for (const { namespace } of spaces.from(spaces.countWhile((s) => isUpTo(s.namespace, after)))) {
      yield namespace;
    }
  }

  #space(user: string, namespace: string): Space | undefined {
    return this.users.get(user)?.find({ namespace, entries: NOBODY });
  }

  #spaceOf({ user, namespace }: XComPlace): Space {
    const known = this.#space(user, namespace);
    if (known !== undefined) return known;
    const space = { namespace, entries: new SortedList<XComEntry>(byKey) };
    const spaces = this.users.get(user) ?? new SortedList<Space>(byNamespace);
    spaces.add(space);
    this.users.set(user, spaces);
    return space;
  }
}

const NOBODY = new SortedList<XComEntry>(byKey);

function isUpTo(name: string, after: string | undefined): boolean {
  return after !== undefined && compareUtf8(name, after) <= 0;
}

/** Orders the values of a namespace. */
function byKey(a: XComEntry, b: XComEntry): number {
  return compareUtf8(a.place.key, b.place.key);
}

/** Orders the namespaces of a user. */
function byNamespace(a: Space, b: Space): number {
  return compareUtf8(a.namespace, b.namespace);
}

/** Orders by the time of the next check. */
function byLook(a: XComEntry, b: XComEntry): number {
  return a.lookAt - b.lookAt || compareUtf8(a.name, b.name);
}
