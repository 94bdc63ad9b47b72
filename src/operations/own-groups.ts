/** Error groups for a caller that sees some users only: counted from the failed tasks of these. */

import { coreOf, type Fairloom } from '../client/client.ts';
import { errorGroup } from '../client/facades/error-groups.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import type { ErrorGroupFacts, PageRequest } from '../domain/port/backend.ts';
import { errorGroupOf } from '../domain/task/cause.ts';
import type { TaskRow } from '../domain/task/task.ts';
import type { ErrorGroupPage } from './answers.ts';
import type { Look } from './look.ts';
import { pageOfOwn } from './own-pages.ts';

/** Failed tasks that one call looks at, of all users of the caller together: two pages. */
const LOOKED = 1_000;

/** What is counted of one group, and the newest of its tasks. */
interface Counted {
  readonly facts: ErrorGroupFacts;
  readonly newest: TaskRow;
}

/** Whose failed tasks are looked at, and how long. */
interface Looked {
  readonly loom: Fairloom;
  readonly users: readonly string[];
  readonly look: Look;
  /** The only group that is told; absent: all are. */
  readonly group: string | undefined;
}

/** The groups of the oldest {@link LOOKED} failed tasks of these users, the one that was seen last first. */
export async function ownGroups(
  looked: Looked,
  { limit, cursor }: PageRequest,
): Promise<ErrorGroupPage> {
  const from = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0) {
    throw new InvalidOptionError('cursor', 'the cursor of a previous page', cursor);
  }
  const { rows, isCut } = await failedOf(looked);
  const counted = [...countedBy(rows).values()];
  const meant = counted.filter(({ facts }) => facts.id === (looked.group ?? facts.id));
  const groups = meant.sort((a, b) => b.facts.lastAt - a.facts.lastAt);
  const items = groups
    .slice(from, from + limit)
    .map(({ facts, newest }) => errorGroup(facts, newest));
  const more = from + limit < groups.length ? { cursor: String(from + limit) } : {};
  return { items, searched: rows.length, isCut, ...more };
}

async function failedOf({
  loom,
  users,
  look,
}: Looked): Promise<{ readonly rows: readonly TaskRow[]; readonly isCut: boolean }> {
  const { inspect } = await coreOf(loom).connection.open();
  const sources = users.map((user) => ({
    read: (page: PageRequest) => inspect.list({ state: 'failed', user }, page),
  }));
  const { items, cursor } = await pageOfOwn(sources, { limit: LOOKED }, look);
  return { rows: items, isCut: cursor !== undefined };
}

function countedBy(rows: readonly TaskRow[]): ReadonlyMap<string, Counted> {
  const groups = new Map<string, Counted>();
  for (const row of rows) {
    const id = errorGroupOf(row.cause, row.name);
    if (id === undefined) continue;
    const known = groups.get(id);
    const at = row.endedAt ?? row.createdAt;
    const isNewest = known === undefined || at >= known.facts.lastAt;
    const facts = {
      id,
      failed: (known?.facts.failed ?? 0) + 1,
      attempts: (known?.facts.attempts ?? 0) + row.failures,
      firstAt: Math.min(known?.facts.firstAt ?? at, at),
      lastAt: Math.max(known?.facts.lastAt ?? at, at),
      sample: isNewest ? row.id : known.facts.sample,
    };
    groups.set(id, { facts, newest: isNewest ? row : known.newest });
  }
  return groups;
}
