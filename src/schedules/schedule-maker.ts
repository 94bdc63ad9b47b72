/** Builds the stored form of a schedule from the options of callers. */

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

/** Dependencies on the client. */
export interface MakerParts {
  readonly maker: TaskMaker;
  readonly codec: ValueCodec;
  readonly graphs: GraphCache;
  /** Default time zone. */
  readonly timeZone: string;
}

/** Options with a step, or the name of a task. */
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

/** Common options about the tasks that they start. */
type TemplateOptions = Pick<AnyScheduleOptions, 'task' | 'name' | 'input'> & TemplateTaskOptions;

/** A schedule to store, without its position. */
export interface MadeSchedule {
  readonly change: Omit<ScheduleChange, 'id' | 'revision' | 'paused' | 'next'>;
  /** Graph to store before it. */
  readonly graph: KnownGraph | undefined;
}

/** Id of a schedule, and moment of the change. */
interface Place {
  readonly id: string;
  readonly now: number;
  /** Anchor of the stored schedule, so that its period continues. */
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
  /** Argument of an input function. */
  readonly at: SlotReferences | EventReferences;
  /** Renders the input of a first task for the schema; absent: it is not known yet. */
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
  /** The input is known, so that a schema can check it. */
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
  /** Reference to the id of the run. */
  readonly taskId: string;
}

/** The task of a slot is a driven run; its options contain its own id. */
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

/** The stored key: runs with other code have separate keys. */
function keyIn({ idempotency }: NewTask): { readonly key?: string } {
  return idempotency === undefined ? {} : { key: idempotency.key };
}

/** Common fields of all tasks of the schedule. */
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
