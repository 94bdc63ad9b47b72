/** Hides encrypted texts from the tracing system too. */
import { errorSaying } from '../base/thrown.ts';
import type { Span, SpanAttributes, SpanEnd, Tracer } from './tracer.ts';

/** Replaces texts of users and handlers. */
const HIDDEN = '(encrypted)';

/** The same tracer, which gets names of errors without their messages. */
export function discreetTracer(tracer: Tracer): Tracer {
  return { start: (request) => discreetSpan(tracer.start(request)) };
}

function discreetSpan(span: Span): Span {
  return {
    get traceparent() {
      return span.traceparent;
    },
    within: (call) => span.within(call),
    end: ({ error, attributes, ...end }: SpanEnd) =>
      span.end({
        ...end,
        ...(error === undefined ? {} : { error: withoutWords(error) }),
        ...(attributes === undefined ? {} : { attributes: withoutReason(attributes) }),
      }),
  };
}

function withoutWords(error: unknown): Error {
  const bare = errorSaying(HIDDEN, error instanceof Error ? error.name : 'Error');
  delete bare.stack;
  return bare;
}

function withoutReason(attributes: SpanAttributes): SpanAttributes {
  if (attributes['fairloom.reason'] === undefined) return attributes;
  return { ...attributes, 'fairloom.reason': HIDDEN };
}
