/** One run: what broke or what it waits for, its graph, and when its nodes ran. */
import type { VNode } from 'preact';
import { runActions } from '../../api/run-actions.ts';
import type { RunDetails } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ActionButton } from '../../parts/action.tsx';
import { LinkButton, Segments } from '../../parts/button.tsx';
import { UserLink } from '../../parts/links.tsx';
import { Figures, Panel } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { address, linkHere, linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { lengthText, momentText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';
import { whereText } from '../../words/where.ts';
import { ValuePanel } from '../tasks/values.tsx';
import { Gantt } from './gantt.tsx';
import { GraphView } from './graph-view.tsx';
import { NodeTable } from './node-table.tsx';
import { RunCause } from './run-cause.tsx';

const VIEWS = ['graph', 'time', 'table'] as const;
const TITLES = { graph: 'Graph', time: 'Time', table: 'Table' } as const;

/** By its id. */
export function RunScreen({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /runs/{id}', [id]));
  return (
    <Shown reading={reading} what="this run">
      {(run) => <Whole run={run} />}
    </Shown>
  );
}

function Whole({ run }: { readonly run: RunDetails }): VNode {
  const asked = address.value.query.get('view');
  const view = VIEWS.find((one) => one === asked) ?? 'graph';
  return (
    <div class="stack">
      <RunHead run={run} />
      <Panel
        title={TITLES[view]}
        tools={
          <Segments
            label="How to look at it"
            chosen={view}
            choices={VIEWS.map((key) => ({
              key,
              text: TITLES[key],
              href: linkHere({ view: key }),
            }))}
          />
        }
      >
        {view === 'graph' ? <GraphView run={run} /> : null}
        {view === 'time' ? <Gantt run={run} /> : null}
        {view === 'table' ? <NodeTable run={run} /> : null}
      </Panel>
      <div class="cols c66">
        <ValuePanel title="Input" value={run.input} none="It was enqueued without one." />
        {run.state === 'finished' ? (
          <ValuePanel title="Result" value={run.result} none="It gave nothing." />
        ) : null}
      </div>
      {run.metadata === undefined ? null : (
        <ValuePanel title="Of itself" value={run.metadata} none="" />
      )}
    </div>
  );
}

function RunHead({ run }: { readonly run: RunDetails }): VNode {
  const { id, name, state, form, user, queue, createdAt, endedAt, paused } = run;
  const [first, ...others] = runActions(run);
  return (
    <section class="panel">
      <div class="id-head">
        <div class="line wrap">
          <h2 class="big">{name}</h2>
          <StateLabel state={paused === undefined ? state : 'paused'} chip={true} />
          <span class="mono dim">{id}</span>
          <span class="dim">{form}</span>
          <span class="push line wrap">
            {first === undefined ? null : (
              <ActionButton key={first.name} action={first} kind="first" shortcut="r" />
            )}
            <LinkButton
              icon="tasks"
              href={linkTo('tasks', undefined, { where: whereText({ run: id }) })}
            >
              Its tasks
            </LinkButton>
            {others.map((action) => (
              <ActionButton
                key={action.name}
                action={action}
                {...(action.isDestructive === true ? { kind: 'danger' as const } : {})}
              />
            ))}
          </span>
        </div>
        <Figures
          figures={[
            { name: 'User', value: <UserLink user={user} queue={queue} /> },
            { name: 'Queue', value: queue },
            { name: 'Enqueued', value: momentText(createdAt, now.value) },
            {
              name: endedAt === undefined ? 'Age' : 'Took',
              value: lengthText((endedAt ?? now.value) - createdAt),
            },
            { name: 'Nodes', value: countText(run.nodes.length) },
          ]}
        />
        <Counts run={run} />
      </div>
      <RunCause run={run} />
    </section>
  );
}

/** How many nodes are where; a state with none is left out. */
function Counts({ run: { nodes } }: { readonly run: RunDetails }): VNode {
  const counts = new Map<string, number>();
  for (const { state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <p class="line wrap">
      {[...counts].map(([state, count]) => (
        <StateLabel key={state} state={state}>
          {countText(count)} {state}
        </StateLabel>
      ))}
    </p>
  );
}
