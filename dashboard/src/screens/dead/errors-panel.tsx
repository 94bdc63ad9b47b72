/** Failures by error: the first few of them, or the newest dead letters where errors are not grouped. */
import type { VNode } from 'preact';
import { shownTask } from '../../../../src/domain/task/node-name.ts';
import type { ErrorGroup } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { has, isLimited } from '../../state/session.ts';
import { agoText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';
import { TaskTable } from '../tasks/task-table.tsx';

/** Fewer rows say more. */
const SHOWN = 6;

/** On the overview. */
export function ErrorsPanel(): VNode {
  return (
    <Panel title="Failures" meta="by error" tools={<a href={linkTo('dead')}>All dead letters</a>}>
      {has('errors') && !isLimited.value ? <Groups /> : <Newest />}
    </Panel>
  );
}

function Groups(): VNode {
  const reading = useReading(source('GET /dead/groups'));
  return (
    <Shown reading={reading} what="the errors">
      {({ items }) =>
        items.length === 0 ? <Nothing /> : <GroupTable groups={items.slice(0, SHOWN)} />
      }
    </Shown>
  );
}

function GroupTable({ groups }: { readonly groups: readonly ErrorGroup[] }): VNode {
  return (
    <DataTable
      label="Errors"
      kind="fails"
      rows={groups}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'n',
          title: 'Tasks',
          isNumber: true,
          cell: ({ failed }) => <b>{countText(failed)}</b>,
        },
        {
          key: 'err',
          title: 'Error',
          isName: true,
          cell: ({ id, name, error, message }) => (
            <a class="two name" href={linkTo('dead', undefined, { group: id })}>
              <span class="cut">
                <b>{error ?? id}</b> {shownTask(name ?? '')}
              </span>
              <span class="cut">{message}</span>
            </a>
          ),
        },
        {
          key: 'last',
          title: 'Last',
          isNumber: true,
          cell: ({ lastAt }) => agoText(lastAt, now.value),
        },
      ]}
    />
  );
}

function Newest(): VNode {
  const reading = useReading(source('GET /dead'));
  return (
    <Shown reading={reading} what="the dead letters">
      {({ items }) =>
        items.length === 0 ? (
          <Nothing />
        ) : (
          <TaskTable tasks={items.slice(0, SHOWN)} label="The oldest dead letters" />
        )
      }
    </Shown>
  );
}

function Nothing(): VNode {
  return (
    <Empty title="Nothing has failed for good">
      <p>A task comes here when no attempt is left.</p>
    </Empty>
  );
}
