/** Enqueues in a span, which becomes the parent of the stored tasks' spans. */
import { TaskCall } from '../enqueue/call.ts';
import { type EnqueueOptions, isTraceparent } from '../enqueue/enqueue-options.ts';
import { beginTrace, type Tracing } from './trace.ts';
import type { SpanAttributes } from './tracer.ts';
import { enqueueSpan, tracedCall } from './work.ts';

/** A task or run to store. */
export interface EnqueueCall<T> {
  /** Name of the task or pipeline. */
  readonly name: string;
  /** Default queue. */
  readonly queue: string;
  readonly options: EnqueueOptions | undefined;
  /** Stores it, with the traceparent of the span in its options. */
  readonly send: (options: EnqueueOptions | undefined) => Promise<T>;
}

/** Stores one task or run. */
export function tracedEnqueue<T extends { readonly id: string }>(
  tracing: Tracing,
  { name, queue, options, send }: EnqueueCall<T>,
): Promise<T> {
  // Invalid options and traceparents are refused by the code that reads them.
  if (tracing.tracer === undefined || !isUsable(options)) return send(options);
  const { traceparent, queue: own } = options ?? {};
  const place = typeof own === 'string' ? own : queue;
  const trace = beginTrace(tracing, enqueueSpan({ name, queue: place, traceparent }));
  const call = (): Promise<T> => send(withTrace(options, trace.traceparent));
  return tracedCall(trace, call, attributesOf);
}

/** Stores many tasks in one span. Calls with their own trace keep it. */
export async function tracedEnqueueMany<T>(
  tracing: Tracing,
  calls: readonly TaskCall[],
  send: (calls: readonly TaskCall[]) => Promise<T>,
): Promise<T> {
  const [first] = calls;
  if (tracing.tracer === undefined || first === undefined) return send(calls);
  const names = new Set(calls.map(({ definition }) => definition.name));
  const request = enqueueSpan({
    name: names.size === 1 ? first.definition.name : `${names.size} tasks`,
    queue: first.options?.queue ?? first.definition.options.queue ?? 'default',
    traceparent: undefined,
    count: calls.length,
  });
  const trace = beginTrace(tracing, request);
  const traced = calls.map(({ definition, input, options }) => {
    const isOwn = !isUsable(options) || options?.traceparent !== undefined;
    return new TaskCall(definition, input, isOwn ? options : withTrace(options, trace.traceparent));
  });
  return tracedCall(trace, () => send(traced));
}

function withTrace(
  options: EnqueueOptions | undefined,
  traceparent: string | undefined,
): EnqueueOptions | undefined {
  return traceparent === undefined ? options : { ...options, traceparent };
}

/** Only the trace, for calls whose other options are fixed. */
export function tracedOnly(options: EnqueueOptions | undefined): { readonly traceparent?: string } {
  const { traceparent } = options ?? {};
  return traceparent === undefined ? {} : { traceparent };
}

function isUsable(options: EnqueueOptions | undefined): boolean {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null) return false;
  return options.traceparent === undefined || isTraceparent(options.traceparent);
}

function attributesOf(stored: { readonly id: string; readonly runId?: string }): SpanAttributes {
  const { id, runId } = stored;
  const run = runId === undefined ? {} : { 'fairloom.run.id': runId };
  return { 'messaging.message.id': id, ...run };
}
