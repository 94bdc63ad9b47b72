/** Questions of suspended tasks: one answer counts, or none. */
import type {
  AskClosing,
  AskFilter,
  AskRecord,
  AskReply,
  AskSpec,
  GivenAnswer,
} from '../../../src/domain/task/ask.ts';
import { byBytes, type Task, type World } from './world.ts';

/** It stands open while its task waits for it. */
export function openAsk(world: World, task: Task, spec: AskSpec): void {
  const { id: taskId, name, user, wakeAt: until } = task;
  const asked = { ...spec, taskId, task: name, user, askedAt: world.now };
  const record: AskRecord = until === undefined ? asked : { ...asked, until };
  task.asks.set(markOf(spec.id), { record, closing: undefined, given: undefined });
}

/** The task that waits for an answer to this question, if it is open. */
export function askedTask(world: World, id: string): Task | undefined {
  const task = taskOf(world, id);
  const isOpen = task?.asks.get(markOf(id))?.closing === undefined;
  const awaited = task?.wait?.for;
  return isOpen && awaited?.kind === 'ask' && awaited.ask.id === id ? task : undefined;
}

/** What comes first closes it. */
export function closeAsk(task: Task, closing: AskClosing, given: GivenAnswer | undefined): void {
  const awaited = task.wait?.for;
  const mark = awaited?.kind === 'ask' ? markOf(awaited.ask.id) : '';
  const asked = task.asks.get(mark);
  if (asked === undefined || asked.closing !== undefined) return;
  task.asks.set(mark, { ...asked, closing, given });
}

/** The answer closes it; `wake` lets its task go on. */
export function answerAsk(
  world: World,
  id: string,
  { answer, wake }: { readonly answer: GivenAnswer; readonly wake: (task: Task) => void },
): AskReply {
  const task = taskOf(world, id);
  const asked = task?.asks.get(markOf(id));
  if (task === undefined || asked === undefined) return { kind: 'not-found' };
  const { closing, given, record } = asked;
  if (closing !== undefined) {
    if (given === undefined || JSON.stringify(given) !== JSON.stringify(answer)) {
      world.happened.push('ask answered too late');
      return { kind: 'closed', closing };
    }
    world.happened.push('ask answered again by one call');
    return { kind: 'answered' };
  }
  const { choices } = record;
  if (!choices.includes(answer.choice)) return { kind: 'no-choice', choices };
  world.happened.push('ask answered');
  const { choice, by, text } = answer;
  closeAsk(task, { how: 'answered', at: world.now, choice, by, text }, answer);
  wake(task);
  return { kind: 'answered' };
}

/** One that is open or closed. */
export function askOf(world: World, id: string): AskRecord | undefined {
  const asked = taskOf(world, id)?.asks.get(markOf(id));
  if (asked === undefined) return undefined;
  const { record, closing } = asked;
  if (closing !== undefined) return { ...record, closing };
  const { until = Number.POSITIVE_INFINITY } = record;
  return until > world.now ? record : { ...record, closing: { how: 'timed-out', at: until } };
}

/** Ids of those that are open, the oldest first. */
export function openAsks(world: World, { user, for: name }: AskFilter): readonly string[] {
  const open = [...world.tasks.values()]
    .flatMap(({ asks }) => [...asks.values()])
    .filter(({ closing }) => closing === undefined)
    .map(({ record }) => record)
    .filter(({ until = Number.POSITIVE_INFINITY }) => until > world.now)
    .filter((record) => user === undefined || record.user === user)
    .filter((record) => name === undefined || record.for.includes(name));
  const place = ({ id, taskId }: AskRecord): string => `${markOf(id)}.${taskId}`;
  return open
    .sort((one, other) => one.askedAt - other.askedAt || byBytes(place(one), place(other)))
    .map(({ id }) => id);
}

function taskOf(world: World, id: string): Task | undefined {
  return world.tasks.get(id.slice(0, Math.max(0, id.lastIndexOf('.'))));
}

function markOf(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}
