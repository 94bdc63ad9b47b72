/** The port to a tracing system: what the engine tells of its work, and gets back to hand on. */

/** A value of an attribute. */
export type SpanValue = string | number | boolean;

/** Attributes of a span, by name. */
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** Of whose trace a span is: also of the span that is active where the caller stands, or of a new one. */
export type SpanParent =
  /** Of this one of W3C Trace Context: `00-<trace>-<span>-<flags>`. */
  { readonly traceparent: string } | 'active' | 'none';

/** A span that begins now. */
export interface SpanRequest {
  /** Few different ones, as `process default`. */
  readonly name: string;
  /** `producer` stores tasks, `consumer` runs one, `internal` is a part of such work. */
  readonly kind: 'producer' | 'consumer' | 'internal';
  /** Of whose trace it is. */
  readonly parent: SpanParent;
  /** What is known at its begin. */
  readonly attributes: SpanAttributes;
}

/**
 * What a span came to. `released`, `suspended` and `canceled` are no errors: the work goes on
 * later, or was not wanted any more.
 */
export interface SpanEnd {
  /** Stands in the attribute `fairloom.outcome`. */
  readonly outcome:
    | 'finished'
    | 'retried'
    | 'failed'
    | 'canceled'
    | 'released'
    | 'suspended'
    | 'lost';
  /** What was thrown, or why it failed; present exactly when the span shall count as an error. */
  readonly error?: unknown;
  /** What is known only now. */
  readonly attributes?: SpanAttributes;
}

/** A span under way. */
export interface Span {
  /** For what follows from it, in any process; `undefined` when nothing is recorded anywhere. */
  readonly traceparent: string | undefined;
  /** Calls it once, with the span as the active one, also in everything it awaits. */
  within(call: () => void): void;
  /** Called exactly once. */
  end(end: SpanEnd): void;
}

/**
 * A tracing system. `fairloom/tracing` has one for OpenTelemetry. What it throws is logged, and
 * disturbs nothing.
 */
export interface Tracer {
  /** Begins a span. */
  start(request: SpanRequest): Span;
}
