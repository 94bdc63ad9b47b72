/** Runs of pipelines, by where they stand. */
import type { VNode } from 'preact';
import type { RunInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Tabs } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
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
    cell: ({ id, name }) => (
      <a class="name" href={linkTo('runs', id)}>
        <span class="cut">{name}</span> <span class="mono dim cut">{id}</span>
      </a>
    ),
  },
  {
    key: 'who',
    title: 'User',
    cell: ({ user, queue }) => (
      <a class="cut" href={linkTo('users', user, { queue })}>
        {user}
      </a>
    ),
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
  {
    key: 'err',
    title: 'Error',
    cell: ({ error }) =>
      error === undefined ? null : (
        <span class="cut" title={error.message}>
          <b>{error.name}</b> {error.message}
        </span>
      ),
  },
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
      <Panel title="Runs" meta={user}>
        <Shown reading={pages.first} what="runs">
          {() =>
            pages.items.length === 0 ? (
              <Empty title={`No run is ${state}`}>
                <p>A run is one pass through a pipeline: an enqueue of one makes it.</p>
              </Empty>
            ) : (
              <DataTable
                label="Runs"
                kind="runs"
                rows={pages.items}
                columns={COLUMNS}
                keyOf={({ id }) => id}
              />
            )
          }
        </Shown>
        <ListFoot pages={pages} />
      </Panel>
    </div>
  );
}
