/** Waits of handlers for time, signals, events and answers, without a slot, a lease or a timer. */
import { utf8Bytes } from '../base/json.ts';
import type { Duration, Moment } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidOptionError, WaitTimedOutError } from '../domain/errors/errors.ts';
import { shown } from '../domain/errors/fairloom-error.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import { type AskSpec, readAskAnswer } from '../domain/task/ask.ts';
import type { WaitAnswer } from '../domain/task/wait.ts';
import {
  type AskAnswered,
  type AskOptions,
  type AskUnanswered,
  checkAsk,
  formDescription,
} from '../workflow/ask.ts';
import { eventOf } from '../workflow/event.ts';
import { signalOf } from '../workflow/signal.ts';
import { checkedBy, type StandardSchemaV1 } from '../workflow/standard-schema.ts';
import {
  SUB_RUN_KEYS,
  type SubRunOptions,
  WAIT_KEYS,
  type WaitOptions,
} from '../workflow/task-context.ts';
import { durationOption } from '../workflow/task-options.ts';

/** A wait of a handler; `wakeAt` is a moment of its process's clock. */
export type HandlerWait =
  | { readonly kind: 'time'; readonly wakeAt: WakeTime }
  | { readonly kind: 'signal'; readonly name: string; readonly wakeAt: WakeTime | undefined }
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly key: string;
      readonly withinMs: number | undefined;
      readonly wakeAt: WakeTime | undefined;
    }
  | HandlerAsk;

/** A question of a handler. */
export interface HandlerAsk extends Pick<AskSpec, 'choices' | 'for' | 'text'> {
  readonly kind: 'ask';
  readonly wakeAt: WakeTime | undefined;
  /** Reason of the task's cancel after the timeout; absent when the task continues. */
  readonly cancelReason: string | undefined;
  /** Whether the call rejects after the timeout. */
  readonly rejectsOnTimeout: boolean;
}

/** The end of a wait: a time after its begin, or a moment in ms since the epoch. */
export type WakeTime = { readonly inMs: number } | { readonly at: number };

/** Waits for a handler; the outcome is stored, so that a handler that starts again gets it at once. */
export type Waiter = (wait: HandlerWait, options: SubRunOptions) => Promise<WaitAnswer>;

const AHEAD = { least: 0, most: LIMITS.delayMaxMs };
const TIMEOUT = { least: 1, most: LIMITS.delayMaxMs };
const WITHIN = { least: 0, most: LIMITS.delayMaxMs };

/** See `TaskContext.sleep`. */
export async function sleepFor(
  waiter: Waiter,
  duration: Duration,
  options: SubRunOptions,
): Promise<void> {
  checkOptions('ctx.sleep', options, SUB_RUN_KEYS);
  const wakeAt = { inMs: durationOption('duration', duration, AHEAD) };
  await waiter({ kind: 'time', wakeAt }, options);
}

/** See `TaskContext.sleepUntil`. */
export async function sleepUntil(
  waiter: Waiter,
  moment: Moment,
  options: SubRunOptions,
): Promise<void> {
  checkOptions('ctx.sleepUntil', options, SUB_RUN_KEYS);
  const at = typeof moment === 'number' ? moment : moment?.getTime?.();
  if (typeof at !== 'number' || !Number.isFinite(at)) {
    throw new InvalidOptionError('at', 'a Date, or ms since the epoch', moment);
  }
  await waiter({ kind: 'time', wakeAt: { at } }, options);
}

/** See `TaskContext.waitFor`. */
export async function waitForSignal(
  waiter: Waiter,
  what: unknown,
  { options, codec }: { readonly options: WaitOptions; readonly codec: ValueCodec },
): Promise<unknown> {
  checkOptions('ctx.waitFor', options, WAIT_KEYS);
  const { id, timeout, within } = options;
  const wakeAt =
    timeout === undefined ? undefined : { inMs: durationOption('timeout', timeout, TIMEOUT) };
  const event = eventOf(what);
  if (event !== undefined) {
    const { name, key, schema } = event;
    const withinMs = within === undefined ? undefined : durationOption('within', within, WITHIN);
    const answer = await waiter({ kind: 'event', name, key, withinMs, wakeAt }, { id });
    if (answer.by === 'time') throw new WaitTimedOutError(`event ${name}`);
    return checkedBy(`event ${name}`, schema, codec.read(answer.payload));
  }
  const { name, schema } = signalOf(what);
  if (within !== undefined) throw new InvalidOptionError('within', 'no value for a signal', within);
  const answer = await waiter({ kind: 'signal', name, wakeAt }, { id });
  if (answer.by === 'time') throw new WaitTimedOutError(`signal ${name}`);
  return checkedBy(`signal ${name}`, schema, codec.read(answer.payload));
}

/** See `TaskContext.ask`. */
export async function askPeople(
  waiter: Waiter,
  options: AskOptions<string, unknown>,
  codec: ValueCodec,
): Promise<AskAnswered<string, unknown> | AskUnanswered<unknown>> {
  const { title, schema, timeoutMs, onTimeout, ...question } = checkAsk('ctx.ask', options);
  const what = `question ${shown(title)}`;
  const ask: HandlerAsk = {
    kind: 'ask',
    choices: question.choices,
    for: question.for,
    text: askText(what, title, schema),
    wakeAt: timeoutMs === undefined ? undefined : { inMs: timeoutMs },
    rejectsOnTimeout: onTimeout === 'fail',
    cancelReason: onTimeout === 'cancel' ? `no answer to ${what} in time` : undefined,
  };
  const { by, at, payload } = await waiter(ask, { id: options.id });
  if (by === 'time') {
    if (typeof onTimeout === 'string') throw new WaitTimedOutError(`an answer to ${what}`);
    return { answered: false, value: onTimeout.value, at };
  }
  const { choice, by: who, text } = readAskAnswer(payload);
  const { comment, form } = answerParts(codec.read(text));
  return {
    answered: true,
    choice,
    by: who,
    at,
    ...(comment === undefined ? {} : { comment }),
    form: await checkedBy(`form of ${what}`, schema, form),
  };
}

/** The text of a question for people. */
function askText(what: string, title: string, schema: StandardSchemaV1 | undefined): string {
  const form = schema === undefined ? undefined : (formDescription(schema) ?? true);
  const text = JSON.stringify({ title, ...(form === undefined ? {} : { form }) });
  if (utf8Bytes(text) <= LIMITS.askBytes) return text;
  throw new InvalidOptionError('title', `at most ${LIMITS.askBytes} bytes, with its form`, what);
}

/** The name of a wait in errors. */
export function waitText(wait: HandlerWait): string {
  if (wait.kind === 'time') return 'a sleep';
  return wait.kind === 'ask' ? 'a question' : `a wait for ${wait.kind} ${wait.name}`;
}

/** Rest of a wait in ms. */
export function wakeAfterMs(wakeAt: WakeTime | undefined, now: number): number | undefined {
  if (wakeAt === undefined) return undefined;
  return 'inMs' in wakeAt ? wakeAt.inMs : Math.max(0, Math.ceil(wakeAt.at - now));
}

/** The data of an answer, as `loom.asks.answer` wrote it. */
function answerParts(value: unknown): { readonly comment?: string; readonly form?: unknown } {
  return typeof value === 'object' && value !== null ? value : {};
}
