/** One schedule, what became of its last slots, and those that come next. */
import type { VNode } from 'preact';
import { removeSchedule, scheduleActions } from '../../api/schedule-actions.ts';
import type { Firing, ScheduleInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { iconOf, StateLabel, toneOf } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { agoText, exactText, lengthText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';
import { ValuePanel } from '../tasks/values.tsx';
import { whenText } from './when.ts';

/** By its name. */
export function ScheduleScreen({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /schedules/{id}', [id]));
  return (
    <Shown reading={reading} what="this schedule">
      {(schedule) => <Whole schedule={schedule} />}
    </Shown>
  );
}

function Whole({ schedule }: { readonly schedule: ScheduleInfo }): VNode {
  const { id, state, input } = schedule;
  return (
    <div class="stack">
      <section class="panel id-head">
        <div class="line wrap">
          <h2 class="big">{id}</h2>
          <StateLabel state={state} chip={true} />
          <span class="push line wrap">
            {scheduleActions(schedule).map((action) => (
              <ActionButton key={action.name} action={action} />
            ))}
            <ActionButton action={removeSchedule(id)} kind="danger" shortcut="⇧D" />
          </span>
        </div>
      </section>
      <div class="cols c66">
        <Panel title="What it does" spaced={true}>
          <Facts facts={factsOf(schedule)} />
        </Panel>
        <div class="stack">
          {schedule.event === undefined ? <Past schedule={schedule} /> : null}
          {state === 'active' && schedule.event === undefined ? <Next id={id} /> : null}
          <ValuePanel title="Input" value={input} none="Its tasks get none." />
        </div>
      </div>
    </div>
  );
}

function factsOf(schedule: ScheduleInfo): Parameters<typeof Facts>[0]['facts'] {
  const { task, user, queue, priority, missed, overlap, fired, missedSlots } = schedule;
  const { overlappedSlots, lastAt, lastTaskId, jitterMs, limit, updatedAt } = schedule;
  const last = lastAt === undefined ? undefined : agoText(lastAt, now.value);
  return [
    ['When', <code key="when">{whenText(schedule)}</code>],
    ['Starts', `${task}, as ${user} in ${queue}, priority ${priority}`],
    ['Slots not fired in time', missed],
    ['While an earlier task runs', overlap],
    ['Fired', countText(fired)],
    ['Missed, passed over', `${countText(missedSlots)}, ${countText(overlappedSlots)}`],
    [
      'Last',
      lastTaskId === undefined ? (
        last
      ) : (
        <a key="last" href={linkTo('tasks', lastTaskId)}>
          {last}
        </a>
      ),
    ],
    ['Delay of a slot, at most', jitterMs === undefined ? undefined : lengthText(jitterMs)],
    ['Tasks, at most', limit === undefined ? undefined : countText(limit)],
    ['Changed', agoText(updatedAt, now.value)],
  ];
}

/** What became of the last slots, the newest at the right. */
function Past({ schedule: { id, graph } }: { readonly schedule: ScheduleInfo }): VNode | null {
  const { value } = useReading(source('GET /schedules/{id}/history', [id]));
  if (value === undefined || value.items.length === 0) return null;
  return (
    <Panel title="Last slots" meta={pastText(value.items)} spaced={true}>
      <ol class="firings">
        {value.items.map((firing) => (
          <li key={firing.slot}>
            <FiringMark firing={firing} place={graph === undefined ? 'tasks' : 'runs'} />
          </li>
        ))}
      </ol>
      <p class="small dim">
        A slot without a task was missed or passed over, or its task is not kept any more.
      </p>
    </Panel>
  );
}

interface FiringMarkProps {
  readonly firing: Firing;
  readonly place: 'runs' | 'tasks';
}

function FiringMark({ firing: { slot, taskId, state }, place }: FiringMarkProps): VNode {
  const text = `${exactText(slot).slice(0, -4)}: ${state ?? 'no task'}`;
  if (taskId === undefined || state === undefined) {
    return (
      <span class="firing t-canceled" role="img" aria-label={text} title={text}>
        <Icon name="idle" />
      </span>
    );
  }
  return (
    <a
      class={`firing t-${toneOf(state)}`}
      href={linkTo(place, taskId)}
      aria-label={text}
      title={text}
    >
      <Icon name={iconOf(state)} />
    </a>
  );
}

/** `18 finished, 1 failed, 1 without a task`. */
function pastText(firings: readonly Firing[]): string {
  const counts = new Map<string, number>();
  for (const { state = 'without a task' } of firings) {
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts].map(([state, count]) => `${countText(count)} ${state}`).join(', ');
}

function Next({ id }: { readonly id: string }): VNode | null {
  const { value } = useReading(source('GET /schedules/{id}/next', [id]));
  if (value === undefined) return null;
  return (
    <Panel title="Next slots" spaced={true}>
      <ol class="next-slots">
        {value.slots.map((at) => (
          <li key={at}>
            {exactText(at).slice(0, -4)} <span class="dim">{agoText(at, now.value)}</span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
