/** Stores runs: all of their tasks or none. */

import { yieldToEventLoop } from '../../base/event-loop.ts';
import type { Logger } from '../../base/logger.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  BackendUnavailableError,
  BatchRefusedError,
  InvalidOptionError,
  InvalidPayloadError,
  TaskConflictError,
} from '../../domain/errors/errors.ts';
import type { Backend, EnqueueReply } from '../../domain/port/backend.ts';
import { refusalError } from '../../domain/port/refusal.ts';
import type { Cause } from '../../domain/task/cause.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { NewTask } from '../../domain/task/task.ts';
import { versionedName } from '../../domain/task/task-name.ts';
import type { Turns } from '../../enqueue/enqueuer.ts';
import type { TaskMaker } from '../../enqueue/task-maker.ts';
import { executedGraph, longestWalk, startedAt } from '../../graph/graph-start.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { partsOf } from '../../workflow/parts.ts';
import { invalidPayload, type StandardSchemaV1, validate } from '../../workflow/standard-schema.ts';
import type { KnownGraph } from '../known-graph.ts';
import { editOf, runGivenOf, runPayload, runPlaceOf } from '../record.ts';
import {
  type RunEnqueueOptions,
  type RunForm,
  type RunSettings,
  runSettings,
} from '../run-options.ts';
import { dispatchedTasks, drivenTask, type RunCall } from '../run-tasks.ts';
import { type RunHandle, type RunHandleParts, type RunReply, StoredRun } from './run-handle.ts';

/** Parts of the client that store a run. */
export interface RunTools {
  readonly handles: RunHandleParts;
  readonly maker: TaskMaker;
  readonly newId: () => string;
  readonly yields: Turns;
  readonly tracer: Tracer | undefined;
  readonly log: Logger;
  /** The input schema of a task, if it is known here; by its name with the version that it keeps. */
  readonly schemaOf: (code: string) => StandardSchemaV1 | undefined;
  onCreated(task: NewTask): void;
}

/** A run to store. */
export interface RunRequest {
  readonly step: object;
  readonly input: unknown;
  readonly options: RunEnqueueOptions;
}

/** Stores a run of a step. */
export async function submitStep(
  tools: RunTools,
  { step, input, options }: RunRequest,
): Promise<RunHandle<unknown>> {
  const { graphs, codec } = tools.handles;
  const whole = graphs.ofStep(step);
  const settings = runSettings(tools, options);
  const { startAt } = options;
  const known = startAt === undefined ? whole : graphs.ofGraph(startedAt(whole.graph, startAt));
  const call: RunCall = { known, input, settings, codec, base: tools.maker.base };
  const form = formOf(known, settings);
  if (form === 'dispatched') await demandInputs(schemasOf(step), call);
  return submitCall(tools, call, form);
}

/** Refuses a dispatched run with more nodes than `maxSteps`: all its nodes are stored at once. */
function demandFewSteps({ known: { graph }, settings: { overrides } }: RunCall): void {
  const { maxSteps } = overrides ?? {};
  if (maxSteps === undefined) return;
  const steps = longestWalk(executedGraph(graph));
  if (steps <= maxSteps) return;
  const wanted = `at least ${steps}, the number of tasks and groups of ${graph.name}`;
  throw new InvalidOptionError('maxSteps', wanted, maxSteps);
}

/** Stores a run whose call is complete. */
export async function submitCall(
  tools: RunTools,
  call: RunCall,
  form: RunForm,
): Promise<RunHandle<unknown>> {
  const { settings } = call;
  if (form === 'dispatched') demandFewSteps(call);
  const backend = await tools.handles.connection.open();
  const tasksOf = (turn: number): readonly NewTask[] =>
    form === 'driven' ? [drivenTask(call)] : dispatchedTasks({ ...call, turn });
  const send = (tasks: readonly NewTask[]): Promise<RunReply> =>
    store(tools, { backend, call, tasks });
  // The id is generated, so no earlier run has it.
  if (settings.options.id === undefined)
    return new StoredRun(tools.handles, await send(tasksOf(0)));
  for (let turn = 0; ; turn++) {
    const tasks = tasksOf(turn);
    // Nodes of a stored run may be removed already, and would run again.
    const reply = await storedRun(backend, tasks, call);
    if (reply !== undefined) return new StoredRun(tools.handles, reply);
    if (await hasStoredNodes(backend, tasks)) continue;
    return new StoredRun(tools.handles, await send(tasks));
  }
}

/**
 * Whether nodes of an earlier run with this id are still stored though that run is removed. Each caller that
 * finds some increments the turn, so concurrent callers compute the same ids.
 */
async function hasStoredNodes(backend: Backend, tasks: readonly NewTask[]): Promise<boolean> {
  const nodes = tasks.slice(0, -1).map(({ id }) => id);
  if (nodes.length === 0) return false;
  return (await backend.inspect.status(nodes)).some((one) => one !== undefined);
}

/** The requested form, or the one that the graph allows. */
function formOf({ plan }: KnownGraph, { form, checkpoint }: RunSettings): RunForm {
  if (form !== 'dispatched' || plan.form === 'dispatched') {
    // A run without tasks has no task that could be delayed.
    const isEmpty = plan.form === 'dispatched' && plan.nodes.every(({ kind }) => kind !== 'task');
    const chosen = form ?? (isEmpty ? 'driven' : plan.form);
    if (chosen === 'driven' || checkpoint === undefined) return chosen;
    throw new InvalidOptionError('checkpoint', 'the form "driven" with it', checkpoint);
  }
  const reasons = plan.reasons
    .slice(0, 5)
    .map(({ node, reason }) => `${shownNode(node)}: ${reason}`);
  throw new InvalidOptionError('form', `"driven" for this graph (${reasons.join(', ')})`, form);
}

/** Input schemas of the tasks of a step, by name with version. */
function schemasOf(step: object): RunTools['schemaOf'] {
  const checked = partsOf(step).tasks.filter((task) => task.input !== undefined);
  const schemas = new Map(checked.map((task) => [task.codeName, task.input]));
  return (code) => schemas.get(code);
}

/** Checks the inputs of the first nodes against their schemas, before anything is stored. */
export async function demandInputs(
  schemaOf: RunTools['schemaOf'],
  { known, input }: Pick<RunCall, 'known' | 'input'>,
): Promise<void> {
  for (const { plan, reads } of known.dispatch.tasks) {
    if (plan?.kind !== 'task' || reads.length > 0) continue;
    const schema = schemaOf(versionedName(plan.task.task, plan.task.version));
    if (schema === undefined) continue;
    const outcome = (): never => {
      throw new InvalidPayloadError('$', 'is not known yet');
    };
    const result = await validate(schema, known.values.build(plan.input, { input, outcome }));
    if (!result.ok) throw invalidPayload(result);
  }
}

/** The stored run with the caller's id, if there is one. */
async function storedRun(
  backend: Backend,
  tasks: readonly NewTask[],
  { settings, codec }: RunCall,
): Promise<RunReply | undefined> {
  const [record] = await backend.inspect.get([settings.id]);
  const root = tasks.at(-1);
  if (record === undefined || root === undefined) return undefined;
  const isSame =
    record.user === root.user &&
    record.name === root.name &&
    runPlaceOf(record.options)?.graph === root.graph &&
    isSameGiven(codec, record.payload, root.payload);
  if (!isSame) throw new TaskConflictError(settings.id);
  return existing(settings, { id: settings.id, conflict: false });
}

/** A resume may have changed inputs of the stored run's nodes. */
function isSameGiven(codec: ValueCodec, stored: string, wanted: string): boolean {
  if (stored === wanted) return true;
  const { edits: before, ...own } = runGivenOf(codec, stored);
  const { edits = {}, ...given } = runGivenOf(codec, wanted);
  if (before === undefined || runPayload(codec, own) !== runPayload(codec, given)) return false;
  return Object.entries(edits).every(([key, text]) => editOf(before, key) === text);
}

interface StoreCall {
  readonly backend: Backend;
  readonly call: RunCall;
  readonly tasks: readonly NewTask[];
}

async function store(tools: RunTools, { backend, call, tasks }: StoreCall): Promise<RunReply> {
  const { graphs } = tools.handles;
  if (tools.yields.spend(tasks.length)) await yieldToEventLoop();
  await graphs.share(call.known);
  let replies = await backend.tasks.enqueue(tasks, { atomic: true });
  if (replies.some(isGraphMissing)) {
    graphs.forgetStored(call.known);
    await graphs.share(call.known);
    replies = await backend.tasks.enqueue(tasks, { atomic: true });
  }
  const refused = replies.findIndex(
    (reply) => reply.kind === 'refused' && reply.refusal.type !== 'batch-refused',
  );
  const [task, reply] = [tasks[refused], replies[refused]];
  if (task !== undefined && reply?.kind === 'refused') {
    return refusedRun(backend, { call, tasks, task, refusal: reply.refusal });
  }
  const own = replies.at(-1);
  if (own === undefined || own.kind === 'refused') {
    throw new BackendUnavailableError('enqueue', 'its reply has no entry for a run');
  }
  if (own.kind === 'existing') {
    await cancelCreated(backend, replies);
    return existing(call.settings, own);
  }
  for (const one of tasks) if (isServed(one)) tools.onCreated(one);
  return { id: own.id, created: true, conflict: false };
}

const STORED_BEFORE: Cause = { type: 'request', reason: 'its run was stored already' };

/** Cancels tasks under ids that no run uses: a concurrent call stored its nodes first. */
async function cancelCreated(backend: Backend, replies: readonly EnqueueReply[]): Promise<void> {
  const created = replies.filter((reply) => reply.kind === 'created');
  for (const { id } of created) await backend.tasks.cancel(id, STORED_BEFORE);
}

interface RefusedRun {
  readonly call: RunCall;
  readonly tasks: readonly NewTask[];
  /** The refused task. */
  readonly task: NewTask;
  readonly refusal: (EnqueueReply & { readonly kind: 'refused' })['refusal'];
}

async function refusedRun(
  backend: Backend,
  { call: { settings }, tasks, task, refusal }: RefusedRun,
): Promise<RunReply> {
  const root = tasks.at(-1);
  if (refusal.type === 'key-taken' && settings.key?.policy === 'return') {
    const [record] = await backend.inspect.get([refusal.id]);
    return { id: refusal.id, created: false, conflict: record?.payload !== root?.payload };
  }
  const error = refusalError(task.id, refusal);
  // Errors of the caller concern the run, not a single node.
  if (task === root || refusal.type !== 'task-conflict') throw error;
  throw new BatchRefusedError(tasks.indexOf(task), error);
}

function existing(settings: RunSettings, { id, conflict }: Omit<RunReply, 'created'>): RunReply {
  if (!settings.rejects) return { id, created: false, conflict };
  throw new TaskConflictError(id, 'already, and onDuplicate is "reject"');
}

function isGraphMissing(reply: EnqueueReply): boolean {
  return reply.kind === 'refused' && reply.refusal.type === 'graph-missing';
}

/** Whether a worker runs the task. */
function isServed({ join }: NewTask): boolean {
  return join !== true;
}
