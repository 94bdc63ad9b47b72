/** How each kind of row is shown: the columns of its table and its documented JSON. */

import { namedLineOf, type TaskError } from '../../base/thrown.ts';
import type { ErrorGroup } from '../../client/facades/error-groups.ts';
import type { QueueStatus } from '../../client/facades/queue-facade.ts';
import type { AttemptInfo, TaskInfo } from '../../client/facades/task-info.ts';
import type { UserStatus } from '../../client/facades/user-facade.ts';
import type { WorkerInfo } from '../../domain/port/backend.ts';
import { type Cause, causeText } from '../../domain/task/cause.ts';
import type { Dependent } from '../../domain/task/dependents.ts';
import { shownNode, shownTask } from '../../domain/task/node-name.ts';
import type { TaskState } from '../../domain/task/task.ts';
import { versionedName } from '../../domain/task/task-name.ts';
import type { RunInfo, RunNodeInfo } from '../../runs/run-info.ts';
import { PRIORITY_NAMES } from '../../workflow/task-options.ts';
import { shownLength, shownMoment } from '../terminal/moments.ts';
import type { View } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, cellText } from '../terminal/text-table.ts';
import { settingsCell } from './user-settings.ts';

/** Tasks, with moments as seen from `now` (ms since the epoch). */
export function taskView(now: number): View<TaskInfo> {
  return {
    columns: (style) => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'NAME', cell: ({ name, version }) => versionedName(shownTask(name), version) },
      { title: 'USER', cell: ({ user }) => cellText(user) },
      { title: 'QUEUE', cell: ({ queue }) => queue },
      { title: 'STATE', cell: ({ state }) => stateText(state, style) },
      { title: 'PRIORITY', cell: ({ priority }) => priorityText(priority) },
      { title: 'FAILURES', cell: ({ failures }) => String(failures), align: 'right' },
      { title: 'SINCE', cell: (task) => sinceText(task, now) },
      { title: 'ERROR', cell: errorCell },
      { title: 'WHY', cell: whyCell },
    ],
    json: taskJson,
    id: ({ id }) => id,
    none: 'no tasks',
  };
}

/** What tasks failed with. */
export function errorGroupView(now: number): View<ErrorGroup> {
  return {
    columns: () => [
      { title: 'GROUP', cell: ({ id }) => cellText(id) },
      { title: 'NAME', cell: ({ name = '' }) => cellText(shownTask(name)) },
      { title: 'FAILED', cell: ({ failed }) => String(failed), align: 'right' },
      { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), align: 'right' },
      { title: 'FIRST', cell: ({ firstAt }) => shownMoment(firstAt, now) },
      { title: 'LAST', cell: ({ lastAt }) => shownMoment(lastAt, now) },
      { title: 'SAMPLE', cell: ({ sample }) => cellText(sample) },
      { title: 'ERROR', cell: groupCell },
    ],
    json: (group) => group,
    id: ({ id }) => id,
    none: 'nothing has failed',
  };
}

function groupCell({ error = '', message }: ErrorGroup): string {
  return cellText(message === undefined ? error : `${error}: ${message}`);
}

/** A priority as people name it. */
export function priorityText(priority: number): string {
  return PRIORITY_NAMES[priority - 1] ?? String(priority);
}

/** What was thrown: its name, and the first line of its message with what is behind it. */
function errorCell({ error }: { readonly error?: TaskError }): string {
  return error === undefined ? '' : cellText(namedLineOf(error));
}

function whyCell({ cause }: { readonly cause?: Cause }): string {
  return cause === undefined ? '' : cellText(causeText(cause));
}

/** Every field of a task, in a fixed order; absent fields have no meaning in its state. */
export function taskJson(task: TaskInfo): object {
  const { id, name, user, queue, state, priority, cost, input, ...rest } = task;
  return { id, name, user, queue, state, priority, cost, input, ...rest };
}

/** Runs, with moments as seen from `now` (ms since the epoch). */
export function runView(now: number): View<RunInfo> {
  return {
    columns: (style) => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'FORM', cell: ({ form }) => form },
      { title: 'USER', cell: ({ user }) => cellText(user) },
      { title: 'QUEUE', cell: ({ queue }) => queue },
      { title: 'STATE', cell: ({ state }) => stateText(state, style) },
      { title: 'SINCE', cell: (run) => shownMoment(run.endedAt ?? run.createdAt, now) },
      { title: 'ERROR', cell: errorCell },
      { title: 'WHY', cell: whyCell },
    ],
    json: (run) => run,
    id: ({ id }) => id,
    none: 'no runs',
  };
}

/** Nodes of a run. */
export const runNodeView: View<RunNodeInfo> = {
  columns: (style) => [
    { title: 'NODE', cell: nodeText },
    { title: 'STATE', cell: ({ state }) => stateText(state, style) },
    { title: 'TASK', cell: ({ taskId }) => cellText(taskId ?? '') },
    { title: 'ERROR', cell: errorCell },
  ],
  json: (node) => node,
  id: ({ node }) => node,
  none: 'no nodes',
};

/** As drawings of graphs do: `thumbs: make-thumbs` for a member of another name than its task. */
function nodeText({ node, member }: RunNodeInfo): string {
  return cellText(member === undefined ? shownNode(node) : `${member}: ${shownNode(node)}`);
}

/** Tasks that wait for another. */
export const dependentView: View<Dependent> = {
  columns: (style) => [
    { title: 'ID', cell: ({ id }) => cellText(id) },
    { title: 'NAME', cell: ({ name }) => shownTask(name) },
    { title: 'USER', cell: ({ user }) => cellText(user) },
    { title: 'STATE', cell: ({ state }) => stateText(state, style) },
    {
      title: 'WAITS FOR',
      cell: ({ waits }) => (waits === 'suspended' ? 'its end' : `its ${waits}`),
    },
    { title: 'ON FAILURE', cell: ({ onFailure }) => onFailure ?? 'wake' },
    { title: 'ON CANCEL', cell: ({ onCancel }) => onCancel ?? 'wake' },
  ],
  json: (dependent) => dependent,
  id: ({ id }) => id,
  none: 'no dependents',
};

/** Past attempts of a task. */
export const attemptView: View<AttemptInfo> = {
  columns: () => [
    { title: 'ATTEMPT', cell: ({ attempt }) => String(attempt), align: 'right' },
    { title: 'WORKER', cell: ({ worker }) => cellText(worker) },
    { title: 'TOOK', cell: (one) => shownLength(one.endedAt - one.leasedAt), align: 'right' },
    { title: 'OUTCOME', cell: ({ outcome }) => outcome },
    { title: 'DECISION', cell: ({ decision }) => decision },
    { title: 'ERROR', cell: errorCell },
    { title: 'WHY', cell: whyCell },
  ],
  json: (attempt) => attempt,
  id: ({ attempt }) => String(attempt),
  none: 'no attempts are kept',
};

/** Users of a queue, each with what it has and what holds it back. */
export const userView: View<UserStatus> = {
  columns: (style) => [
    { title: 'USER', cell: ({ user }) => cellText(user) },
    { title: 'QUEUE', cell: ({ queue }) => queue },
    { title: 'WEIGHT', cell: ({ settings }) => String(settings.weight), align: 'right' },
    { title: 'QUEUED', cell: ({ queued }) => String(queued), align: 'right' },
    { title: 'RUNNING', cell: runningText, align: 'right' },
    { title: 'LATER', cell: ({ later }) => String(later), align: 'right' },
    { title: 'SETTINGS', cell: settingsCell },
    { title: 'STATUS', cell: (user) => userStatusText(user, style) },
  ],
  json: (user) => user,
  id: ({ user }) => user,
  none: 'no users',
};

/** Queues with their counts by state. */
export const queueView: View<QueueStatus> = {
  columns: (style) => [
    { title: 'QUEUE', cell: ({ queue }) => queue },
    ...(['queued', 'started', 'scheduled', 'deferred', 'failed', 'finished'] as const).map(
      (state): Column<QueueStatus> => ({
        title: state.toUpperCase(),
        cell: ({ counts }) => String(counts[state]),
        align: 'right',
      }),
    ),
    { title: 'READY USERS', cell: ({ readyUsers }) => String(readyUsers), align: 'right' },
    { title: 'RUNNABLE', cell: ({ runnable }) => String(runnable), align: 'right' },
    {
      title: 'STATUS',
      cell: ({ settings }) => (settings.paused === true ? style.yellow('paused') : ''),
    },
  ],
  json: (queue) => queue,
  id: ({ queue }) => queue,
  none: 'no queues',
};

/** Workers, with moments as seen from `now` (ms since the epoch). */
export function workerView(now: number): View<WorkerInfo> {
  return {
    columns: () => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'HOST', cell: ({ host }) => cellText(host) },
      { title: 'RUNNING', cell: (one) => `${one.running}/${one.concurrency}`, align: 'right' },
      { title: 'SUCCEEDED', cell: ({ attempts }) => String(attempts.succeeded), align: 'right' },
      { title: 'FAILED', cell: ({ attempts }) => String(attempts.failed), align: 'right' },
      { title: 'LOST', cell: ({ attempts }) => String(attempts.lost), align: 'right' },
      { title: 'QUEUES', cell: ({ queues }) => cellText(queues.join(' ')) },
      { title: 'TASKS', cell: ({ names }) => cellText(names.join(' ')) },
      { title: 'USERS', cell: poolText },
      { title: 'STARTED', cell: ({ startedAt }) => shownMoment(startedAt, now) },
      { title: 'SEEN', cell: ({ lastSeenAt }) => shownMoment(lastSeenAt, now) },
    ],
    json: (worker) => worker,
    id: ({ id }) => id,
    none: 'no live workers',
  };
}

/** A state in its color: green finished, red failed, yellow started. */
export function stateText(state: TaskState | RunNodeInfo['state'], style: Style): string {
  if (state === 'finished') return style.green(state);
  if (state === 'failed') return style.red(state);
  return state === 'started' ? style.yellow(state) : state;
}

function sinceText(task: TaskInfo, now: number): string {
  if (task.endedAt !== undefined) return shownMoment(task.endedAt, now);
  if (task.state === 'started') return shownMoment(task.leasedAt ?? now, now);
  if (task.state === 'scheduled') return shownMoment(task.dueAt ?? now, now);
  return shownMoment(task.createdAt, now);
}

function runningText({ running, settings }: UserStatus): string {
  return settings.maxRunning === undefined ? String(running) : `${running}/${settings.maxRunning}`;
}

function userStatusText({ settings, ready }: UserStatus, style: Style): string {
  if (settings.paused === true) return style.yellow('paused');
  return ready ? style.green('ready') : '';
}

function poolText({ assignedUsers, stealTargets }: WorkerInfo): string {
  const assigned = assignedUsers?.join(' ');
  if (stealTargets === undefined) return cellText(assigned ?? 'all');
  const steal = stealTargets === 'any' ? 'any' : stealTargets.join(' ');
  return cellText(`${assigned ?? ''} then ${steal}`.trimStart());
}
