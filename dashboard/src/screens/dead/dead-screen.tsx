/** Dead letters by error: what went wrong, how often, and back into the line at a rate. */
import type { VNode } from 'preact';
import { shownTask } from '../../../../src/domain/task/node-name.ts';
import { startBulk } from '../../api/bulk-actions.ts';
import type { Export } from '../../api/exports.ts';
import type { ErrorGroup } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ActionButton } from '../../parts/action.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { ExportButton } from '../../parts/export.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, linkHere, linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { type Page, type Pages, usePages } from '../../state/pages.ts';
import { useReading } from '../../state/readings.ts';
import { has, isLimited } from '../../state/session.ts';
import { agoText, momentText } from '../../words/lengths.ts';
import { countOf, countText } from '../../words/numbers.ts';
import { whereText } from '../../words/where.ts';
import { ErrorText } from '../tasks/attempts.tsx';
import { TaskTable } from '../tasks/task-table.tsx';

const EXPORT: Export = {
  list: 'dead',
  what: 'dead letters',
  query: {},
  command: ['dead', 'list'],
};

/** By error where the server groups them; else one after the other. */
export function DeadScreen(): VNode {
  return has('errors') ? <ByError /> : <DeadList />;
}

function DeadList(): VNode {
  const pages = usePages(source('GET /dead'));
  return (
    <Panel
      title="Dead letters"
      meta="the oldest failure first"
      tools={<ExportButton of={EXPORT} />}
    >
      <Shown reading={pages.first} what="the dead letters">
        {() =>
          pages.items.length === 0 ? (
            <NoneDead />
          ) : (
            <TaskTable tasks={pages.items} label="Dead letters" />
          )
        }
      </Shown>
      <ListFoot pages={pages} />
    </Panel>
  );
}

function ByError(): VNode {
  const pages = usePages(source('GET /dead/groups'));
  const asked = address.value.query.get('group');
  return (
    <Shown reading={pages.first} what="the errors">
      {() => {
        const [first] = pages.items;
        if (first === undefined) return <NoneDead />;
        const id = asked ?? first.id;
        const chosen = pages.items.find((one) => one.id === id);
        return (
          <div class="cols dead-cols">
            <GroupList pages={pages} chosen={id} />
            {chosen === undefined ? (
              <GroupElsewhere key={id} id={id} />
            ) : (
              <GroupPanel key={id} group={chosen} />
            )}
          </div>
        );
      }}
    </Shown>
  );
}

/** One that the address names, and that no page in sight has. */
function GroupElsewhere({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /dead/groups', [], { group: id }));
  return (
    <Shown reading={reading} what="the error">
      {({ items: [group] }) =>
        group === undefined ? (
          <Empty title="No such failure is known any more">
            <p>Its tasks were put back or removed. The list has the errors that are left.</p>
          </Empty>
        ) : (
          <GroupPanel group={group} />
        )
      }
    </Shown>
  );
}

interface GroupListProps {
  readonly pages: Pages<Page<ErrorGroup>>;
  readonly chosen: string;
}

function GroupList({ pages, chosen }: GroupListProps): VNode {
  const { items: groups, more } = pages;
  const failed = groups.reduce((sum, group) => sum + group.failed, 0);
  const begins = more === undefined ? '' : 'The latest: ';
  return (
    <Panel
      title="Errors"
      tools={<ExportButton of={EXPORT} />}
      meta={`${begins}${countOf(failed, 'dead letter')} with ${countOf(groups.length, 'kind')} of error`}
    >
      <ul class="dead">
        {groups.map(({ id, failed: count, attempts, error, name, message, firstAt, lastAt }) => (
          <li key={id} class={id === chosen ? 'is-on' : ''} data-row={id}>
            <a href={linkHere({ group: id })} aria-current={id === chosen ? 'true' : undefined}>
              <span class="d-n">{countText(count)}</span>
              <span class="d-what">
                <span>
                  <b>{error ?? id}</b> <span class="dim">{shownTask(name ?? '')}</span>
                </span>
                <span class="cut">{message}</span>
                <span class="dim">{countOf(attempts, 'attempt')} failed so</span>
              </span>
              <span class="d-seen">
                <span>{agoText(lastAt, now.value)}</span>
                <span class="dim">since {momentText(firstAt, now.value)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      <ListFoot pages={pages} />
    </Panel>
  );
}

function GroupPanel({ group }: { readonly group: ErrorGroup }): VNode {
  const { id, error = 'Unknown by now', name, message, failed, sample } = group;
  const where = whereText({ state: 'failed', error: id });
  return (
    <Panel
      title={error}
      meta={name === undefined ? undefined : shownTask(name)}
      kind="dead-one"
      spaced={true}
      tools={
        <LinkButton small={true} icon="tasks" href={linkTo('tasks', undefined, { where })}>
          Its tasks
        </LinkButton>
      }
    >
      <div class="stack">
        <p>{message}</p>
        {has('bulk') && !isLimited.value ? (
          <p class="line wrap">
            <ActionButton kind="first" shortcut="⇧R" action={startBulk('redrive', where, failed)} />
            <ActionButton kind="danger" shortcut="⇧D" action={startBulk('remove', where, failed)} />
          </p>
        ) : null}
        <Sample id={sample} />
      </div>
    </Panel>
  );
}

/** One of them, with its stack. */
function Sample({ id }: { readonly id: string }): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}', [id]));
  if (value === undefined) return null;
  return (
    <>
      <Facts
        facts={[
          [
            'One of them',
            <a key="link" class="mono" href={linkTo('tasks', id)}>
              {id}
            </a>,
          ],
          ['User', value.user],
          ['Attempts', countText(value.failures)],
        ]}
      />
      {value.error === undefined ? null : <ErrorText error={value.error} />}
    </>
  );
}

function NoneDead(): VNode {
  return (
    <Empty title="Nothing has failed for good">
      <p>A task comes here when no attempt is left. It waits for a redrive, or its removal.</p>
    </Empty>
  );
}
