/** What tabs list: read anew with each look, as many rows as a screen may have. */
import { epochMs } from '../../base/globals.ts';
import type { Fairloom } from '../../client/client.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import { isEnd } from '../../domain/task/task.ts';
import type { RunInfo } from '../../runs/run-info.ts';
import { shownLength } from '../terminal/moments.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, cellText } from '../terminal/text-table.ts';
import type { TimedUser } from '../views/recent-starts.ts';
import { selectRuns } from '../views/select-runs.ts';
import { rowsOf, selectTasks, take } from '../views/select-tasks.ts';
import type { TopSnapshot } from '../views/snapshot.ts';
import { runView, taskView, workerView } from '../views/views.ts';
import type { Sort, Tab, Target, Verb } from './keys.ts';
import { type Listing, listingOf } from './listing.ts';

/** Rows that are looked at of a tab; a screen has fewer. */
const MOST = 100;

/** Users, in the order that was chosen. */
export function userListing({ users, isCut }: TopSnapshot, sort: Sort, style: Style): Listing {
  const target = ({ user, queue, why }: TimedUser): Target => {
    const may: readonly Verb[] = [why === 'paused' ? 'resume' : 'pause'];
    return { tab: 'users', id: user, queue, may };
  };
  const name = ({ user }: TimedUser): string => user;
  return listingOf(sortedUsers(users, sort), userColumns(style), { target, name, isCut });
}

/** Users in the order of a column; equals by name. */
function sortedUsers(users: readonly TimedUser[], sort: Sort): readonly TimedUser[] {
  return [...users].sort((one, other) => compare(sort, one, other) || byName(one, other));
}

/** What another tab lists now. */
export async function otherListing(
  loom: Fairloom,
  tab: Exclude<Tab, 'users'>,
  style: Style,
): Promise<Listing> {
  const now = epochMs();
  switch (tab) {
    case 'tasks': {
      const { items, more } = await take(selectTasks(loom, {}), MOST);
      return taskListing(tab, { items, more }, taskView(now).columns(style));
    }
    case 'dead': {
      const { items, more } = await take(
        rowsOf((page) => loom.dead.list(page)),
        MOST,
      );
      return taskListing(tab, { items, more }, taskView(now).columns(style));
    }
    case 'runs': {
      const { items, more } = await take(selectRuns(loom, {}), MOST);
      return listingOf(items, runView(now).columns(style), {
        target: (run) => ({ tab, id: run.id, queue: undefined, may: verbsOfRun(run) }),
        name: ({ id, name, user }) => `${id} ${name} ${user}`,
        isCut: more,
      });
    }
    case 'workers':
      return listingOf(await loom.workers.list(), workerView(now).columns(style), {
        target: ({ id }) => ({ tab, id, queue: undefined, may: [] }),
        name: ({ id, host }) => `${id} ${host}`,
        isCut: false,
      });
  }
}

function taskListing(
  tab: Tab,
  { items, more }: { readonly items: readonly TaskInfo[]; readonly more: boolean },
  columns: readonly Column<TaskInfo>[],
): Listing {
  return listingOf(items, columns, {
    target: ({ id, state }) => ({ tab, id, queue: undefined, may: verbsOfTask(state) }),
    name: ({ id, name, user }) => `${id} ${name} ${user}`,
    isCut: more,
  });
}

function verbsOfTask(state: TaskInfo['state']): readonly Verb[] {
  if (!isEnd(state)) return ['cancel'];
  return state === 'failed' ? ['redrive'] : [];
}

function verbsOfRun({ state, paused }: RunInfo): readonly Verb[] {
  if (isEnd(state)) return state === 'failed' ? ['redrive'] : [];
  return ['cancel', paused === undefined ? 'pause' : 'resume'];
}

function compare(sort: Sort, one: TimedUser, other: TimedUser): number {
  switch (sort) {
    case 'running':
      return other.running - one.running || other.queued - one.queued;
    case 'queued':
      return other.queued - one.queued;
    case 'ahead':
      return one.ahead - other.ahead;
    case 'user':
      return byName(one, other);
  }
}

function byName(one: TimedUser, other: TimedUser): number {
  if (one.user !== other.user) return one.user < other.user ? -1 : 1;
  return one.queue < other.queue ? -1 : 1;
}

function userColumns(style: Style): readonly Column<TimedUser>[] {
  return [
    { title: 'USER', cell: ({ user }) => cellText(user) },
    { title: 'QUEUE', cell: ({ queue }) => queue },
    { title: 'WEIGHT', cell: ({ weight }) => String(weight), align: 'right' },
    { title: 'IN LINE', cell: ({ queued }) => String(queued), align: 'right' },
    { title: 'RUNNING', cell: ({ running }) => String(running), align: 'right' },
    { title: 'SHARE', cell: ({ share }) => percent(share), align: 'right' },
    { title: 'FAIR', cell: ({ fairShare }) => percent(fairShare), align: 'right' },
    { title: 'AHEAD', cell: ({ ahead }) => ahead.toFixed(1), align: 'right' },
    { title: 'WAIT P95', cell: ({ waitP95Ms }) => length(waitP95Ms), align: 'right' },
    { title: 'LINE OVER', cell: ({ etaMs }) => length(etaMs), align: 'right' },
    { title: 'WHY', cell: ({ why }) => (why === 'in line' ? style.green(why) : why) },
  ];
}

function length(ms: number | undefined): string {
  return ms === undefined ? '–' : shownLength(ms);
}

function percent(part: number | undefined): string {
  return part === undefined ? '–' : `${(part * 100).toFixed(1)} %`;
}
