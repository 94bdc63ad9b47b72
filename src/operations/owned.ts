/** What is whose: tasks, and listings of those of some users. */
import { coreOf, type Fairloom } from '../client/client.ts';
import { TaskNotFoundError } from '../domain/errors/errors.ts';
import type { Page, PageRequest } from '../domain/port/backend.ts';
import type { Around } from './operation.ts';
import { pageOfOwn } from './own-pages.ts';
import type { View } from './view.ts';

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

/** The users of a view whose rows a listing gives: the one that was asked for, or all of them. */
function usersAsked(view: View, user: string | undefined): readonly string[] {
  if (user === undefined) return view.users ?? [];
  return view.sees(user) ? [user] : [];
}

/** One page of what the caller sees of a listing, one of its users after the other. */
export function pageSeen<T>(
  { view, look }: Pick<Around, 'view' | 'look'>,
  user: string | undefined,
  request: PageRequest,
  read: (user: string | undefined, page: PageRequest) => Promise<Page<T>>,
): Promise<Page<T>> {
  if (view.users === undefined) return read(user, request);
  const sources = usersAsked(view, user).map((one) => ({
    read: (page: PageRequest) => read(one, page),
  }));
  return pageOfOwn(sources, request, look);
}
