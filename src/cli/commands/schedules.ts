import { type Command, Option } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { Duration } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import { ScheduleNotFoundError } from '../../domain/errors/errors.ts';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../../domain/port/schedule.ts';
import type { ScheduleInfo } from '../../schedules/schedule-info.ts';
import type { CommonScheduleOptions } from '../../schedules/schedule-options.ts';
import type { SchedulePatch } from '../../schedules/schedule-patch.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { TaskDefinition } from '../../workflow/task-definition.ts';
import type { Priority } from '../../workflow/task-options.ts';
import {
  durationArgument,
  inputArgument,
  integerArgument,
  momentArgument,
  orDefault,
  priorityArgument,
} from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownLength, shownMoment } from '../terminal/moments.ts';
import { fieldLines, type Output } from '../terminal/output.ts';
import { type NamedSteps, type Shell, withLoom } from '../terminal/session.ts';
import { changeEach, changeNone } from '../views/bulk.ts';
import { demandTaskName } from '../views/by-name.ts';
import { type ConfirmOptions, confirmNamed } from '../views/confirm.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { scheduleView } from '../views/schedule-view.ts';
import { limitArgument, rowsOf, showFirst } from '../views/select-tasks.ts';
import { withConfirm } from './tasks.ts';

interface ListOptions {
  readonly limit: number;
}

interface SetOptions {
  readonly cron?: string;
  readonly every?: Duration;
  readonly timeZone?: string;
  readonly start?: Date;
  readonly end?: Date;
  readonly times?: number;
  readonly jitter?: Duration;
  readonly missed?: CommonScheduleOptions['missed'];
  readonly overlap?: CommonScheduleOptions['overlap'];
  readonly user?: string;
  readonly queue?: string;
  readonly priority?: Priority;
  readonly retries?: number;
}

interface BackfillArguments extends ConfirmOptions {
  readonly from: Date;
  readonly to?: Date;
}

/** `fairloom schedules …` */
export function addSchedules(program: Command, shell: Shell): void {
  const schedules = program.command('schedules').description('what starts at given times');
  addList(schedules, shell);
  addGet(schedules, shell);
  addNext(schedules, shell);
  addSet(schedules, shell);
  addOn(schedules, shell);
  addUpdate(schedules, shell);
  addRun(schedules, shell);
  addSwitches(schedules, shell);
  addRemove(schedules, shell);
  addBackfill(schedules, shell);
}

function addList(schedules: Command, shell: Shell): void {
  schedules
    .command('list')
    .description('schedules, by name')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action((options: ListOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { limit } = options;
        const all = rowsOf((page) => loom.schedules.list(page));
        await showFirst(output, all, { limit, view: scheduleView(epochMs()) });
        return undefined;
      }),
    );
}

function addGet(schedules: Command, shell: Shell): void {
  schedules
    .command('get <id>')
    .description('everything about one schedule')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const schedule = await loom.schedules.get(id);
        if (schedule === undefined) throw new ScheduleNotFoundError(id);
        output.one({ json: schedule, id, text: scheduleLines(schedule, output) });
        return undefined;
      }),
    );
}

function addNext(schedules: Command, shell: Shell): void {
  schedules
    .command('next <id>')
    .description('the slots that come next')
    .option('-n, --count <n>', 'how many', integerArgument(1), 5)
    .action((id: string, { count }: { readonly count: number }, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const slots = (await loom.schedules.next(id, count)).map((slot) => slot.getTime());
        const now = epochMs();
        const text = slots.map((at) => `${new Date(at).toISOString()}  ${shownMoment(at, now)}`);
        if (slots.length === 0) output.note('none: it is paused, or over');
        output.one({ json: { id, slots } satisfies JsonShapes['schedules next'], id, text });
        return undefined;
      }),
    );
}

/** What commander hands on behind the arguments. */
type SetRest = [options: SetOptions, command: Command];
type OnRest = [options: OnOptions, command: Command];

function addSet(schedules: Command, shell: Shell): void {
  schedules
    .command('set <id> <name> [input]')
    .description(
      'store or change a schedule of a task, or of a pipeline of --module; the input is JSON, @file, or - for stdin',
    )
    .option('--cron <pattern>', 'five fields, or six with seconds; or @daily and its like')
    .option('--every <time>', 'a length, as 30s', durationArgument)
    .option('--time-zone <zone>', 'of the pattern, as Europe/Rome; default: UTC')
    .option('--start <moment>', 'nothing before', momentArgument)
    .option('--end <moment>', 'nothing after', momentArgument)
    .option('--times <n>', 'over after so many tasks', integerArgument(1))
    .option('--jitter <time>', 'each slot is late by up to this much', durationArgument)
    .addOption(missedOption('default: one'))
    .addOption(overlapOption('default: skip'))
    .option('--user <id>', 'whose turn its tasks take; default: default')
    .option('--queue <name>', 'default: default')
    .option('--priority <1-6|name>', 'very-low … critical; default: normal', priorityArgument)
    .option('--retries <n>', 'attempts after the first', integerArgument(0))
    .action(async (id: string, name: string, input: string | undefined, ...rest: SetRest) => {
      const [options, command] = rest;
      await withLoom(shell, command, async (loom, output, steps) => {
        const given = { name, input: await inputArgument(input, shell.stdin) };
        const schedule = await set(
          loom,
          { id, ...given, options: scheduleOptionsOf(options) },
          { steps, output },
        );
        output.one({ json: schedule, id, text: scheduleLines(schedule, output) });
        return undefined;
      });
    });
}

interface OnOptions extends Pick<SetOptions, 'user' | 'queue' | 'priority' | 'retries'> {
  readonly event: string;
  readonly key?: string;
}

function addOn(schedules: Command, shell: Shell): void {
  schedules
    .command('on <id> <name> [input]')
    .description(
      'start a task, or a pipeline of --module, at each event; without an input it gets what was published',
    )
    .requiredOption('--event <name>', 'the name of the events, as order.paid')
    .option('--key <key>', 'events about this alone; default: about anything')
    .option('--user <id>', 'whose events, and whose turn its tasks take; default: default')
    .option('--queue <name>', 'default: default')
    .option('--priority <1-6|name>', 'very-low … critical; default: normal', priorityArgument)
    .option('--retries <n>', 'attempts after the first', integerArgument(0))
    .action(async (id: string, name: string, input: string | undefined, ...rest: OnRest) => {
      const [options, command] = rest;
      await withLoom(shell, command, async (loom, output, steps) => {
        const given = { ...options, input: await inputArgument(input, shell.stdin) };
        const step = await stepNamed(name, loom, { steps, output });
        const schedule =
          step === undefined
            ? await loom.schedules.onByName(id, { ...given, name })
            : await loom.schedules.on(id, { ...given, task: untyped(step) });
        output.one({ json: schedule, id, text: scheduleLines(schedule, output) });
        return undefined;
      });
    });
}

/** `--missed`: one of the policies. */
function missedOption(help: string): Option {
  return new Option('--missed <policy>', help).choices(MISSED_POLICIES);
}

/** `--overlap`: one of the policies. */
function overlapOption(help: string): Option {
  return new Option('--overlap <policy>', help).choices(OVERLAP_POLICIES);
}

interface UpdateOptions
  extends Omit<SetOptions, 'start' | 'end' | 'times' | 'jitter' | 'priority' | 'retries'> {
  readonly start?: SchedulePatch['start'];
  readonly end?: SchedulePatch['end'];
  readonly times?: SchedulePatch['limit'];
  readonly jitter?: SchedulePatch['jitter'];
  readonly priority?: SchedulePatch['priority'];
  readonly input?: string;
}

function addUpdate(schedules: Command, shell: Shell): void {
  schedules
    .command('update <id>')
    .description('change what is said and keep the rest; "default" takes a field away')
    .option('--cron <pattern>', 'another pattern, in the zone that it has')
    .option('--every <time>', 'a length, as 30s', durationArgument)
    .option('--time-zone <zone>', 'of the pattern, as Europe/Rome')
    .option('--start <moment>', 'nothing before', orDefault(momentArgument))
    .option('--end <moment>', 'nothing after', orDefault(momentArgument))
    .option('--times <n>', 'over after so many tasks', orDefault(integerArgument(1)))
    .option('--jitter <time>', 'each slot is late by up to this', orDefault(durationArgument))
    .addOption(missedOption('as for set'))
    .addOption(overlapOption('as for set'))
    .option('--user <id>', 'whose turn its tasks take')
    .option('--queue <name>', 'where they stand; of tasks')
    .option('--priority <1-6|name>', 'very-low … critical; of tasks', priorityArgument)
    .option('--input <json>', 'JSON, @file, or - for stdin')
    .action((id: string, options: UpdateOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { times, input, ...rest } = options;
        const patch: SchedulePatch = {
          ...rest,
          ...(times === undefined ? {} : { limit: times }),
          ...(input === undefined ? {} : { input: await inputArgument(input, shell.stdin) }),
        };
        if (Object.keys(patch).length === 0) {
          throw new CliError(
            EXIT.usage,
            'nothing to change',
            'see fairloom schedules update --help',
          );
        }
        const schedule = await loom.schedules.update(id, patch);
        output.one({ json: schedule, id, text: scheduleLines(schedule, output) });
        return undefined;
      }),
    );
}

interface SetCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly options: CommonScheduleOptions;
}

async function set(
  loom: Fairloom,
  { id, name, input, options }: SetCall,
  said: Said,
): Promise<ScheduleInfo> {
  const step = await stepNamed(name, loom, said);
  if (step === undefined) return loom.schedules.setByName(id, { ...options, name, input });
  return loom.schedules.set(id, { ...options, task: untyped(step), input });
}

interface Said {
  readonly steps: NamedSteps;
  readonly output: Output;
}

/** What is more than a task, of the modules; `undefined` for a task, of which the name is enough. */
async function stepNamed(
  name: string,
  loom: Fairloom,
  { steps, output }: Said,
): Promise<Exclude<ReturnType<NamedSteps['get']>, undefined> | undefined> {
  const step = steps.get(name);
  if (step === undefined) await demandTaskName(loom, name, output);
  return step instanceof TaskDefinition && !step.dynamic ? undefined : step;
}

/** What is wrong with it, the library says. */
function scheduleOptionsOf({ times, priority, ...rest }: SetOptions): CommonScheduleOptions {
  return {
    ...rest,
    ...(times === undefined ? {} : { limit: times }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function addRun(schedules: Command, shell: Shell): void {
  schedules
    .command('run <id>')
    .description('start its task once, now')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { id: taskId, created, conflict } = await loom.schedules.run(id);
        const json = { id: taskId, created, conflict } satisfies JsonShapes['schedules run'];
        output.one({ json, id: taskId, text: [taskId] });
        return undefined;
      }),
    );
}

function addSwitches(schedules: Command, shell: Shell): void {
  for (const [verb, does] of [
    ['pause', 'fire nothing of schedules until they are resumed'],
    ['resume', 'let schedules go on, from the next slot'],
  ] as const) {
    schedules
      .command(`${verb} <id...>`)
      .description(does)
      .action((ids: readonly string[], _options: unknown, command: Command) =>
        withLoom(shell, command, (loom, output) =>
          changeEach(verb, ids, output, async (id) => (await loom.schedules[verb](id)).state),
        ),
      );
  }
}

function addRemove(schedules: Command, shell: Shell): void {
  withConfirm(schedules.command('remove <id...>'))
    .description('take schedules away; tasks that they have made stay')
    .action((ids: readonly string[], options: ConfirmOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const named = {
          ...options,
          noun: 'schedule',
          isStored: async (id: string) => (await loom.schedules.get(id)) !== undefined,
          missing: (id: string) => new ScheduleNotFoundError(id),
        };
        if (!(await confirmNamed('remove', ids, named, output))) return changeNone(output);
        return changeEach('remove', ids, output, async (id) => {
          if (!(await loom.schedules.remove(id))) throw new ScheduleNotFoundError(id);
          return 'removed';
        });
      }),
    );
}

function addBackfill(schedules: Command, shell: Shell): void {
  schedules
    .command('backfill <id>')
    .description('store a task for every slot of a stretch that has passed')
    .requiredOption('--from <moment>', 'where it begins', momentArgument)
    .option('--to <moment>', 'where it ends; default: now', momentArgument)
    .action((id: string, { from, to }: BackfillArguments, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { created, existing, refused } = await loom.schedules.backfill(id, { from, to });
        const refusals = refused.map(({ slot, error }) => ({ slot, error: error.message }));
        const [first] = refusals;
        const json = { id, created, existing, refused: refusals };
        output.one({
          json: json satisfies JsonShapes['schedules backfill'],
          id,
          text: [`${created.length} stored, ${existing.length} were there`],
        });
        if (first === undefined) return undefined;
        throw new CliError(EXIT.refused, `${refused.length} were refused: ${first.error}`);
      }),
    );
}

function scheduleLines(schedule: ScheduleInfo, { style }: Output): readonly string[] {
  const now = epochMs();
  const moment = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : `${new Date(at).toISOString()} (${shownMoment(at, now)})`;
  const { everyMs, jitterMs, limit } = schedule;
  return fieldLines(
    {
      id: schedule.id,
      task: schedule.task,
      graph: schedule.graph,
      event: schedule.event,
      key: schedule.key,
      cron: schedule.cron,
      zone: schedule.timeZone,
      every: everyMs === undefined ? undefined : shownLength(everyMs),
      start: moment(schedule.start),
      end: moment(schedule.end),
      limit: limit === undefined ? undefined : String(limit),
      jitter: jitterMs === undefined ? undefined : shownLength(jitterMs),
      input: schedule.input === undefined ? undefined : JSON.stringify(schedule.input),
      missed: schedule.missed,
      overlap: schedule.overlap,
      user: schedule.user,
      queue: schedule.queue,
      state: schedule.state,
      next: moment(schedule.nextAt),
      last: moment(schedule.lastAt),
      'last task': schedule.lastTaskId,
      fired: String(schedule.fired),
      'missed slots': String(schedule.missedSlots),
      'overlapped slots': String(schedule.overlappedSlots),
    },
    style,
  );
}
