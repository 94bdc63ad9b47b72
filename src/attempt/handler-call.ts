/**
 * One call of a handler, from stored input to stored result: decode, check, run, check, encode.
 * Only steps that wait use a promise.
 */
import { callUserCode } from '../base/async-scope.ts';
import type { ValueCodec } from '../codec/codec.ts';
import {
  InvalidPayloadError,
  InvalidResultError,
  isFinalGroup,
  isOwn,
  ownCode,
  waitAskedBy,
} from '../domain/errors/errors.ts';
import type { FailureType } from '../domain/task/cause.ts';
import { type Control, controlOf } from '../workflow/control.ts';
import {
  invalidPayload,
  type SchemaResult,
  type StandardSchemaV1,
  validate,
} from '../workflow/standard-schema.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import type { HandlerCalls } from './handler-calls.ts';
import type { HandlerReports } from './reports.ts';
import { checkXComResult } from './xcom.ts';

/** Why a call has no result. `error` is the thrown value. */
export interface Failure {
  readonly error: unknown;
  readonly failureType: FailureType;
  readonly retryable: boolean;
  /** The delay that the handler requested, in ms. */
  readonly afterMs?: number;
  /** With `afterMs`: the task is released, without counting an attempt. */
  readonly uncounted?: boolean;
}

/** Receives the end of the call: exactly one of these, once. */
export interface CallSink {
  /** Present once its handler has reported something, which is stored before the call ends. */
  readonly reported: HandlerReports | undefined;
  /** Present once its handler has made a call that returns a promise. */
  readonly openCalls: HandlerCalls | undefined;
  /** The handler has settled; its reports are stored next, then the end of the call follows. */
  settling(): void;
  reportResult(text: string): void;
  /** A dynamic handler returned a control. */
  reportChoice(control: Control): void;
  reportError(failure: Failure): void;
}

/** The parts of a call. */
export interface HandlerCall {
  readonly definition: TaskDefinition;
  readonly handler: Handler;
  readonly payload: string;
  readonly ctx: TaskContext;
  readonly codec: ValueCodec;
}

/** Calls the handler; synchronous up to the handler's first wait. Never throws. */
export function callHandler(call: HandlerCall, sink: CallSink): void {
  let input: unknown;
  try {
    input = call.codec.read(call.payload);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'cannot be read';
    const notice = isOwn(error, 'DECRYPTION_FAILED')
      ? error
      : new InvalidPayloadError('$', problem);
    sink.reportError(refused(notice, 'invalid-payload'));
    return;
  }
  const { input: schema } = call.definition;
  if (schema === undefined) {
    invoke(call, input, sink);
    return;
  }
  checked(schema, input, (result) => {
    if (result.ok) invoke(call, result.value, sink);
    else sink.reportError(refused(invalidPayload(result), 'invalid-payload'));
  });
}

/** Codes of errors for which a retry would fail too. */
const FINAL: readonly unknown[] = [
  'FATAL',
  'REPLAY_MISMATCH',
  'WAIT_OPEN',
  'WAIT_TIMED_OUT',
  'GROUP_CHANGED',
  'CHANNEL_LIMIT',
  'CHANNEL_TYPE',
  'STREAM_LIMIT',
  'XCOM_LIMIT',
  'DECRYPTION_FAILED',
];

/** The failure for a thrown value. */
export function failureOf(error: unknown): Failure {
  if (isFinalGroup(error)) return refused(error, 'error');
  const asked = waitAskedBy(error);
  if (asked !== undefined) {
    const { delayMs, countAttempt } = asked;
    const wait = { error, failureType: 'error', retryable: true, afterMs: delayMs } as const;
    return countAttempt ? wait : { ...wait, uncounted: true };
  }
  if (isOwn(error, 'INVALID_RESULT')) return refused(error, 'invalid-result');
  return { error, failureType: 'error', retryable: !FINAL.includes(ownCode(error)) };
}

function invoke(call: HandlerCall, input: unknown, sink: CallSink): void {
  let value: unknown;
  let promise: Promise<unknown> | undefined;
  try {
    value = callUserCode(call.handler, input, call.ctx);
    promise = promiseOf(value);
  } catch (error) {
    failed(error, sink);
    return;
  }
  if (promise === undefined) {
    returned(call, value, sink);
    return;
  }
  promise.then(
    (result) => returned(call, result, sink),
    (error: unknown) => failed(error, sink),
  );
}

/** Its reports are stored under its lease, which ends with the call. */
function returned(call: HandlerCall, value: unknown, sink: CallSink): void {
  sink.settling();
  const left = sink.openCalls?.end();
  const streamed = sink.reported?.streamed();
  if (left === undefined && streamed === undefined) {
    finish(call, value, sink);
    return;
  }
  void Promise.all([left, streamed]).then(([unseen, problem]) => {
    if (unseen !== undefined) threw(failureOf(unseen.error), sink);
    else if (problem !== undefined) threw(failureOf(problem), sink);
    else finish(call, value, sink);
  });
}

function failed(error: unknown, sink: CallSink): void {
  sink.settling();
  void sink.openCalls?.end();
  const streamed = sink.reported?.streamed();
  if (streamed === undefined) threw(failureOf(error), sink);
  else void streamed.then(() => threw(failureOf(error), sink));
}

function threw(failure: Failure, sink: CallSink): void {
  const reported = sink.reported?.ended(true);
  if (reported === undefined) sink.reportError(failure);
  else void reported.then(() => sink.reportError(failure));
}

function finish(call: HandlerCall, value: unknown, sink: CallSink): void {
  const control = call.definition.dynamic === undefined ? undefined : controlOf(value);
  if (control !== undefined) {
    const reported = sink.reported?.ended(false);
    if (reported === undefined) sink.reportChoice(control);
    else void reported.then(() => sink.reportChoice(control));
    return;
  }
  if (call.definition.output === undefined) {
    store(call, value, sink);
    return;
  }
  checked(call.definition.output, value, (result) => {
    if (result.ok) {
      store(call, result.value, sink);
      return;
    }
    const { path, message, cause } = result;
    threw(refused(new InvalidResultError(path, message, cause), 'invalid-result'), sink);
  });
}

function store(call: HandlerCall, value: unknown, sink: CallSink): void {
  let text: string;
  try {
    text = call.codec.result(call.definition.name, value);
    if (call.definition.options.xcom === true) checkXComResult(text);
  } catch (error) {
    threw(refused(error, 'invalid-result'), sink);
    return;
  }
  const reported = sink.reported?.ended(false);
  if (reported === undefined) sink.reportResult(text);
  else void reported.then(() => sink.reportResult(text));
}

function checked(
  schema: StandardSchemaV1,
  value: unknown,
  then: (result: SchemaResult) => void,
): void {
  const answer = validate(schema, value);
  if (answer instanceof Promise) void answer.then(then);
  else then(answer);
}

/** No retry helps: the same text would be refused again, or the side effects have happened. */
function refused(error: unknown, failureType: FailureType): Failure {
  return { error, failureType, retryable: false };
}

/** A promise of any thenable; `undefined` for other values. */
function promiseOf(value: unknown): Promise<unknown> | undefined {
  if (value instanceof Promise) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return typeof Reflect.get(value, 'then') === 'function' ? Promise.resolve(value) : undefined;
}
