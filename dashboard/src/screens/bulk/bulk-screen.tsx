/** Bulk actions: each is an object that workers carry out, with its progress. */
import type { VNode } from 'preact';
import { cancelBulk, startBulk } from '../../api/bulk-actions.ts';
import type { BulkInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Bar } from '../../parts/bars.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { ListPanel } from '../../parts/list-panel.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { usePages } from '../../state/pages.ts';
import { useReading } from '../../state/readings.ts';
import { agoText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';

const COLUMNS: readonly Column<BulkInfo>[] = [
  { key: 'state', title: 'State', cell: ({ state }) => <StateLabel state={state} /> },
  {
    key: 'task',
    title: 'Action',
    isName: true,
    cell: ({ id, action, where, dryRun }) => (
      <a class="two name" href={linkTo('bulk', id)}>
        <span>
          {action}
          {dryRun ? ', dry run' : ''}
        </span>
        <span class="cut">{where}</span>
      </a>
    ),
  },
  { key: 'progress', title: 'Progress', cell: (bulk) => <Progress bulk={bulk} /> },
  {
    key: 'skipped',
    title: 'Skipped, failed',
    isNumber: true,
    label: 'skipped, failed',
    cell: ({ skipped, failed }) => `${countText(skipped)}, ${countText(failed)}`,
  },
  { key: 'by', title: 'By', cell: ({ by }) => <span class="cut">{by ?? '–'}</span> },
  {
    key: 'age',
    title: 'Started',
    isNumber: true,
    cell: ({ createdAt }) => agoText(createdAt, now.value),
  },
];

/** The newest first. */
export function BulkListScreen(): VNode {
  const pages = usePages(source('GET /bulk'));
  return (
    <ListPanel
      title="Bulk actions"
      kind="bulks"
      pages={pages}
      columns={COLUMNS}
      keyOf={({ id }) => id}
    >
      <Empty title="There was none yet">
        <p>Filter tasks or dead letters, and redrive, cancel or remove all that match.</p>
      </Empty>
    </ListPanel>
  );
}

/** One of them. */
export function BulkScreen({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /bulk/{id}', [id]));
  return (
    <Shown reading={reading} what="this bulk action">
      {(bulk) => <One bulk={bulk} />}
    </Shown>
  );
}

function One({ bulk }: { readonly bulk: BulkInfo }): VNode {
  const { id, action, where, state, dryRun, matched, errors, skipped, failed } = bulk;
  const isOpen = state === 'queued' || state === 'running';
  return (
    <div class="stack">
      <section class="panel id-head">
        <div class="line wrap">
          <h2 class="big">
            {action}
            {dryRun ? ', dry run' : ''}
          </h2>
          <StateLabel state={state} chip={true} />
          <a class="mono" href={linkTo('tasks', undefined, { where })}>
            {where}
          </a>
          <span class="push line wrap">
            {dryRun && state === 'finished' ? (
              <ActionButton action={startBulk(action, where, matched)} kind="first" />
            ) : null}
            {isOpen ? <ActionButton action={cancelBulk(id)} kind="danger" shortcut="c" /> : null}
          </span>
        </div>
        <Progress bulk={bulk} />
        <p class="ink2">
          {dryRun
            ? `${countText(matched ?? 0)} would be changed; nothing was.`
            : `${countText(skipped)} skipped, ${countText(failed)} failed.`}
        </p>
      </section>
      {errors.length === 0 ? null : (
        <Panel title="What could not be done" meta="the first few" spaced={true}>
          <ul class="deps">
            {errors.map((one) => (
              <li key={one.id}>
                <a class="mono" href={linkTo('tasks', one.id)}>
                  {one.id}
                </a>
                <span>{one.error}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function Progress({ bulk: { done, matched, state } }: { readonly bulk: BulkInfo }): VNode {
  const all = matched ?? 0;
  const part = state === 'finished' ? 1 : all === 0 ? 0 : done / all;
  return (
    <span class="line">
      <Bar part={part} />
      <span>
        {countText(done)}
        <span class="of">{matched === undefined ? '' : ` of ${countText(matched)}`}</span>
      </span>
    </span>
  );
}
