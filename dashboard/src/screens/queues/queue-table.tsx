/** Every queue: turns are taken in each by itself. */
import type { VNode } from 'preact';
import type { QueueStatus } from '../../api/shapes.ts';
import { pauseQueue, resumeQueue } from '../../api/user-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Bar } from '../../parts/bars.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { linkTo } from '../../state/address.ts';
import { may } from '../../state/session.ts';
import { countText } from '../../words/numbers.ts';

const COLUMNS: readonly Column<QueueStatus>[] = [
  {
    key: 'queue',
    title: 'Queue',
    isName: true,
    cell: ({ queue }) => (
      <a class="name cut" href={linkTo('users', undefined, { queue })}>
        {queue}
      </a>
    ),
  },
  {
    key: 'wait',
    title: 'In line',
    isNumber: true,
    label: 'in line',
    cell: ({ queue, counts }) => (
      <a href={linkTo('tasks', undefined, { queue, state: 'queued' })}>
        {countText(counts.queued)}
      </a>
    ),
  },
  {
    key: 'ready',
    title: 'Users in line',
    isNumber: true,
    label: 'users',
    cell: ({ readyUsers }) => countText(readyUsers),
  },
  {
    key: 'run',
    title: 'Running',
    cell: ({ counts, settings }) => <Running running={counts.started} most={settings.maxRunning} />,
  },
  {
    key: 'later',
    title: 'Later',
    isNumber: true,
    label: 'later',
    cell: ({ counts }) => countText(counts.scheduled + counts.deferred),
  },
  {
    key: 'dead',
    title: 'Dead letters',
    isNumber: true,
    label: 'dead',
    cell: ({ deadLetters }) => countText(deadLetters),
  },
  { key: 'why', title: 'What holds it', cell: (queue) => <Holds queue={queue} /> },
  {
    key: 'do',
    title: <span class="sr">What can be done</span>,
    cell: ({ queue, settings, counts }) => (
      <span class="line">
        {may('configure') ? (
          <LinkButton
            small={true}
            kind="quiet"
            icon="limit"
            href={linkTo('queues', undefined, { drawer: queue })}
          >
            Limits
          </LinkButton>
        ) : null}
        <ActionButton
          key={settings.paused === true ? 'resume' : 'pause'}
          small={true}
          kind="quiet"
          action={settings.paused === true ? resumeQueue(queue) : pauseQueue(queue, counts.queued)}
        />
      </span>
    ),
  },
];

/** In the order that is given. */
export function QueueTable({ queues }: { readonly queues: readonly QueueStatus[] }): VNode {
  return (
    <Panel title="Queues" meta="turns are taken in each by itself">
      <DataTable
        label="Queues"
        kind="queues"
        rows={queues}
        columns={COLUMNS}
        keyOf={({ queue }) => queue}
      />
    </Panel>
  );
}

function Running({
  running,
  most,
}: {
  readonly running: number;
  readonly most: number | undefined;
}): VNode {
  return (
    <span class="line">
      <Bar part={most === undefined || most === 0 ? Math.min(1, running) : running / most} />
      <span>
        {countText(running)}
        <span class="of">{most === undefined ? '' : `/${countText(most)}`}</span>
      </span>
    </span>
  );
}

function Holds({
  queue: { settings, counts, readyUsers },
}: {
  readonly queue: QueueStatus;
}): VNode {
  if (settings.paused === true) {
    return (
      <span class="state t-warn">
        <Icon name="paused" />
        <span>paused</span>
      </span>
    );
  }
  const { maxRunning } = settings;
  if (maxRunning !== undefined && counts.started >= maxRunning && counts.queued > 0) {
    return (
      <span class="state t-warn">
        <Icon name="limit" />
        <span>at its limit, {countText(maxRunning)} running</span>
      </span>
    );
  }
  return (
    <span class="state dim">
      <Icon name={readyUsers > 0 ? 'line' : 'ok'} />
      <span>{readyUsers > 0 ? 'in line' : 'nothing waits'}</span>
    </span>
  );
}
