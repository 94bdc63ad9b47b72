/**
 * The stored name of a task names the code that it needs: `resize`, or `resize@2` with a version.
 * Backends compare nothing else: workers register the same names, and a version without a worker is
 * an unknown name.
 */

/** Separates name and version; neither contains it. */
const MARK = '@';

/** Versions of tasks: `pin` stores the version of the definition, `latest` none. */
export type Versioning = 'pin' | 'latest';

/** All values of {@link Versioning}. */
export const VERSIONINGS: readonly Versioning[] = ['pin', 'latest'];

/** A name, with or without a version. */
export interface NameParts {
  /** Name of the task; it selects the handler. */
  readonly name: string;
  /** Version of that handler; absent: the newest that the leasing worker has. */
  readonly version?: string;
}

/** A name with a version. */
export function versionedName(name: string, version: string | undefined): string {
  return version === undefined ? name : `${name}${MARK}${version}`;
}

/** Whether a stored name has a version. */
export function hasVersion(stored: string): boolean {
  return stored.includes(MARK);
}

/** The name without its version. */
export function nameIn(stored: string): string {
  const at = stored.indexOf(MARK);
  return at < 0 ? stored : stored.slice(0, at);
}

/** Parts of a stored name; internal tasks have no version, but may need that of another task. */
export function namePartsIn(stored: string): NameParts {
  const at = stored.indexOf(MARK);
  if (at < 0) return { name: stored };
  const name = stored.slice(0, at);
  return isOwn(stored) ? { name } : { name, version: stored.slice(at + 1) };
}

/** Name of an internal task that needs workers with this code. */
export function ownNameFor(own: string, code: string | undefined): string {
  return code === undefined ? own : `${own}${MARK}${code}`;
}

/** The code that a task needs: its own, or that of the task whose code it runs first. */
export function codeNeeded(stored: string): NameParts {
  if (!isOwn(stored)) return namePartsIn(stored);
  const at = stored.indexOf(MARK);
  return at < 0 ? { name: stored } : namePartsIn(stored.slice(at + 1));
}

/** Whether a name matches a task: `resize` any version of it, `resize@2` that one. */
export function isNamed(stored: string, asked: string): boolean {
  return stored === asked || stored.startsWith(`${asked}${MARK}`);
}

/** A worker's versions of a task, the newest first. */
export function versionsOf(names: readonly string[], name: string): readonly string[] {
  const versions = names.flatMap((one) => {
    const parts = namePartsIn(one);
    return parts.name === name && parts.version !== undefined ? [parts.version] : [];
  });
  return [...new Set(versions)].sort((a, b) => compareVersions(b, a));
}

const PARTS = /\d+|\D+/g;

/**
 * Order of versions: numbers in them by value, the rest by characters, and a prefix before what it
 * begins: `2` < `10`, `1.9` < `1.10`, `2026-01-31` < `2026-02-01`.
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

/** Prefix of keys with a scope; no caller's key begins so. */
const SCOPE = '~v.';
const SCOPED = /^~v\.[^:]*:/;

/** Key of tasks with this name, and version if they have one: tasks with another one have separate keys. */
export function scopedKey(scope: string, key: string): string {
  return `${SCOPE}${scope}:${key}`;
}

/** A key as the caller gave it. */
export function shownKey(key: string): string {
  return key.replace(SCOPED, '');
}

function isOwn(stored: string): boolean {
  return stored.startsWith('~');
}
