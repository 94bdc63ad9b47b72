import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import { present } from '../../base/records.ts';
import { namedLineOf } from '../../base/thrown.ts';
import type { Fairloom } from '../../client/client.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import type { TaskProgress } from '../../client/facades/task-progress.ts';
import { lengthAt, RATE_MINUTES } from '../../client/facades/user-history.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import type { Explanation } from '../../domain/explain/explain.ts';
import { suggestion } from '../../domain/explain/suggestion.ts';
import { causeText } from '../../domain/task/cause.ts';
import type { TaskDependents } from '../../domain/task/dependents.ts';
import { shownNode, shownTask } from '../../domain/task/node-name.ts';
import { encryptedWords } from '../../domain/task/sealed-text.ts';
import type { TaskState } from '../../domain/task/task.ts';
import { stateOption } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownLength, shownMoment } from '../terminal/moments.ts';
import { shows } from '../terminal/operation-command.ts';
import { fieldLines, jsonLine, type Output } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';
import { cellText, textTable } from '../terminal/text-table.ts';
import { type ConfirmOptions, confirm, confirmNamed } from '../views/confirm.ts';
import { type DryRunWords, followersOf, wouldChange } from '../views/dry-run.ts';
import {
  rowsOf,
  searched,
  selectTasks,
  showFirst,
  shownOf,
  type TaskFilterOptions,
} from '../views/select-tasks.ts';
import { answerOf, doEach, each, type ShownBy } from '../views/shown.ts';
import {
  attemptView,
  dependentView,
  priorityText,
  stateText,
  taskJson,
  taskView,
} from '../views/views.ts';
import { LOGS } from './task-logs.ts';

interface ListOptions {
  readonly all?: boolean;
  readonly values?: boolean;
}

interface CancelOptions extends TaskFilterOptions, ConfirmOptions {}

/** `fairloom tasks …` */
export const TASKS: ShownBy = {
  'tasks.list': shows<TaskFilterOptions, ListOptions>(
    async (call) => {
      const { loom, output, limit, input, own } = call;
      const { found, note } = searched(loom, present({ ...input, values: own.values }), limit);
      await showFirst(output, shownOf(found, own.all), { limit, view: taskView(epochMs()) });
      note(output);
      return undefined;
    },
    {
      flags: (command) =>
        command
          .option('--all', 'also tasks that Fairloom itself stores for runs')
          .option('--values', VALUES),
    },
  ),
  'tasks.get': {
    show: async (call) => {
      const { attempts, ...task } = await answerOf('tasks.get', call);
      const { output } = call;
      const { style } = output;
      const table = attempts.length > 0 ? textTable(attempts, attemptView.columns(style)) : [];
      output.one({
        json: { ...taskJson(task), attempts },
        id: task.id,
        text: [...taskLines(task, output), ...(table.length > 0 ? ['', ...table] : [])],
      });
      return undefined;
    },
  },
  'tasks.dependents': shows<{ readonly id: string }>(async ({ loom, output, limit, input }) => {
    // Also of an id that is not stored.
    const all = rowsOf((page) => loom.tasks.dependents(input.id, page));
    await showFirst(output, all, { limit, view: dependentView });
    return undefined;
  }),
  'tasks.explain': {
    show: async (call) => {
      const explanation = await answerOf('tasks.explain', call);
      const { loom, output } = call;
      const isText = output.form === 'table';
      const more = isText
        ? [...(await logsLines(loom, explanation)), ...(await expectedLines(loom, explanation))]
        : [];
      const text = explanationLines(explanation, more, output.style);
      output.one({ json: explanation, id: explanation.id, text });
      return undefined;
    },
  },
  'tasks.logs': LOGS,
  'tasks.redrive': each('redrive'),
  'tasks.run-now': each('run-now'),
  'tasks.remove': shows<Readonly<Record<string, unknown>>, ConfirmOptions>(async (call) => {
    const { loom, output, ids, own } = call;
    const followers = await followersOf(loom, ids, 'removal');
    const named = { ...own, followers, ...namedTasks(loom) };
    if (await confirmNamed('remove', ids, named, output)) return doEach('remove', call);
    return wouldChange(output, { ...ofTasks(loom), ids, followers, ...REMOVED });
  }),
  'tasks.cancel': shows<Readonly<Record<string, unknown>>, CancelOptions>(
    async (call) => {
      const { loom, output, ids, own } = call;
      const chosen = await choose(loom, ids, own, (state) => !isEnded(state));
      const followers = await followersOf(loom, chosen, 'cancel');
      const asked = { ...own, followers };
      const agreed =
        ids.length > 0
          ? await confirmNamed('cancel', ids, { ...asked, ...namedTasks(loom) }, output)
          : await confirm('cancel', chosen, asked, output);
      if (agreed) return doEach('cancel', { ...call, ids: chosen });
      return wouldChange(output, { ...ofTasks(loom), ids: chosen, followers, ...CANCELED });
    },
    {
      flags: (command) =>
        withFilters(command).addOption(stateOption('all of them that are in this state')),
    },
  ),
};

/** What `--values` does. */
export const VALUES = 'with --json: inputs and results too, which may be long';

/** Adds the filters that choose tasks. */
export function withFilters(command: Command): Command {
  return command
    .option('--queue <name>', 'all of this queue')
    .option('--user <id>', 'all of this user')
    .option('--name <name>', 'all of this name')
    .option('--where <filter>', 'all that match this filter, as "state:failed age:>1h"');
}

/** Adds `--yes` and `--dry-run`. */
export function withConfirm(command: Command): Command {
  return command
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would be done, and do nothing');
}

function explanationLines(
  explanation: Explanation,
  more: readonly string[],
  style: Style,
): readonly string[] {
  const { id, state, error, obstacles } = explanation;
  return [
    `${id} is ${stateText(state, style)}`,
    ...(error === undefined ? [] : [style.red(namedLineOf(error))]),
    ...obstacles.flatMap(({ kind, text, command }) => [
      `${style.yellow(kind)}: ${text}`,
      ...(command === undefined ? [] : [style.dim(`  ${command}`)]),
    ]),
    ...more.map((line) => style.dim(`  ${line}`)),
    ...dependentLines(explanation, style),
  ];
}

/** Where to look next: a failed task that has logged something. */
async function logsLines(loom: Fairloom, { id, state }: Explanation): Promise<readonly string[]> {
  if (state !== 'failed') return [];
  const { done } = await loom.tasks.logs(id).next();
  return done === true ? [] : [suggestion('tasks logs', id)];
}

/** When a task that nothing holds up is likely to start, by what its user has started of late. */
async function expectedLines(
  loom: Fairloom,
  { id, position, obstacles }: Explanation,
): Promise<readonly string[]> {
  if (position === undefined || obstacles.some(({ kind }) => kind !== 'in-line')) return [];
  const task = await loom.tasks.get(id);
  if (task === undefined) return [];
  const { perMinute } = await loom.users.history(task.user, { queue: task.queue });
  const ms = lengthAt(perMinute, position.turnsBefore + 1);
  if (ms === undefined) return [];
  const rate = `the rate of the last ${RATE_MINUTES} minutes`;
  return [`its turn comes in about ${shownLength(ms)}, at ${rate} of its user`];
}

/** Who waits for it, and the command that lists them. */
function dependentLines({ id, dependents }: Explanation, style: Style): readonly string[] {
  if (dependents === undefined) return [];
  const what = dependents.count === 1 ? '1 task waits' : `${dependents.count} tasks wait`;
  return [
    `${style.yellow('dependents')}: ${what} for it: ${dependentsText(dependents)}`,
    style.dim(`  fairloom tasks dependents ${id}`),
  ];
}

function dependentsText({ count, awaitingRedrive, ids }: TaskDependents): string {
  const more = count > ids.length ? ` and ${count - ids.length} more` : '';
  const waiting = awaitingRedrive === 0 ? '' : ` (${awaitingRedrive} for a redrive)`;
  return `${cellText(ids.join(' '))}${more}${waiting}`;
}

/** What `--dry-run` says of those that were asked for. */
export const CANCELED: DryRunWords = {
  done: 'canceled',
  refusal: (state) => (isEnded(state) ? `it has ended as ${state}` : undefined),
};

const REMOVED: DryRunWords = {
  done: 'removed',
  refusal: (state) => (isEnded(state) ? undefined : `it has not ended: ${state}`),
};

/** How tasks stand. */
export function ofTasks(loom: Fairloom): {
  readonly stateOf: (id: string) => Promise<TaskState | undefined>;
} {
  return { stateOf: async (id) => (await loom.tasks.get(id))?.state };
}

/** How tasks that were named are looked up before a question. */
export function namedTasks(loom: Fairloom): {
  readonly isStored: (id: string) => Promise<boolean>;
  readonly missing: (id: string) => Error;
} {
  return {
    isStored: async (id) => (await loom.tasks.get(id)) !== undefined,
    missing: (id) => new TaskNotFoundError(id),
  };
}

/** The ids that were named, or those of all tasks that match. */
async function choose(
  loom: Fairloom,
  ids: readonly string[],
  options: TaskFilterOptions,
  isMeant: (state: TaskState) => boolean,
): Promise<readonly string[]> {
  const { state, queue, user, name, where } = options;
  const filter = present({ state, queue, user, name, where });
  const filtered = Object.keys(filter).length > 0;
  if (filtered === ids.length > 0) {
    throw new CliError(EXIT.usage, filtered ? 'ids or filters, not both' : 'ids or filters needed');
  }
  if (!filtered) return ids;
  const found: string[] = [];
  for await (const task of selectTasks(loom, filter)) if (isMeant(task.state)) found.push(task.id);
  return found;
}

function taskLines(task: TaskInfo, { style }: Output): readonly string[] {
  const now = epochMs();
  const moment = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : `${new Date(at).toISOString()} (${shownMoment(at, now)})`;
  const json = (value: unknown): string | undefined =>
    value === undefined ? undefined : jsonLine(value);
  return fieldLines(
    {
      id: task.id,
      name: shownTask(task.name),
      version: task.version,
      user: task.user,
      queue: task.queue,
      state: stateText(task.state, style),
      priority: priorityText(task.priority),
      created: moment(task.createdAt),
      due: moment(task.dueAt),
      expires: moment(task.expiresAt),
      worker: task.worker,
      leased: moment(task.leasedAt),
      'lease until': moment(task.leaseUntil),
      ended: moment(task.endedAt),
      failures: task.failures === 0 ? undefined : String(task.failures),
      losses: task.losses === 0 ? undefined : String(task.losses),
      why: [task.failureType, whyText(task)].filter(Boolean).join(': ') || undefined,
      error: task.error === undefined ? undefined : `${task.error.name}: ${task.error.message}`,
      'depends on': task.dependsOn.length === 0 ? undefined : task.dependsOn.join(' '),
      'blocked by': task.blockedBy.length === 0 ? undefined : task.blockedBy.join(' '),
      dependents:
        task.dependents === undefined || task.dependents.count === 0
          ? undefined
          : `${task.dependents.count}: ${dependentsText(task.dependents)}`,
      'idempotency key': task.idempotencyKey,
      input: json(task.input),
      progress: progressText(task, now),
      metadata: json(task.metadata),
      result: json(task.result),
      values: task.encryptedWith === undefined ? undefined : encryptedWords(task.encryptedWith),
    },
    style,
  );
}

/** Of its own handler, or of the nodes of a driven run. */
function progressText({ progress, nodeProgress = {} }: TaskInfo, now: number): string | undefined {
  const text = ({ fraction, message, at, attempt }: TaskProgress): string => {
    const words = message === undefined ? '' : ` ${message}`;
    const by = attempt === 1 ? '' : `, attempt ${attempt}`;
    return `${Math.floor(fraction * 100)} %${words} (${shownMoment(at, now)}${by})`;
  };
  const nodes = Object.entries(nodeProgress).map(
    ([node, one]) => `${shownNode(node)} ${text(one)}`,
  );
  return [...(progress === undefined ? [] : [text(progress)]), ...nodes].join('; ') || undefined;
}

function whyText({ cause }: TaskInfo): string | undefined {
  return cause === undefined ? undefined : causeText(cause);
}

function isEnded(state: TaskState): boolean {
  return state === 'finished' || state === 'failed' || state === 'canceled';
}
