import { epochMs } from '../../base/globals.ts';
import { ScheduleNotFoundError } from '../../domain/errors/errors.ts';
import type { ScheduleInfo } from '../../schedules/schedule-info.ts';
import type { CommonScheduleOptions } from '../../schedules/schedule-options.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { TaskDefinition } from '../../workflow/task-definition.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownLength, shownMoment } from '../terminal/moments.ts';
import { type CommandCall, shows } from '../terminal/operation-command.ts';
import { fieldLines, type Output, type Thing } from '../terminal/output.ts';
import type { NamedSteps } from '../terminal/session.ts';
import { changeNone } from '../views/bulk.ts';
import { demandTaskName } from '../views/by-name.ts';
import { type ConfirmOptions, confirmNamed } from '../views/confirm.ts';
import { wouldChange } from '../views/dry-run.ts';
import { scheduleView } from '../views/schedule-view.ts';
import { answerOf, doEach, each, rows, type ShownBy, thing } from '../views/shown.ts';

interface SetInput extends Pick<CommonScheduleOptions, 'user' | 'queue' | 'priority' | 'retries'> {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
}

interface OnInput extends SetInput {
  readonly event: string;
  readonly key?: string;
}

const { show: showUpdate } = thing('schedules.update', shownSchedule)['schedules.update'];

/** `fairloom schedules …` */
export const SCHEDULES: ShownBy = {
  ...rows('schedules.list', scheduleView),
  ...thing('schedules.get', shownSchedule),
  ...thing('schedules.next', ({ id, slots }, output) => {
    const now = epochMs();
    if (slots.length === 0) output.note('none: it is paused, or over');
    const text = slots.map((at) => `${new Date(at).toISOString()}  ${shownMoment(at, now)}`);
    return { id, text };
  }),
  'schedules.set': shows<SetInput>(async (call) => {
    const { id, name, ...options } = call.input;
    const step = await stepNamed(call, name);
    const schedule =
      step === undefined
        ? await answerOf('schedules.set', call)
        : await call.loom.schedules.set(id, { ...options, task: untyped(step) });
    call.output.one({ json: schedule, ...shownSchedule(schedule, call.output) });
    return undefined;
  }),
  'schedules.on': shows<OnInput>(async (call) => {
    const { id, name, ...options } = call.input;
    const step = await stepNamed(call, name);
    const schedule =
      step === undefined
        ? await answerOf('schedules.on', call)
        : await call.loom.schedules.on(id, { ...options, task: untyped(step) });
    call.output.one({ json: schedule, ...shownSchedule(schedule, call.output) });
    return undefined;
  }),
  'schedules.update': {
    show: (call) => {
      if (Object.keys(call.input).length > 1) return showUpdate(call);
      const hint = 'see fairloom schedules update --help';
      throw new CliError(EXIT.usage, 'nothing to change', hint);
    },
  },
  ...thing('schedules.run', ({ id }) => ({ id, text: [id] })),
  'schedules.pause': each('pause'),
  'schedules.resume': each('resume'),
  'schedules.remove': shows<Readonly<Record<string, unknown>>, ConfirmOptions>(async (call) => {
    const { loom, output, ids, own } = call;
    const named = {
      ...own,
      noun: 'schedule',
      isStored: async (id: string) => (await loom.schedules.get(id)) !== undefined,
      missing: (id: string) => new ScheduleNotFoundError(id),
    };
    if (!(await confirmNamed('remove', ids, named, output))) {
      if (own.dryRun !== true) return changeNone(output);
      return wouldChange(output, {
        ids,
        done: 'removed',
        stateOf: async (id) => ((await named.isStored(id)) ? 'scheduled' : undefined),
        refusal: () => undefined,
      });
    }
    return doEach('remove', call);
  }),
  'schedules.backfill': {
    show: async (call) => {
      const answer = await answerOf('schedules.backfill', call);
      const { id, created, existing, refused } = answer;
      const text = [`${created.length} stored, ${existing.length} were there`];
      call.output.one({ json: answer, id, text });
      const [first] = refused;
      if (first === undefined) return undefined;
      throw new CliError(EXIT.refused, `${refused.length} were refused: ${first.error}`);
    },
  },
};

/** What is more than a task, of the modules; `undefined` for a task, of which the name is enough. */
async function stepNamed(
  { loom, steps, output }: Pick<CommandCall, 'loom' | 'steps' | 'output'>,
  name: string,
): Promise<Exclude<ReturnType<NamedSteps['get']>, undefined> | undefined> {
  const step = steps.get(name);
  if (step === undefined) await demandTaskName(loom, name, output);
  return step instanceof TaskDefinition && !step.dynamic ? undefined : step;
}

function shownSchedule(schedule: ScheduleInfo, output: Output): Omit<Thing, 'json'> {
  return { id: schedule.id, text: scheduleLines(schedule, output) };
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
