/** Makes what is stored of a schedule out of what callers say. */

import { utf8Bytes } from '../base/json.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { ScheduleChange } from '../domain/port/schedule.ts';
import type { NewTask } from '../domain/task/task.ts';
import type { TaskMaker } from '../enqueue/task-maker.ts';
import type { GraphCache } from '../runs/graph-cache.ts';
import type { KnownGraph } from '../runs/known-graph.ts';
import { runSettings } from '../runs/run-options.ts';
import { drivenTask } from '../runs/run-tasks.ts';
import { PipelineDefinition, type StepDefinition } from '../workflow/pipeline-definition.ts';
import { definitionOf, type TaskDefinition } from '../workflow/task-definition.ts';
import {
  type CommonEventOptions,
  type CommonScheduleOptions,
  catchUpOf,
  type NamedEventOptions,
  type NamedScheduleOptions,
  policiesOf,
  type TemplateTaskOptions,
  timingOf,
} from './schedule-options.ts';
import { type EventFilter, type ScheduleSpec, specText, type TaskTemplate } from './spec.ts';
import {
  checkTemplate,
  EVENT_REFERENCES,
  type EventReferences,
  factsOfSlot,
  REFERENCES,
  rendered,
  type SlotReferences,
} from './template.ts';
import { Timetable } from './timing/timing.ts';

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

/** The same for a schedule that fires at events. */
export type AnyEventOptions = CommonEventOptions & {
  readonly task?: unknown;
  readonly name?: NamedEventOptions['name'];
  readonly input?: unknown;
};

/** What both say of the tasks that they start. */
type TemplateOptions = Pick<AnyScheduleOptions, 'task' | 'name' | 'input'> & TemplateTaskOptions;

/** A schedule to be stored, but for where it stands. */
export interface MadeSchedule {
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
  const sample = (payload: string): string => {
    const slot = table.next(now) ?? now;
    return rendered(payload, factsOfSlot(slot, timing.timeZone ?? 'UTC', 'sample'));
  };
  const { task, graph, isOpen } = await templateOf(parts, options, { at: REFERENCES, sample });
  const spec: Omit<ScheduleSpec, 'version'> = {
    ...{ timing, missed, cap, isOpen, task },
    ...catchUpOf(missed, options.overlap),
  };
  return {
    graph,
    change: {
      spec: specText(spec),
      overlap,
      ...(limit === undefined ? {} : { limit }),
      ...(graph === undefined ? {} : { graph: graph.hash }),
    },
  };
}

/**
 * The same for a schedule that fires at events.
 *
 * @throws as {@link makeSchedule} does.
 */
export async function makeEventSchedule(
  parts: MakerParts,
  options: AnyEventOptions,
): Promise<MadeSchedule> {
  const { event, key, ...rest } = options;
  const filter: EventFilter = {
    name: checkName('event', event),
    ...(key === undefined ? {} : { key: checkId('key', key) }),
  };
  const input = rest.input === undefined ? (at: EventReferences) => at.payload : rest.input;
  const said = { ...rest, input };
  const { task, graph, isOpen } = await templateOf(parts, said, { at: EVENT_REFERENCES });
  if (utf8Bytes(task.payload) > LIMITS.eventInputBytes) {
    throw new InvalidOptionError('input', `at most ${LIMITS.eventInputBytes} bytes`, 'more');
  }
  const policies = { missed: 'skip', cap: 1 } as const;
  return {
    graph,
    change: {
      spec: specText({ timing: {}, event: filter, ...policies, isOpen, task }),
      overlap: 'allow',
      on: { user: task.user, event: filter.name },
      ...(graph === undefined ? {} : { graph: graph.hash }),
    },
  };
}

interface TemplatePlace {
  /** What an input that is a function is called with. */
  readonly at: SlotReferences | EventReferences;
  /** The input of the first task, so that a schema sees what a handler will; absent: not known yet. */
  readonly sample?: (payload: string) => string;
}

interface Template {
  readonly task: TaskTemplate;
  readonly graph: KnownGraph | undefined;
  readonly isOpen: boolean;
}

async function templateOf(
  parts: MakerParts,
  options: TemplateOptions,
  { at, sample }: TemplatePlace,
): Promise<Template> {
  const given = options.input;
  const isFunction = typeof given === 'function';
  const input: unknown = isFunction ? given(at) : given;
  const step = stepOf(options);
  if (step instanceof PipelineDefinition || step?.dynamic !== undefined) {
    return { ...runTemplate(parts, { step, input, options, taskId: at.taskId }), isOpen: true };
  }
  const name = step?.name ?? options.name ?? '';
  const payload = parts.codec.payload(name, input);
  if (isFunction) checkTemplate(payload);
  const first = isFunction && sample !== undefined ? parts.codec.read(sample(payload)) : input;
  const isKnown = !isFunction || sample !== undefined;
  const made = await madeOf(parts, options, { step, name, input: first, isKnown });
  return { task: { ...templateFrom(made), payload }, graph: undefined, isOpen: isFunction };
}

interface TaskCall {
  readonly step: TaskDefinition | undefined;
  readonly name: string;
  readonly input: unknown;
  /** A schema may look at the input. */
  readonly isKnown: boolean;
}

function madeOf(
  { maker }: MakerParts,
  options: TemplateOptions,
  { step, name, input, isKnown }: TaskCall,
): NewTask | Promise<NewTask> {
  if (step === undefined) return maker.makeByName(name, input, options);
  return isKnown ? maker.make(step, input, options) : maker.makeUnchecked(step, input, options);
}

function stepOf({ task, name }: TemplateOptions): TaskDefinition | PipelineDefinition | undefined {
  if (task === undefined && name !== undefined) return undefined;
  return task instanceof PipelineDefinition ? task : definitionOf(task);
}

interface RunCallOptions {
  readonly step: StepDefinition;
  readonly input: unknown;
  readonly options: TemplateOptions;
  /** Stands for the id of the run. */
  readonly taskId: string;
}

/** The task of a slot is a driven run; its own id stands in its options. */
function runTemplate(
  { graphs, maker, codec }: MakerParts,
  { step, input, options, taskId }: RunCallOptions,
): { readonly task: TaskTemplate; readonly graph: KnownGraph } {
  const known = graphs.ofStep(step);
  const settings = runSettings({ maker, newId: () => taskId }, options);
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
