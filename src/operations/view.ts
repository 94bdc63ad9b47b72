/** What one caller of the HTTP API may see and do. */

/** What a caller may be allowed to do. */
export type Permission =
  | 'read'
  | 'enqueue'
  | 'cancel'
  | 'redrive'
  | 'run-now'
  | 'remove'
  | 'pause'
  | 'signal'
  | 'answer'
  | 'publish'
  | 'configure'
  | 'schedule'
  | 'bulk';

/** All that may be allowed. `read` is looking; each of the others allows changes of one kind. */
export const PERMISSIONS: readonly Permission[] = [
  'read',
  'enqueue',
  'cancel',
  'redrive',
  'run-now',
  'remove',
  'pause',
  'signal',
  'answer',
  'publish',
  'configure',
  'schedule',
  'bulk',
];

/**
 * What one request may: everything, looking at everything, some things with some users, or nothing. `users`
 * are the only ones that the caller learns anything of; absent: all. `by` names the caller in the audit.
 */
export type Access =
  | 'all'
  | 'read'
  | 'deny'
  | {
      /** What may be done; `read` has to be among it for looking. */
      readonly can: 'all' | readonly Permission[];
      /** The users that the caller may see; absent: all. `undefined` is refused. */
      readonly users?: readonly string[];
      /** Who it is, for the audit. */
      readonly by?: string | undefined;
    };

/** An {@link Access}, ready to be asked. */
export class View {
  /** In the order of {@link PERMISSIONS}. */
  readonly can: readonly Permission[];
  /** The only users that may be seen, sorted; `undefined`: all may. */
  readonly users: readonly string[] | undefined;
  /** Who looks. */
  readonly by: string | undefined;
  readonly #seen: ReadonlySet<string>;

  constructor(access: Exclude<Access, 'deny'>) {
    const { can, users, by } = typeof access === 'string' ? { can: access } : { ...access };
    const named: readonly string[] = can === 'all' ? PERMISSIONS : [can].flat();
    this.can = PERMISSIONS.filter((one) => named.includes(one));
    this.users = users === undefined ? undefined : [...new Set(users)].sort();
    this.by = by;
    this.#seen = new Set(this.users);
  }

  /** Whether it may see objects of this user; objects without a user only where it sees all. */
  sees(user: string | undefined): boolean {
    return this.users === undefined || (user !== undefined && this.#seen.has(user));
  }

  /** Whether both may see and do the same. */
  isLike(other: View): boolean {
    return this.scope === other.scope && this.can.join() === other.can.join();
  }

  /** Callers with the same one see the same; for what is read once for several of them. */
  get scope(): string {
    return this.users === undefined ? '*' : JSON.stringify(this.users);
  }
}
