/** Names and attributes of the engine's spans: the semantic conventions of messaging, and Fairloom's own. */
import { errorFrom } from '../base/thrown.ts';
import { errorOf } from '../codec/task-error.ts';
import {
  isOwn,
  LeaseLostError,
  type TaskCanceledError,
  UnknownTaskError,
} from '../domain/errors/errors.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import { type Cause, causeText, failureTypeOf } from '../domain/task/cause.ts';
import { shownNode } from '../domain/task/node-name.ts';
import { nameIn } from '../domain/task/task-name.ts';
import { storedTraceparent } from '../enqueue/stored-options.ts';
import {
  beginTrace,
  type PartRequest,
  storedParent,
  type Trace,
  type Tracing,
  untraced,
} from './trace.ts';
import type { SpanAttributes, SpanEnd, SpanRequest } from './tracer.ts';

/** Value of the attribute `messaging.system`. */
const SYSTEM = 'fairloom';

/** An enqueue call. */
export interface EnqueueWork {
  /** Name of the task or pipeline. */
  readonly name: string;
  readonly queue: string;
  readonly traceparent: string | undefined;
  /** Number of tasks in the call, if it may be several. */
  readonly count?: number;
}

/** Span of a call that stores tasks. */
export function enqueueSpan({ name, queue, traceparent, count }: EnqueueWork): SpanRequest {
  return {
    name: `enqueue ${queue}`,
    kind: 'producer',
    parent: traceparent === undefined ? 'active' : { traceparent },
    attributes: {
      ...messaging('enqueue', 'send', queue),
      'fairloom.task.name': name,
      ...(count === undefined ? {} : { 'messaging.batch.message_count': count }),
    },
  };
}

/** Run of a task. */
export interface TaskRun {
  readonly id: string;
  /** Id of the node, or path of the member; empty for the run itself. */
  readonly node: string;
  /** For the run itself: name of its pipeline. */
  readonly name?: string;
}

/** Span of an attempt of a leased task, or of a lease of a run; `traceparent` is the stored one. */
export function attemptTrace(
  tracing: Tracing,
  lease: Leased,
  run: TaskRun | undefined,
  traceparent: string | undefined,
): Trace {
  if (tracing.tracer === undefined) return untraced(traceparent);
  return beginTrace(tracing, { ...attemptSpan(lease, run), parent: storedParent(traceparent) });
}

/** Span of a lease of a task whose code is not here: no attempt was made, and the span has the reason. */
export function traceUnknownName(tracing: Tracing, lease: Leased, run: TaskRun | undefined): void {
  const trace = attemptTrace(tracing, lease, run, storedTraceparent(lease.options));
  trace.end({ outcome: 'released', error: new UnknownTaskError(lease.name) });
}

function attemptSpan(lease: Leased, run: TaskRun | undefined): PartRequest {
  const { id, name, user, queue, attempt } = lease;
  return {
    name: `process ${queue}`,
    kind: 'consumer',
    attributes: {
      ...messaging('process', 'process', queue),
      'messaging.message.id': id,
      ...(run === undefined ? {} : { 'messaging.message.conversation_id': run.id }),
      'fairloom.task.name': run?.name ?? nameIn(name),
      'fairloom.user': user,
      'fairloom.attempt': attempt,
      ...(run === undefined ? {} : { 'fairloom.run.id': run.id }),
      ...(run === undefined || run.node === '' ? {} : { 'fairloom.run.node': run.node }),
    },
  };
}

/** A part of a run without its own task. */
export interface RunPart {
  /** `run`: a step that a handler or `loom.run` runs; `node`: one attempt of a node in its run's process. */
  readonly kind: 'run' | 'node' | 'group';
  readonly name: string;
  readonly runId: string | undefined;
  readonly attributes?: SpanAttributes;
}

/** Span of a part of a run; for a group a producer, since it stores the tasks of its members. */
export function partSpan({ kind, name, runId, attributes }: RunPart): PartRequest {
  return {
    name: name.startsWith('~') ? shownNode(name) : `${kind} ${name}`,
    // A group stores the tasks of its members.
    kind: kind === 'group' ? 'producer' : 'internal',
    attributes: {
      ...(runId === undefined ? {} : { 'fairloom.run.id': runId }),
      [`fairloom.${kind}.name`]: name,
      ...attributes,
    },
  };
}

/** End of an attempt's span by its decision. */
export function endOfDecision(decision: Decision | Suspension): SpanEnd {
  switch (decision.type) {
    case 'finish':
      return { outcome: 'finished' };
    case 'retry':
      return { outcome: 'retried', error: errorIn(decision.error, decision.cause) };
    case 'dead-letter':
      return {
        outcome: 'failed',
        error: errorIn(decision.error, decision.cause),
        attributes: { 'fairloom.failure': failureTypeOf(decision.cause) ?? 'error' },
      };
    case 'cancel':
      return { outcome: 'canceled', attributes: { 'fairloom.reason': causeText(decision.cause) } };
    case 'release':
      return { outcome: 'released', attributes: { 'fairloom.reason': causeText(decision.cause) } };
    case 'suspend':
      return { outcome: 'suspended' };
  }
}

/** Another attempt has the lease: the outcome of this one is dropped. */
export function lostEnd(taskId: string): SpanEnd {
  return { outcome: 'lost', error: new LeaseLostError(taskId) };
}

/** The handler was abandoned: its task was canceled, or another attempt has the lease. */
export function leftEnd(reason: Error): SpanEnd {
  if (!isOwn<TaskCanceledError>(reason, 'TASK_CANCELED')) return { outcome: 'lost', error: reason };
  return { outcome: 'canceled', attributes: { 'fairloom.reason': causeText(reason.why) } };
}

/** End of the span of a call of a node's handler, in its run's process. */
export function endOfCall(
  ending:
    | { readonly type: 'returned' | 'chose' }
    | { readonly type: 'canceled'; readonly cause: Cause }
    | { readonly type: 'threw'; readonly failure: { readonly error: unknown } }
    | { readonly type: 'hung'; readonly error: unknown },
): SpanEnd {
  switch (ending.type) {
    case 'canceled':
      return { outcome: 'canceled', attributes: { 'fairloom.reason': causeText(ending.cause) } };
    case 'threw':
      return { outcome: 'failed', error: ending.failure.error };
    case 'hung':
      return { outcome: 'failed', error: ending.error };
    default:
      return { outcome: 'finished' };
  }
}

/** Runs a call in a span, which fails only if the call throws. */
export async function tracedCall<T>(
  trace: { end(end: SpanEnd): void },
  call: () => Promise<T>,
  attributesOf: (value: T) => SpanAttributes = () => NOTHING,
): Promise<T> {
  try {
    const value = await call();
    trace.end({ outcome: 'finished', attributes: attributesOf(value) });
    return value;
  } catch (error) {
    trace.end({ outcome: 'failed', error });
    throw error;
  }
}

const NOTHING: SpanAttributes = {};

function messaging(operation: string, type: string, queue: string): SpanAttributes {
  return {
    'messaging.system': SYSTEM,
    'messaging.operation.name': operation,
    'messaging.operation.type': type,
    'messaging.destination.name': queue,
  };
}

/** The stored error of a handler; the thrown one is no longer available. */
function errorIn(text: string | undefined, cause: Cause): Error {
  return errorFrom(errorOf(text) ?? { name: 'Error', message: causeText(cause) });
}
