/** One user in one queue: why it is next, or is not, and what it has. */
import type { VNode } from 'preact';
import type { UserRow } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { pauseUser, resumeUser } from '../../api/user-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import { LinkButton, Tabs } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts, Figures, Panel } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { address, goTo, linkHere, linkTo } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { has, may } from '../../state/session.ts';
import { countText, percentText, signedText } from '../../words/numbers.ts';
import { whereText } from '../../words/where.ts';
import { SeriesPanel } from '../overview/series-panel.tsx';
import { TaskListPanel } from '../tasks/task-list-panel.tsx';
import { HistoryFigures } from './history-figures.tsx';
import { limitFacts } from './limits.ts';
import { LimitsDrawer } from './limits-drawer.tsx';
import { NextOfUser } from './next-of-user.tsx';
import { isHeld, Remedy, reasonIcon } from './remedy.tsx';

/** In the queue that the address names. */
export function UserScreen({ id }: { readonly id: string }): VNode {
  const queue = address.value.query.get('queue') ?? 'default';
  const reading = useReading(source('GET /users/{user}', [id], { queue }));
  return (
    <Shown reading={reading} what="this user">
      {(row) => <User row={row} />}
    </Shown>
  );
}

function User({ row }: { readonly row: UserRow }): VNode {
  const { user, queue } = row;
  const isChanging = may('configure') && address.value.query.get('drawer') === 'limits';
  return (
    <div class="stack">
      <UserHead row={row} />
      <div class="cols c75">
        <div class="stack">
          <NextOfUser user={user} queue={queue} />
          <Tasks user={user} queue={queue} />
        </div>
        <div class="stack">
          <Panel
            title="Weight and limits"
            spaced={true}
            tools={
              may('configure') ? (
                <LinkButton small={true} icon="weight" href={linkHere({ drawer: 'limits' })}>
                  Change…
                </LinkButton>
              ) : undefined
            }
          >
            <Facts facts={limitFacts(row)} />
          </Panel>
          <Levels row={row} />
        </div>
      </div>
      {has('series') ? <SeriesPanel of={{ user, queue }} /> : null}
      {isChanging ? (
        <LimitsDrawer row={row} onClose={() => goTo(linkHere({ drawer: undefined }))} />
      ) : null}
    </div>
  );
}

function UserHead({ row }: { readonly row: UserRow }): VNode {
  const { user, queue, settings, ready } = row;
  return (
    <section class="panel id-head">
      <div class="line wrap">
        <h2 class="big">{user}</h2>
        <span class={`state chip ${isHeld(row) ? 't-warn' : ready ? 't-started' : 't-queued'}`}>
          <Icon name={reasonIcon(row)} />
          <span>{row.why}</span>
        </span>
        <span class="dim">in {queue}</span>
        <span class="push line wrap">
          {isHeld(row) && settings.paused !== true ? <Remedy row={row} /> : null}
          {settings.paused === true ? (
            <ActionButton key="resume" action={resumeUser(user, queue)} kind="first" shortcut="r" />
          ) : (
            <ActionButton key="pause" action={pauseUser(user, queue)} shortcut="p" />
          )}
        </span>
      </div>
      <Figures figures={figuresOf(row)} />
      {has('history') ? <HistoryFigures user={user} queue={queue} /> : null}
    </section>
  );
}

function figuresOf(
  row: UserRow,
): readonly { readonly name: string; readonly value: string; readonly of?: string }[] {
  const { share, fairShare, queued, running, later, settings, ahead, ready } = row;
  return [
    { name: 'Weight', value: countText(settings.weight) },
    { name: 'In line', value: countText(queued) },
    {
      name: 'Running',
      value: countText(running),
      of: settings.maxRunning === undefined ? '' : `of ${countText(settings.maxRunning)}`,
    },
    { name: 'Later', value: countText(later) },
    ...(share === undefined || fairShare === undefined
      ? []
      : [{ name: 'Share', value: percentText(share), of: `of ${percentText(fairShare)}` }]),
    ...(ready ? [{ name: 'Ahead', value: signedText(ahead), of: 'turns' }] : []),
  ];
}

const STATES = ['queued', 'started', 'failed', 'scheduled', 'deferred', 'finished'] as const;

function Tasks({ user, queue }: { readonly user: string; readonly queue: string }): VNode {
  const asked = address.value.query.get('state');
  const state = STATES.find((one) => one === asked) ?? 'queued';
  return (
    <div class="stack">
      <Tabs
        label="Its tasks, by state"
        chosen={state}
        choices={STATES.map((key) => ({ key, text: key, href: linkHere({ state: key }) }))}
      />
      <TaskListPanel
        title="Its tasks"
        where={whereText({ state, user, queue })}
        tools={
          <a href={linkTo('tasks', undefined, { where: whereText({ state, user, queue }) })}>
            All of them
          </a>
        }
      />
    </div>
  );
}

const LEVEL_NAMES = ['1', '2', '3', '4', '5', 'critical'];

function Levels({ row: { levels } }: { readonly row: UserRow }): VNode {
  return (
    <Panel title="Its line" meta="by priority" spaced={true}>
      <Facts
        facts={levels
          .map((count, at) => [LEVEL_NAMES[at] ?? String(at + 1), countText(count)] as const)
          .toReversed()}
      />
    </Panel>
  );
}
