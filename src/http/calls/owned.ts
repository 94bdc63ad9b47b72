/** What is whose: tasks, and listings of those of some users. */
import { coreOf, type Fairloom } from '../../client/client.ts';
import { InvalidOptionError, TaskNotFoundError } from '../../domain/errors/errors.ts';
import type { Page, PageRequest } from '../../domain/port/backend.ts';
import type { View } from './view.ts';

/** Reads that one call of a listing makes at most: what they find then is a page, with a cursor. */
const READS = 10;

/**
 * What another user's is, is not there: the same error as for an id that was never given, and after the same
 * calls of the store, so that the time of an answer says no more. It comes before anything else is read.
 *
 * @throws {@link TaskNotFoundError} unless the task is one of the view's.
 */
export async function demandSeen(loom: Fairloom, view: View, id: string): Promise<void> {
  if ((await seenOf(loom, view, [id])).size === 0) throw new TaskNotFoundError(id);
}

/** Those of some ids whose tasks the view sees; with a view of all every one, stored or not. */
export async function seenOf(
  loom: Fairloom,
  view: View,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (view.users === undefined || ids.length === 0) return new Set(ids);
  const { inspect } = await coreOf(loom).connection.open();
  const owners = await inspect.owners(ids);
  return new Set(ids.filter((_, at) => view.sees(owners[at])));
}

/** The users whose rows a listing gives: the one that was asked for, those of the view, or `undefined` for all. */
export function usersAsked(view: View, user: string | undefined): readonly (string | undefined)[] {
  if (user === undefined) return view.users ?? [undefined];
  return view.sees(user) ? [user] : [];
}

/** One page of what several users have, one user after the other. */
export async function pageOver<T>(
  users: readonly (string | undefined)[],
  { limit, cursor }: PageRequest,
  read: (user: string | undefined, page: PageRequest) => Promise<Page<T>>,
): Promise<Page<T>> {
  const items: T[] = [];
  let [at, inner] = placeOf(cursor, users.length);
  for (let reads = 0; at < users.length; reads++) {
    if (reads === READS || items.length === limit) return { items, cursor: `${at}.${inner ?? ''}` };
    const left = limit - items.length;
    const page = await read(users[at], {
      limit: left,
      ...(inner === undefined ? {} : { cursor: inner }),
    });
    items.push(...page.items);
    inner = page.cursor;
    if (inner === undefined) at++;
    // One user alone needs no more than what its page had.
    else if (users.length === 1) return { items, cursor: `${at}.${inner}` };
  }
  return { items };
}

function placeOf(cursor: string | undefined, users: number): [number, string | undefined] {
  if (cursor === undefined) return [0, undefined];
  const [, digits = '', inner = ''] = /^(\d{1,6})\.(.*)$/s.exec(cursor) ?? [];
  const at = Number(digits);
  if (digits === '' || at >= users) {
    throw new InvalidOptionError('cursor', 'one of a page before', cursor);
  }
  return [at, inner === '' ? undefined : inner];
}
