/** Steps that wait: parts of pipelines that give on what they were given, or what came. */
import type { Duration } from '../base/time.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import {
  ASK_STEP_KEYS,
  type AskAnswered,
  type AskOptions,
  type AskStepOptions,
  type AskUnanswered,
  checkAsk,
  type OnTimeoutEnd,
  type OnTimeoutValue,
} from './ask.ts';
import { type Signal, signalOf } from './signal.ts';
import type { Task } from './step.ts';
import { WAIT_KEYS, type WaitOptions } from './task-context.ts';
import { task } from './task-definition.ts';
import { durationOption } from './task-options.ts';

/**
 * A step that waits so long and gives on its input: `a.pipe(sleep('1h')).pipe(b)`. It holds no slot
 * meanwhile. Its name is `sleep-1h`; in one pipeline name the second of two alike by `as`.
 *
 * @throws {@link InvalidOptionError} when that is no length of time.
 */
export function sleep<T = unknown>(duration: Duration): Task<T, T> {
  const ms = durationOption('duration', duration, { least: 0, most: LIMITS.delayMaxMs });
  const name = `sleep-${typeof duration === 'number' ? `${ms}ms` : duration}`;
  // One handler for each name, however many pipelines have the step.
  return onceMade(SLEEPS, name, () =>
    task(name, { timeout: 'none' }, async (input: unknown, ctx): Promise<unknown> => {
      await ctx.sleep(ms);
      return input;
    }),
  ) as Task<T, T>;
}

/** Steps that were made, by name; the newest. */
type Made = Map<string, Task<unknown, unknown>>;

const SLEEPS: Made = new Map();
/** By the definition of the signal. */
const SIGNALS = new WeakMap<object, Made>();
/** Of signals that a caller has named by a text. */
const NAMED: Made = new Map();
/** Steps of one kind that are kept. */
const KEPT = 1_000;

function madeFor(what: unknown): Made {
  if (typeof what !== 'object' || what === null) return NAMED;
  const made: Made = SIGNALS.get(what) ?? new Map();
  SIGNALS.set(what, made);
  return made;
}

function onceMade(
  made: Made,
  name: string,
  make: () => Task<unknown, unknown>,
): Task<unknown, unknown> {
  const known = made.get(name) ?? make();
  made.delete(name);
  made.set(name, known);
  for (const oldest of made.keys()) {
    if (made.size <= KEPT) break;
    made.delete(oldest);
  }
  return known;
}

/**
 * A step that waits for a signal to its run, as `ctx.waitFor` does, and gives what came with it. Its
 * name is `wait-`, that of the signal and its timeout; in one pipeline name the second of two alike by `as`.
 *
 * @throws {@link InvalidOptionError} for the first option that is not what it should be.
 */
export function waitFor<T>(
  what: Signal<T>,
  options: Pick<WaitOptions, 'timeout'> = {},
): Task<unknown, T> {
  checkOptions('waitFor', options, { timeout: WAIT_KEYS.timeout });
  const { timeout } = options;
  if (timeout !== undefined) {
    durationOption('timeout', timeout, { least: 1, most: LIMITS.delayMaxMs });
  }
  const stepName = `wait-${signalOf(what).name}${timeout === undefined ? '' : `-${timeout}`}`;
  return onceMade(madeFor(what), stepName, () =>
    task(stepName, { timeout: 'none' }, (_input: unknown, ctx) => ctx.waitFor(what, options)),
  ) as Task<unknown, T>;
}

/**
 * A step that asks people, as `ctx.ask` does, and gives what came of it. Its name is `ask`, unless it
 * says another: each of those that one client knows needs its own.
 *
 * @throws {@link InvalidOptionError} for the first option that is not what it should be.
 */
export function ask<I, const C extends string, V, F = undefined>(
  question: AskStepOptions<I, C, F> & OnTimeoutValue<V>,
): Task<I, AskAnswered<C, F> | AskUnanswered<V>>;
/** The same, where a time that is over ends the task. */
export function ask<I, const C extends string, F = undefined>(
  question: AskStepOptions<I, C, F> & OnTimeoutEnd,
): Task<I, AskAnswered<C, F>>;
export function ask(question: AskStepOptions<never>): unknown {
  checkOptions('ask', question, ASK_STEP_KEYS);
  const { title, name = 'ask', ...rest } = question;
  const asked = (text: unknown): AskOptions => ({ ...rest, title: text as string });
  checkAsk('ask', asked(typeof title === 'function' ? '-' : title));
  return task(name, { timeout: 'none' }, (input: never, ctx): Promise<unknown> => {
    const { onTimeout, ...more } = asked(typeof title === 'function' ? title(input) : title);
    return typeof onTimeout === 'object'
      ? ctx.ask({ ...more, onTimeout })
      : ctx.ask({ ...more, onTimeout });
  });
}
