/** Spans in OpenTelemetry, exported by the SDK of the application. */
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Span, SpanEnd, SpanParent, SpanRequest, Tracer } from './tracer.ts';

/** Options of the spans. */
export interface OpenTelemetryOptions {
  /** Default: the provider that the application registers, at any time. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Names of the spans of enqueues and attempts: by queue, as the semantic conventions of messaging
   * say (`process default`, the default), or by task (`process send-mail`).
   */
  readonly spanNames?: 'queue' | 'task' | undefined;
}

const KEYS: OptionKeys<OpenTelemetryOptions> = keysOf<OpenTelemetryOptions>()({
  tracerProvider: true,
  spanNames: true,
});

/** Name of the instrumentation. */
const SCOPE = 'fairloom';

const KINDS = {
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/**
 * A tracer for `new Fairloom({ tracer })`: one trace per run, across all processes that run it. The
 * span of an attempt is active in its handler, if a context manager is registered. `tracestate` and
 * baggage are not propagated.
 *
 * @throws `InvalidOptionError` for the first invalid option.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracer {
  checkOptions('openTelemetry', options, KEYS);
  const { tracerProvider, spanNames = 'queue' } = options;
  if (spanNames !== 'queue' && spanNames !== 'task') {
    throw new InvalidOptionError('spanNames', '"queue" or "task"', spanNames);
  }
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function') {
    throw new InvalidOptionError('tracerProvider', 'a TracerProvider', tracerProvider);
  }
  return {
    start: (request) => {
      // Read for each span: an SDK may be registered after the client was created.
      const tracer = (tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
      const parent = contextOf(request.parent);
      const span = tracer.startSpan(nameOf(request, spanNames), optionsOf(request), parent);
      return new OpenTelemetrySpan(span, parent);
    },
  };
}

class OpenTelemetrySpan implements Span {
  readonly traceparent: string | undefined;
  readonly #span: OtelSpan;
  readonly #parent: Context;

  constructor(span: OtelSpan, parent: Context) {
    this.#span = span;
    this.#parent = parent;
    this.traceparent = traceparentOf(span);
  }

  within(call: () => void): void {
    context.with(trace.setSpan(this.#parent, this.#span), call);
  }

  end({ outcome, error, attributes }: SpanEnd): void {
    this.#span.setAttributes({ ...attributes, 'fairloom.outcome': outcome });
    if (error !== undefined) {
      const { name, message } = factsOf(error);
      this.#span.recordException(error instanceof Error ? error : message);
      this.#span.setAttribute('error.type', name);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
    }
    this.#span.end();
  }
}

/** A queue name describes little in a trace with many tasks; `spanNames` selects the task. */
function nameOf({ name, attributes }: SpanRequest, spanNames: 'queue' | 'task'): string {
  const operation = attributes['messaging.operation.name'];
  if (spanNames === 'queue' || operation === undefined) return name;
  return `${operation} ${attributes['fairloom.task.name']}`;
}

function optionsOf({ kind, attributes }: SpanRequest): SpanOptions {
  const copied: Attributes = { ...attributes };
  return { kind: KINDS[kind], attributes: copied };
}

function contextOf(parent: SpanParent): Context {
  if (parent === 'active') return context.active();
  // The span that is active where a worker was started is not part of the task's trace.
  if (parent === 'none') return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = '00'] = parent.traceparent.split('-');
  const spanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  };
  return isSpanContextValid(spanContext)
    ? trace.setSpanContext(ROOT_CONTEXT, spanContext)
    : ROOT_CONTEXT;
}

/** `undefined` without an SDK: then the given traceparent is passed on. */
function traceparentOf(span: OtelSpan): string | undefined {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function factsOf(error: unknown): { readonly name: string; readonly message: string } {
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: 'Error', message: String(error) };
}
