/** Spans of the engine: each ends with the whole that it is part of, and never twice. */
import { callUserCode } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import { messageOf } from '../base/message-of.ts';
import { errorFrom, thrownOf } from '../base/thrown.ts';
import { say } from '../logging/log-events.ts';
import type { Span, SpanEnd, SpanParent, SpanRequest, Tracer } from './tracer.ts';

/** A part of traced work. */
export type PartRequest = Omit<SpanRequest, 'parent'>;

/** Work in progress, traced or not. */
export interface Trace {
  /** Parent for the work that follows. */
  readonly traceparent: string | undefined;
  /** Starts a part; it ends with the whole at the latest. */
  part(request: () => PartRequest): Trace;
  /** Runs user code in it, which must not throw. */
  within(call: () => void): void;
  /** Ends it; only the first call counts. */
  end(end: SpanEnd): void;
}

/** Dependencies of a trace. */
export interface Tracing {
  readonly tracer: Tracer | undefined;
  readonly log: Logger;
}

/** Starts the trace of some work; without a tracer an untraced one. */
export function beginTrace({ tracer, log }: Tracing, request: SpanRequest): Trace {
  if (tracer === undefined) return untraced(givenIn(request.parent));
  return OpenTrace.begin({ tracer, log }, request, undefined);
}

/** Untraced work: passes the caller's traceparent on, and creates none. */
export function untraced(traceparent: string | undefined): Trace {
  return traceparent === undefined ? UNTRACED : new Untraced(traceparent);
}

/** The parent of a stored task's span. */
export function storedParent(traceparent: string | undefined): SpanParent {
  return traceparent === undefined ? 'none' : { traceparent };
}

class Untraced implements Trace {
  readonly traceparent: string | undefined;

  constructor(traceparent: string | undefined) {
    this.traceparent = traceparent;
  }

  part(): Trace {
    return this;
  }

  within(call: () => void): void {
    call();
  }

  end(): void {
    // Nothing was started.
  }
}

const UNTRACED: Trace = new Untraced(undefined);

interface OpenTracing {
  readonly tracer: Tracer;
  readonly log: Logger;
}

class OpenTrace implements Trace {
  readonly traceparent: string | undefined;
  readonly #tracing: OpenTracing;
  readonly #span: Span;
  readonly #whole: OpenTrace | undefined;
  /** Open parts: a handler that never settles must not leave its span open. */
  #parts: Set<OpenTrace> | undefined;
  #isOver = false;

  /** If the tracer throws, the work is untraced. */
  static begin(tracing: OpenTracing, request: SpanRequest, whole: OpenTrace | undefined): Trace {
    try {
      const span = callUserCode(() => tracing.tracer.start(request));
      return new OpenTrace(tracing, span, { given: givenIn(request.parent), whole });
    } catch (error) {
      say(tracing.log, 'tracer.threw', 'the tracer threw', { error });
      return untraced(givenIn(request.parent));
    }
  }

  private constructor(
    tracing: OpenTracing,
    span: Span,
    origin: { readonly given: string | undefined; readonly whole: OpenTrace | undefined },
  ) {
    this.#tracing = tracing;
    this.#span = span;
    this.#whole = origin.whole;
    this.traceparent = span.traceparent ?? origin.given;
    origin.whole?.take(this);
  }

  part(request: () => PartRequest): Trace {
    // A later part would never be ended.
    if (this.#isOver) return untraced(this.traceparent);
    const parent = storedParent(this.traceparent);
    return OpenTrace.begin(this.#tracing, { ...request(), parent }, this);
  }

  within(call: () => void): void {
    let isCalled = false;
    try {
      callUserCode(() =>
        this.#span.within(() => {
          isCalled = true;
          call();
        }),
      );
    } catch (error) {
      say(this.#tracing.log, 'tracer.threw', 'the tracer threw', { error });
    }
    // A tracer that does not run the call must not lose a task.
    if (!isCalled) call();
  }

  end(end: SpanEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const part of this.#parts ?? []) part.end(end);
    this.#whole?.drop(this);
    try {
      callUserCode(() => this.#span.end(shownEnd(end)));
    } catch (error) {
      say(this.#tracing.log, 'tracer.threw', 'the tracer threw', { error });
    }
  }

  take(part: OpenTrace): void {
    this.#parts ??= new Set();
    this.#parts.add(part);
  }

  drop(part: OpenTrace): void {
    this.#parts?.delete(part);
  }
}

/** Tracers get a plain error for any thrown value, with its causes in the message. */
function shownEnd(end: SpanEnd): SpanEnd {
  if (end.error === undefined) return end;
  const { cause: _cause, errors: _errors, ...facts } = thrownOf(end.error);
  return { ...end, error: errorFrom({ ...facts, message: messageOf(end.error) }) };
}

function givenIn(parent: SpanParent): string | undefined {
  return typeof parent === 'object' ? parent.traceparent : undefined;
}
