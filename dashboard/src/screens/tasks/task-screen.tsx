/** One task: what became of it, and why. */
import type { VNode } from 'preact';
import { errorGroupOf } from '../../../../src/domain/task/cause.ts';
import type { TaskDetails } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { taskActions } from '../../api/task-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Bar } from '../../parts/bars.tsx';
import { CommandLine } from '../../parts/command-line.tsx';
import { UserLink } from '../../parts/links.tsx';
import { Figures, Panel } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { StateLabel, toneOf } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { has, isLimited } from '../../state/session.ts';
import { commandAbout } from '../../words/commands.ts';
import { lengthText, momentText } from '../../words/lengths.ts';
import { Attempts } from './attempts.tsx';
import { LogPanel } from './log-panel.tsx';
import { Neighbours } from './neighbours.tsx';
import { Obstacles } from './obstacles.tsx';
import { StreamsPanel } from './streams-panel.tsx';
import { Values } from './values.tsx';
import { Way } from './way.tsx';

const SHORTCUTS: Readonly<Record<string, string>> = {
  Redrive: '⇧R',
  Cancel: 'c',
  Remove: '⇧D',
  'Run now': 'r',
};

/** By its id. */
export function TaskScreen({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /tasks/{id}', [id]));
  return (
    <Shown reading={reading} what="this task">
      {(task) => <Whole task={task} />}
    </Shown>
  );
}

function Whole({ task }: { readonly task: TaskDetails }): VNode {
  const isRun = task.name.startsWith('~');
  return (
    <div class="stack">
      <TaskHead task={task} />
      <WhyPanel task={task} />
      <Panel title="Its way" meta="from left to right; lengths grow with the root of time">
        <Way task={task} />
      </Panel>
      <div class="cols c75">
        <div class="stack">
          <Attempts task={task} />
          <LogPanel id={task.id} isLive={task.state === 'started'} />
          <StreamsPanel id={task.id} />
          <Neighbours task={task} />
        </div>
        <div class="stack">
          <Values task={task} />
          <Panel title="The same from a shell" spaced={true}>
            <ul class="do">
              {['get', 'explain', 'logs', 'dependents'].map((verb) => (
                <li key={verb}>
                  <CommandLine text={commandAbout(task.id, 'tasks', verb)} wide={true} />
                </li>
              ))}
            </ul>
          </Panel>
        </div>
      </div>
      {isRun ? <p class="dim">It belongs to a run, and is stored for it.</p> : null}
    </div>
  );
}

function TaskHead({ task }: { readonly task: TaskDetails }): VNode {
  const { id, name, state, user, queue, priority, createdAt, failures, losses, cost, progress } =
    task;
  const [first, ...others] = taskActions(task);
  return (
    <section class="panel id-head">
      <div class="line wrap">
        <h2 class="big">{name}</h2>
        <StateLabel state={state} chip={true}>
          {state}
          {task.failureType === undefined ? '' : ` (${task.failureType})`}
        </StateLabel>
        {task.cancelRequested ? <StateLabel state="canceled">asked to stop</StateLabel> : null}
        <span class="mono dim">{id}</span>
        <span class="push line wrap">
          {first === undefined ? null : (
            <ActionButton
              key={first.name}
              action={first}
              kind={first.isDestructive === true ? 'danger' : 'first'}
              shortcut={SHORTCUTS[first.name]}
            />
          )}
          {others.map((action) => (
            <ActionButton
              key={action.name}
              action={action}
              {...(action.isDestructive === true ? { kind: 'danger' as const } : {})}
              shortcut={SHORTCUTS[action.name]}
            />
          ))}
        </span>
      </div>
      <Figures
        figures={[
          { name: 'User', value: <UserLink user={user} queue={queue} /> },
          { name: 'Queue, priority', value: `${queue}, ${priority}` },
          { name: 'Enqueued', value: momentText(createdAt, now.value) },
          { name: 'Age', value: lengthText((task.endedAt ?? now.value) - createdAt) },
          {
            name: 'Failed attempts',
            value: failures,
            of: losses === 0 ? '' : `and ${losses} lost`,
          },
          ...(cost === 1 ? [] : [{ name: 'Cost', value: cost, of: 'turns' }]),
          ...(task.version === undefined ? [] : [{ name: 'Version', value: task.version }]),
        ]}
      />
      {progress === undefined || state !== 'started' ? null : (
        <div class="progress">
          <Bar part={progress.fraction} kind="big-bar" />
          <span>
            {Math.round(progress.fraction * 100)} % {progress.message ?? ''}
          </span>
        </div>
      )}
    </section>
  );
}

function WhyPanel({ task }: { readonly task: TaskDetails }): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}/explain', [task.id]));
  if (value === undefined) return null;
  return (
    <section class={`panel why t-${toneOf(task.state)}`} aria-label="Why">
      <Obstacles explanation={value} />
      <SameError task={task} />
    </section>
  );
}

/** Others may have failed alike: they stand together. */
function SameError({ task: { state, cause, name } }: { readonly task: TaskDetails }): VNode | null {
  const group = state === 'failed' ? errorGroupOf(cause, name) : undefined;
  if (group === undefined || !has('errors') || isLimited.value) return null;
  return (
    <p class="same-error">
      <a href={linkTo('dead', undefined, { group })}>All that failed alike</a>
    </p>
  );
}
