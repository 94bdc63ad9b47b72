/** Port to a tracing system: the engine starts spans, and passes their `traceparent` on. */

/** A value of an attribute. */
export type SpanValue = string | number | boolean;

/** Attributes of a span, by name. */
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** Parent of a span: a given one, the active span of the caller, or none for a new trace. */
export type SpanParent =
  /** A parent in W3C Trace Context: `00-<trace>-<span>-<flags>`. */
  { readonly traceparent: string } | 'active' | 'none';

/** A new span. */
export interface SpanRequest {
  /** Name with few distinct values, as `process default`. */
  readonly name: string;
  /** `producer` stores tasks, `consumer` runs one, `internal` is a part of such work. */
  readonly kind: 'producer' | 'consumer' | 'internal';
  /** Parent of the span. */
  readonly parent: SpanParent;
  /** Attributes at its start. */
  readonly attributes: SpanAttributes;
}

/**
 * Result of a span. `released`, `suspended` and `canceled` are no errors: the work continues later,
 * or was no longer needed.
 */
export interface SpanEnd {
  /** Value of the attribute `fairloom.outcome`. */
  readonly outcome:
    | 'finished'
    | 'retried'
    | 'failed'
    | 'canceled'
    | 'released'
    | 'suspended'
    | 'lost';
  /** The error; present exactly when the span counts as an error. */
  readonly error?: unknown;
  /** Attributes at its end. */
  readonly attributes?: SpanAttributes;
}

/** A span in progress. */
export interface Span {
  /** Parent for the work that follows, in any process; `undefined` when nothing is recorded. */
  readonly traceparent: string | undefined;
  /** Calls it once, with the span as the active one, also in everything it awaits. */
  within(call: () => void): void;
  /** Called exactly once. */
  end(end: SpanEnd): void;
}

/**
 * A tracing system. `fairloom/tracing` has one for OpenTelemetry. Its errors are logged, and change
 * nothing.
 */
export interface Tracer {
  /** Starts a span. */
  start(request: SpanRequest): Span;
}
