import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import { present } from '../../base/records.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import { Pace } from '../../client/facades/pace.ts';
import { redriveManyBy } from '../../client/facades/redrive.ts';
import { type RateOptions, rateOption } from '../../client/facades/settings-options.ts';
import { demandOk } from '../../client/facades/task-facade.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import { culpritOf } from '../../domain/task/cause.ts';
import type { TaskState } from '../../domain/task/task.ts';
import { valuesOf, whereOf } from '../../search/where.ts';
import { limitArgument, rateArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shows } from '../terminal/operation-command.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { changeEach } from '../views/bulk.ts';
import { type ConfirmOptions, confirm, confirmNamed } from '../views/confirm.ts';
import { followersOf, wouldChange } from '../views/dry-run.ts';
import { foundTasks, rowsOf, showFirst, take } from '../views/select-tasks.ts';
import { rows, type ShownBy } from '../views/shown.ts';
import { errorGroupView, taskView } from '../views/views.ts';
import { namedTasks, ofTasks, VALUES, withConfirm, withFilters } from './tasks.ts';

interface DeadFilter {
  readonly queue?: string;
  readonly user?: string;
  readonly name?: string;
  readonly where?: string;
  readonly error?: string;
  readonly all?: boolean;
  readonly values?: boolean;
}

interface DeadOptions extends ConfirmOptions, DeadFilter {
  readonly limit: number;
  readonly rate?: RateOptions;
}

/** `fairloom dead list`, `fairloom dead groups` */
export const DEAD: ShownBy = {
  ...rows('dead.groups', errorGroupView),
  'dead.list': shows<DeadFilter, DeadFilter>(
    async ({ loom, output, limit, input, own }) => {
      // A run stands there when it failed at no task of its own.
      const shown = deadLetters(loom, { ...input, ...own }, own.all);
      const view = { ...taskView(epochMs()), none: 'no dead letters' };
      await showFirst(output, shown, { limit, view });
      return undefined;
    },
    {
      flags: (command) =>
        command
          .option('--where <filter>', 'that match this filter, as "age:>1h"')
          .option(
            '--all',
            'also those that only followed, and tasks that Fairloom itself stores for runs',
          )
          .option('--values', VALUES),
    },
  ),
};

/** `fairloom dead redrive`, `fairloom dead remove`: of many tasks at once. */
export function addDead(program: Command, shell: Shell): void {
  const dead = program.commands.find((one) => one.name() === 'dead') ?? program.command('dead');
  const redrives = addBulk(dead, shell, {
    verb: 'redrive',
    description: 'put dead letters back, with fresh attempts',
    done: 'redriven',
    change: redriver,
  });
  const rate = 'how many per time, as 10/1s, by this command; bulk start leaves it to workers';
  redrives.option('--rate <limit/per>', rate, rateArgument);
  addBulk(dead, shell, {
    verb: 'remove',
    description: 'remove dead letters for good',
    done: 'removed',
    change: (loom) => (id) => loom.tasks.remove(id),
  });
}

function withDeadFilters(command: Command): Command {
  return withFilters(command).option('--error <group>', 'of this error group, see dead groups');
}

/** Of those that a filter found, parts of runs are put back with their runs. */
function redriver(loom: Fairloom): (id: string, isNamed: boolean) => Promise<void> {
  const redrive = redriveManyBy(coreOf(loom));
  return async (id, isNamed) => {
    if (isNamed) await loom.tasks.redrive(id);
    else demandOk('redrive', id, await redrive(id));
  };
}

interface Bulk {
  readonly verb: string;
  readonly description: string;
  readonly done: string;
  /** `isNamed`: by its id, and not found by a filter. */
  readonly change: (loom: Fairloom) => (id: string, isNamed: boolean) => Promise<void>;
}

function addBulk(dead: Command, shell: Shell, bulk: Bulk): Command {
  return withConfirm(withDeadFilters(dead.command(`${bulk.verb} [id...]`)))
    .description(bulk.description)
    .option('--all', 'every dead letter')
    .option('--limit <n|all>', 'at most so many, oldest first', limitArgument, 100)
    .action((ids: readonly string[], options: DeadOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { chosen, more } = await choose(loom, ids, options);
        const removes = bulk.verb === 'remove';
        const followers = await followersOf(loom, removes ? chosen : [], 'removal');
        const asked = { ...options, followers };
        const agreed =
          ids.length > 0
            ? await confirmNamed(bulk.verb, ids, { ...asked, ...namedTasks(loom) }, output)
            : await confirm(bulk.verb, chosen, asked, output);
        if (more) output.note('there are more; --limit <n> or --limit all takes them in');
        if (!agreed) {
          const { done } = bulk;
          const refusal = (state: TaskState): string | undefined =>
            state === 'failed' ? undefined : `it is no dead letter: ${state}`;
          return wouldChange(output, { ...ofTasks(loom), ids: chosen, followers, done, refusal });
        }
        const turn = turnsOf(loom, options);
        const change = bulk.change(loom);
        return changeEach(bulk.verb, chosen, output, async (id) => {
          await turn();
          await change(id, ids.length > 0);
          return bulk.done;
        });
      }),
    );
}

/** Each is fulfilled when the next may be changed. */
function turnsOf(loom: Fairloom, { rate }: DeadOptions): () => Promise<void> {
  if (rate === undefined) return async () => undefined;
  const pace = new Pace(rateOption('rate', rate), coreOf(loom).clock);
  const { signal } = new AbortController();
  return () => pace.turn(signal);
}

async function choose(
  loom: Fairloom,
  ids: readonly string[],
  options: DeadOptions,
): Promise<{ readonly chosen: readonly string[]; readonly more: boolean }> {
  const { queue, user, name, error, where, all } = options;
  const filtered = [queue, user, name, error, where].some((one) => one !== undefined);
  const said = [ids.length > 0, filtered, all === true].filter(Boolean).length;
  if (said !== 1) {
    const problem =
      said === 0 ? 'ids, filters or --all needed' : 'ids, filters or --all: one of them';
    throw new CliError(EXIT.usage, problem);
  }
  if (ids.length > 0) return { chosen: ids, more: false };
  const { items, more } = await take(deadLetters(loom, options, true), options.limit);
  return { chosen: items.map(({ id }) => id), more };
}

function deadLetters(
  loom: Fairloom,
  { queue, user, name, error, where, values }: DeadFilter,
  followers?: boolean,
): AsyncGenerator<TaskInfo> {
  if (where !== undefined) {
    const filter = present({ queue, user, name, error, values });
    return failedOf(foundTasks(loom, { ...filter, where: deadWhere(where) }), followers);
  }
  const filter = { queue, user, name, error, values, followers };
  return rowsOf((page) => loom.dead.list({ ...page, ...filter }));
}

/** A filter that names no state means those that failed. */
function deadWhere(text: string): string {
  return valuesOf(whereOf(text), 'state') === undefined ? `${text} state:failed` : text;
}

async function* failedOf(
  tasks: AsyncIterable<TaskInfo>,
  followers = false,
): AsyncGenerator<TaskInfo> {
  for await (const task of tasks) {
    if (task.state !== 'failed') continue;
    if (followers || culpritOf(task.cause) === undefined) yield task;
  }
}
