/**
 * The name that a task is stored under says which code it needs: `resize`, or `resize@2` when it keeps a
 * version. Backends look at nothing else: workers register what they have in the same words, and a
 * version that none of them has is a name that none of them knows.
 */

/** Stands between name and version; neither can hold it. */
const MARK = '@';

/** What a task keeps: `pin` the version of its definition, `latest` none. */
export type Versioning = 'pin' | 'latest';

/** Both of them. */
export const VERSIONINGS: readonly Versioning[] = ['pin', 'latest'];

/** A name with a version, or without one. */
export interface NameParts {
  /** Chooses the handler. */
  readonly name: string;
  /** Of that handler; absent: the newest that the leasing worker has. */
  readonly version?: string;
}

/** The name of a task that keeps its version. */
export function versionedName(name: string, version: string | undefined): string {
  return version === undefined ? name : `${name}${MARK}${version}`;
}

/** Whether a name says a version. */
export function hasVersion(stored: string): boolean {
  return stored.includes(MARK);
}

/** The name without its version. */
export function nameIn(stored: string): string {
  const at = stored.indexOf(MARK);
  return at < 0 ? stored : stored.slice(0, at);
}

/** Both parts of a name; tasks of the engine's own have no version, but may need one of others. */
export function namePartsIn(stored: string): NameParts {
  const at = stored.indexOf(MARK);
  if (at < 0) return { name: stored };
  const name = stored.slice(0, at);
  return isOwn(stored) ? { name } : { name, version: stored.slice(at + 1) };
}

/** A task of the engine's own that is left to workers with this code. */
export function ownNameFor(own: string, code: string | undefined): string {
  return code === undefined ? own : `${own}${MARK}${code}`;
}

/** The code that a task needs, in parts: its own, or that of the task whose code it runs first. */
export function codeNeeded(stored: string): NameParts {
  if (!isOwn(stored)) return namePartsIn(stored);
  const at = stored.indexOf(MARK);
  return at < 0 ? { name: stored } : namePartsIn(stored.slice(at + 1));
}

/** Whether a task is meant by a name: `resize` is any version of it, `resize@2` that one. */
export function isNamed(stored: string, asked: string): boolean {
  return stored === asked || stored.startsWith(`${asked}${MARK}`);
}

/** Which versions a worker has of a task, the newest first. */
export function versionsOf(names: readonly string[], name: string): readonly string[] {
  const versions = names.flatMap((one) => {
    const parts = namePartsIn(one);
    return parts.name === name && parts.version !== undefined ? [parts.version] : [];
  });
  return [...new Set(versions)].sort((a, b) => compareVersions(b, a));
}

const PARTS = /\d+|\D+/g;

/**
 * The order of versions: numbers in them by their size, all else by its characters, and what is longer
 * behind what it begins with: `2` < `10`, `1.9` < `1.10`, `2026-01-31` < `2026-02-01`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.match(PARTS) ?? [], b.match(PARTS) ?? []];
  for (const [at, one] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const [size, otherSize] = [Number(one), Number(other)];
    const isCount = Number.isFinite(size) && Number.isFinite(otherSize);
    if (isCount && size !== otherSize) return size - otherSize;
    if (!isCount && one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Before a key that belongs to tasks of one name: no caller's key begins so. */
const SCOPE = '~v.';
const SCOPED = /^~v\.[^:]*:/;

/** The key of tasks of a name, and of a version where they keep one: others have keys of their own. */
export function scopedKey(scope: string, key: string): string {
  return `${SCOPE}${scope}:${key}`;
}

/** A key as its caller gave it. */
export function shownKey(key: string): string {
  return key.replace(SCOPED, '');
}

function isOwn(stored: string): boolean {
  return stored.startsWith('~');
}
