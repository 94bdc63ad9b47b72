/** OpenTelemetry in a test: every span that was begun, and every one that has ended. */
import { type Context, context, type Span as OtelSpan, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { openTelemetry } from '../../src/tracing/open-telemetry.ts';
import type { Tracer } from '../../src/tracing/tracer.ts';

/** What a test sees of its traces. */
export interface Spans {
  readonly tracer: Tracer;
  readonly provider: BasicTracerProvider;
  /** Begun so far, in this order. */
  readonly started: readonly ReadableSpan[];
  /** Ended so far, in this order. */
  ended(): readonly ReadableSpan[];
  /** Those that have not ended, by name. */
  open(): readonly string[];
  /** Ended spans whose name begins so. */
  named(start: string): readonly ReadableSpan[];
  close(): void;
}

/** Registers a context manager until `close`. */
export function spans(options: { readonly spanNames?: 'queue' | 'task' } = {}): Spans {
  const exporter = new InMemorySpanExporter();
  const started: ReadableSpan[] = [];
  const watch = {
    onStart: (span: OtelSpan & ReadableSpan, _parent: Context) => void started.push(span),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [watch, new SimpleSpanProcessor(exporter)],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const ended = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return {
    tracer: openTelemetry({ tracerProvider: provider, ...options }),
    provider,
    started,
    ended,
    open: () => started.filter((span) => !span.ended).map(({ name }) => name),
    named: (start) => ended().filter(({ name }) => name.startsWith(start)),
    close: () => {
      context.disable();
      trace.disable();
    },
  };
}

/** Ids of the traces that these spans are of. */
export function traceIds(some: readonly ReadableSpan[]): readonly string[] {
  return [...new Set(some.map((span) => span.spanContext().traceId))];
}

/** The span that is the parent of another. */
export function parentOf(
  all: readonly ReadableSpan[],
  span: ReadableSpan,
): ReadableSpan | undefined {
  const id = span.parentSpanContext?.spanId;
  return all.find((one) => one.spanContext().spanId === id);
}
