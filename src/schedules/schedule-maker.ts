/** Makes what is stored of a schedule out of what callers say. */

import type { ValueCodec } from '../codec/codec.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import type { ScheduleChange } from '../domain/schedule/schedule.ts';
import type { NewTask } from '../domain/task/task.ts';
import type { TaskMaker } from '../enqueue/task-maker.ts';
import { drivenTask } from '../runs/dispatched/run-tasks.ts';
import type { GraphCache } from '../runs/shared/graph-cache.ts';
import type { KnownGraph } from '../runs/shared/known-graph.ts';
import { runSettings } from '../runs/shared/run-options.ts';
import { PipelineDefinition, type StepDefinition } from '../workflow/pipeline-definition.ts';
import { definitionOf, type TaskDefinition } from '../workflow/task-definition.ts';
import {
  type CommonScheduleOptions,
  type NamedScheduleOptions,
  policiesOf,
  timingOf,
} from './schedule-options.ts';
import { type ScheduleSpec, specText, type TaskTemplate } from './spec.ts';
import { checkTemplate, factsOfSlot, REFERENCES, rendered } from './template.ts';
import { Timetable, type Timing } from './timing/timing.ts';

/** What making a schedule needs of its client. */
export interface MakerParts {
  readonly maker: TaskMaker;
  readonly codec: ValueCodec;
  readonly graphs: GraphCache;
  /** Of schedules that name none. */
  readonly timeZone: string;
}

/** What a caller says: a step, or the name of a task. */
export type AnyScheduleOptions = CommonScheduleOptions & {
  readonly task?: unknown;
  readonly name?: NamedScheduleOptions['name'];
  readonly input?: unknown;
};

/** A schedule to be stored, but for where it stands. */
export interface MadeSchedule {
  readonly table: Timetable;
  readonly change: Omit<ScheduleChange, 'id' | 'revision' | 'paused' | 'next'>;
  /** To be stored before it. */
  readonly graph: KnownGraph | undefined;
}

/** Where a schedule is made, and at which moment. */
interface Place {
  readonly id: string;
  readonly now: number;
  /** Of the stored schedule, so that it counts on from there. */
  readonly anchor: number | undefined;
}

/** @throws {@link InvalidOptionError}, {@link InvalidPayloadError}; what compiling a step throws. */
export async function makeSchedule(
  parts: MakerParts,
  options: AnyScheduleOptions,
  { id, now, anchor }: Place,
): Promise<MadeSchedule> {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError('options', 'an object', options);
  }
  const { missed, cap, overlap, limit } = policiesOf(options);
  const timing = timingOf(options, { anchor: anchor ?? now, timeZone: parts.timeZone });
  const table = new Timetable(id, timing);
  const { task, graph, isOpen } = await templateOf(parts, options, { timing, now, table });
  const spec: Omit<ScheduleSpec, 'version'> = { timing, missed, cap, isOpen, task };
  return {
    table,
    graph,
    change: {
      spec: specText(spec),
      overlap,
      ...(limit === undefined ? {} : { limit }),
      ...(graph === undefined ? {} : { graph: graph.hash }),
    },
  };
}

interface TemplatePlace {
  readonly timing: Timing;
  readonly table: Timetable;
  readonly now: number;
}

interface Template {
  readonly task: TaskTemplate;
  readonly graph: KnownGraph | undefined;
  readonly isOpen: boolean;
}

async function templateOf(
  parts: MakerParts,
  options: AnyScheduleOptions,
  place: TemplatePlace,
): Promise<Template> {
  const given = options.input;
  const isFunction = typeof given === 'function';
  const input: unknown = isFunction ? given(REFERENCES) : given;
  const step = stepOf(options);
  if (step instanceof PipelineDefinition || step?.dynamic !== undefined) {
    return { ...runTemplate(parts, { step, input, options }), isOpen: true };
  }
  const name = step?.name ?? options.name ?? '';
  const payload = parts.codec.payload(name, input);
  if (isFunction) checkTemplate(payload);
  const sample = isFunction ? parts.codec.read(sampleOf(payload, place)) : input;
  const made =
    step === undefined
      ? parts.maker.makeByName(name, sample, options)
      : await parts.maker.make(step, sample, options);
  return { task: { ...templateFrom(made), payload }, graph: undefined, isOpen: isFunction };
}

/** The input of the first slot, so that a schema sees what a handler will. */
function sampleOf(payload: string, { timing, table, now }: TemplatePlace): string {
  const slot = table.next(now) ?? now;
  return rendered(payload, factsOfSlot(slot, timing.timeZone ?? 'UTC', 'sample'));
}

function stepOf({
  task,
  name,
}: AnyScheduleOptions): TaskDefinition | PipelineDefinition | undefined {
  if (task === undefined && name !== undefined) return undefined;
  return task instanceof PipelineDefinition ? task : definitionOf(task);
}

interface RunCallOptions {
  readonly step: StepDefinition;
  readonly input: unknown;
  readonly options: AnyScheduleOptions;
}

/** The task of a slot is a driven run; its own id stands in its options. */
function runTemplate(
  { graphs, maker, codec }: MakerParts,
  { step, input, options }: RunCallOptions,
): { readonly task: TaskTemplate; readonly graph: KnownGraph } {
  const known = graphs.ofStep(step);
  const settings = runSettings({ maker, newId: () => REFERENCES.taskId }, options);
  if (settings.form === 'dispatched') {
    throw new InvalidOptionError('form', '"driven" for a schedule', settings.form);
  }
  const made = drivenTask({ known, input, settings, codec, base: maker.base });
  checkTemplate(made.payload);
  const { key: said } = settings;
  const key = said === undefined ? {} : { idempotency: { ...said, ...keyIn(made) } };
  return { task: { ...templateFrom(made), ...key, pipeline: step.name }, graph: known };
}

/** As it is stored: runs that keep other code have keys of their own. */
function keyIn({ idempotency }: NewTask): { readonly key?: string } {
  return idempotency === undefined ? {} : { key: idempotency.key };
}

/** What all tasks of the schedule share. */
function templateFrom(task: NewTask): TaskTemplate {
  const { name, queue, user, level, cost, payload, options } = task;
  const { delayMs, expiresInMs, idempotency, graph } = task;
  return {
    ...{ name, queue, user, level, cost, payload, options },
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(graph === undefined ? {} : { graph }),
  };
}
