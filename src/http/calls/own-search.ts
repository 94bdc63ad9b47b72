/** Searches for a caller that sees some users only. */
import type { Fairloom } from '../../client/client.ts';
import type { TaskInfo } from '../../client/views/task-info.ts';
import type { PageRequest } from '../../domain/port/backend.ts';
import type { SearchPage } from '../../search/search.ts';
import { type Condition, whereOf, whereText } from '../../search/where.ts';
import type { View } from './view.ts';

/** Tasks that a filter means, of the users of the view alone; how many of others were looked at is not told. */
export async function searchSeen(
  loom: Fairloom,
  view: View,
  filter: string,
  page: PageRequest,
): Promise<SearchPage<TaskInfo>> {
  if (view.users === undefined) return loom.tasks.search({ where: filter, ...page });
  const where = ownConditions(whereOf(filter), view.users);
  if (where === undefined) return { items: [], searched: 0 };
  const { items: found, cursor } = await loom.tasks.search({ where: whereText(where), ...page });
  const items = found.filter(({ user }) => view.sees(user));
  return { items, searched: items.length, ...(cursor === undefined ? {} : { cursor }) };
}

/** The same conditions for some users only; `undefined` when they mean none of these. */
function ownConditions(
  where: readonly Condition[],
  users: readonly string[],
): readonly Condition[] | undefined {
  let own = users;
  const others = where.filter((one) => {
    if (one.word !== 'user' || one.isNot || !('values' in one)) return true;
    own = own.filter((user) => one.values.includes(user));
    return false;
  });
  if (own.length === 0) return undefined;
  return [{ word: 'user', isNot: false, values: own }, ...others];
}
