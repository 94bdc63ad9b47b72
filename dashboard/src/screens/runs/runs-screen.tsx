/** Runs of pipelines, by where they stand. */
import type { VNode } from 'preact';
import type { Export } from '../../api/exports.ts';
import type { RunInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Tabs } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { ExportButton } from '../../parts/export.tsx';
import { ErrorLine, NameLink, UserLink } from '../../parts/links.tsx';
import { ListPanel } from '../../parts/list-panel.tsx';
import { Empty } from '../../parts/shown.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { address, linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { usePages } from '../../state/pages.ts';
import { agoText, lengthText } from '../../words/lengths.ts';

/** Where runs stand, those under way first. */
const VIEWS = [
  ['deferred', 'Under way'],
  ['started', 'Driven, running'],
  ['queued', 'In line'],
  ['scheduled', 'Scheduled'],
  ['failed', 'Failed'],
  ['finished', 'Finished'],
  ['canceled', 'Canceled'],
] as const;

const COLUMNS: readonly Column<RunInfo>[] = [
  {
    key: 'state',
    title: 'State',
    cell: ({ state, paused }) => <StateLabel state={paused === undefined ? state : 'paused'} />,
  },
  {
    key: 'task',
    title: 'Run',
    isName: true,
    cell: ({ id, name }) => <NameLink place="runs" id={id} name={name} />,
  },
  {
    key: 'who',
    title: 'User',
    cell: ({ user, queue }) => <UserLink user={user} queue={queue} />,
  },
  { key: 'form', title: 'Form', cell: ({ form }) => form },
  {
    key: 'age',
    title: 'Enqueued',
    isNumber: true,
    cell: ({ createdAt }) => agoText(createdAt, now.value),
  },
  {
    key: 'ran',
    title: 'Took',
    isNumber: true,
    label: 'in all',
    cell: ({ createdAt, endedAt }) => lengthText((endedAt ?? now.value) - createdAt),
  },
  { key: 'err', title: 'Error', cell: ({ error }) => <ErrorLine error={error} /> },
];

/** One state at a time, as they are stored. */
export function RunsScreen(): VNode {
  const asked = address.value.query.get('state');
  const state = VIEWS.find(([key]) => key === asked)?.[0] ?? 'failed';
  const user = address.value.query.get('user');
  const pages = usePages(source('GET /runs', [], { state, user }));
  return (
    <div class="stack">
      <Tabs
        label="Where they stand"
        chosen={state}
        choices={VIEWS.map(([key, text]) => ({
          key,
          text,
          href: linkTo('runs', undefined, { state: key, user }),
        }))}
      />
      <ListPanel
        title="Runs"
        meta={user}
        tools={<ExportButton of={exportOf(state, user)} />}
        kind="runs"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
      >
        <Empty title={`No run is ${state}`}>
          <p>A run is one pass through a pipeline: an enqueue of one makes it.</p>
        </Empty>
      </ListPanel>
    </div>
  );
}

function exportOf(state: string, user: string | undefined): Export {
  const ofUser = user === undefined ? [] : ['--user', user];
  return {
    list: 'runs',
    what: `runs in the state ${state}${user === undefined ? '' : ` of ${user}`}`,
    query: { state, user },
    command: ['runs', 'list', '--state', state, ...ofUser],
  };
}
