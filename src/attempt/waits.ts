/** How a handler waits: for time and for signals, without a slot, a lease or a timer. */
import type { Duration, Moment } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidOptionError, WaitTimedOutError } from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { WaitAnswer } from '../domain/task/wait.ts';
import { signalOf } from '../workflow/signal.ts';
import { checkedBy } from '../workflow/standard-schema.ts';
import {
  SUB_RUN_KEYS,
  type SubRunOptions,
  WAIT_KEYS,
  type WaitOptions,
} from '../workflow/task-context.ts';
import { durationOption } from '../workflow/task-options.ts';

/** What a handler asks for; `wakeAt` is counted by the clock of its process. */
export type HandlerWait =
  | { readonly kind: 'time'; readonly wakeAt: WakeTime }
  | { readonly kind: 'signal'; readonly name: string; readonly wakeAt: WakeTime | undefined };

/** When a wait is over: so long after it began, or at a moment in ms since the epoch. */
export type WakeTime = { readonly inMs: number } | { readonly at: number };

/** Waits for a handler; what it came to is written down, so that a handler that starts anew is answered from there. */
export type Waiter = (wait: HandlerWait, options: SubRunOptions) => Promise<WaitAnswer>;

const AHEAD = { least: 0, most: LIMITS.delayMaxMs };
const TIMEOUT = { least: 1, most: LIMITS.delayMaxMs };

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
  const { name, schema } = signalOf(what);
  const { id, timeout } = options;
  const wakeAt =
    timeout === undefined ? undefined : { inMs: durationOption('timeout', timeout, TIMEOUT) };
  const answer = await waiter({ kind: 'signal', name, wakeAt }, { id });
  if (answer.by === 'time') throw new WaitTimedOutError(`signal ${name}`);
  return checkedBy(`signal ${name}`, schema, codec.read(answer.payload));
}

/** How long a wait lasts, from now on. */
export function wakeAfterMs(wakeAt: WakeTime | undefined, now: number): number | undefined {
  if (wakeAt === undefined) return undefined;
  return 'inMs' in wakeAt ? wakeAt.inMs : Math.max(0, Math.ceil(wakeAt.at - now));
}
