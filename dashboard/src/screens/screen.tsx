/** Which screen an address means. */
import type { VNode } from 'preact';
import { Empty } from '../parts/shown.tsx';
import { placeOf, placesHere } from '../shell/places.ts';
import { address, linkTo } from '../state/address.ts';
import { isLimited } from '../state/session.ts';
import { AskScreen } from './asks/ask-screen.tsx';
import { AsksScreen } from './asks/asks-screen.tsx';
import { AuditScreen } from './audit/audit-screen.tsx';
import { BulkListScreen, BulkScreen } from './bulk/bulk-screen.tsx';
import { DeadScreen } from './dead/dead-screen.tsx';
import { OverviewScreen } from './overview/overview-screen.tsx';
import { QueuesScreen } from './queues/queues-screen.tsx';
import { RunScreen } from './runs/run-screen.tsx';
import { RunsScreen } from './runs/runs-screen.tsx';
import { ScheduleScreen } from './schedules/schedule-screen.tsx';
import { SchedulesScreen } from './schedules/schedules-screen.tsx';
import { TaskScreen } from './tasks/task-screen.tsx';
import { TasksScreen } from './tasks/tasks-screen.tsx';
import { UserScreen } from './users/user-screen.tsx';
import { UsersScreen } from './users/users-screen.tsx';
import { WorkersScreen } from './workers/workers-screen.tsx';

interface Pair {
  readonly all: () => VNode;
  /** Of one of them, by its id. */
  readonly one?: (props: { readonly id: string }) => VNode;
}

const SCREENS: Readonly<Record<string, Pair>> = {
  overview: { all: OverviewScreen },
  users: { all: UsersScreen, one: UserScreen },
  queues: { all: QueuesScreen },
  tasks: { all: TasksScreen, one: TaskScreen },
  runs: { all: RunsScreen, one: RunScreen },
  dead: { all: DeadScreen },
  schedules: { all: SchedulesScreen, one: ScheduleScreen },
  workers: { all: WorkersScreen },
  asks: { all: AsksScreen, one: AskScreen },
  bulk: { all: BulkListScreen, one: BulkScreen },
  audit: { all: AuditScreen },
};

/** The one of now; a screen that the user of the page may not see is treated as missing. */
export function Screen(): VNode {
  const { place, id } = address.value;
  if (place === 'overview' && isLimited.value) return <UsersScreen />;
  const pair = placeOf(place) === undefined ? undefined : SCREENS[place];
  if (pair === undefined) return <NoScreen />;
  const { all: All, one: One } = pair;
  return id !== undefined && One !== undefined ? <One key={id} id={id} /> : <All />;
}

function NoScreen(): VNode {
  return (
    <Empty title="Nothing is here">
      <ul class="line wrap">
        {placesHere().map(({ key, title }) => (
          <li key={key}>
            <a href={linkTo(key)}>{title}</a>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
