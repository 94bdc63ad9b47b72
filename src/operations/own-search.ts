/** Searches for a caller that sees some users only. */
import type { TaskInfo } from '../client/facades/task-info.ts';
import type { Page, PageRequest } from '../domain/port/backend.ts';
import type { SearchPage } from '../search/search.ts';
import { type Condition, whereOf, whereText } from '../search/where.ts';
import type { Around } from './operation.ts';
import { pageOfOwn } from './own-pages.ts';

/** Tasks that a filter means, of the users of the view alone; how many of others were looked at is not told. */
export async function searchSeen(
  { loom, view, look }: Pick<Around, 'loom' | 'view' | 'look'>,
  filter: string,
  page: PageRequest,
): Promise<SearchPage<TaskInfo>> {
  if (view.users === undefined) return loom.tasks.search({ where: filter, ...page });
  const where = ownConditions(whereOf(filter), view.users);
  if (where === undefined) return { items: [], searched: 0 };
  const own = whereText(where);
  const read = async (part: PageRequest): Promise<Page<TaskInfo>> => {
    const { items, cursor } = await loom.tasks.search({ where: own, ...part });
    const seen = items.filter(({ user }) => view.sees(user));
    return cursor === undefined ? { items: seen } : { items: seen, cursor };
  };
  const found = await pageOfOwn([{ read }], page, look);
  return { ...found, searched: found.items.length };
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
