/** Steps that wait: they give their input, or the message for which they waited. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
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
import { type EventKey, eventOf } from './event.ts';
import { type Signal, signalOf } from './signal.ts';
import type { Task } from './step.ts';
import type { WaitOptions } from './task-context.ts';
import { task } from './task-definition.ts';
import { durationOption } from './task-options.ts';

/**
 * A step that waits for a time and gives its input: `a.pipe(sleep('1h')).pipe(b)`. It holds no slot
 * meanwhile. Its name is `sleep-1h`; rename the second of two equal steps in a pipeline by `as`.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, sleep, task } from 'fairloom';
 *
 * const double = task('double', async (n: number) => n * 2);
 * const later = sleep<number>('10ms').pipe(double);
 * const loom = new Fairloom({ backend: memory(), tasks: [double] });
 * console.log(await loom.run(later, 21)); // prints 42
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the duration is invalid.
 */
export function sleep<T = unknown>(duration: Duration): Task<T, T> {
  const ms = durationOption('duration', duration, { least: 0, most: LIMITS.delayMaxMs });
  const name = `sleep-${typeof duration === 'number' ? `${ms}ms` : duration}`;
  // One handler per name, however many pipelines contain the step.
  return cachedStep(SLEEPS, name, () =>
    task(name, { timeout: 'none' }, async (input: unknown, ctx): Promise<unknown> => {
      await ctx.sleep(ms);
      return input;
    }),
  ) as Task<T, T>;
}

/** The newest steps, by name. */
type StepCache = Map<string, Task<unknown, unknown>>;

const SLEEPS: StepCache = new Map();
/** Steps by the definition of the signal or event. */
const BY_DEFINITION = new WeakMap<object, StepCache>();
/** Steps for signals that a caller named by a text. */
const BY_NAME: StepCache = new Map();
/** Number of steps of one kind that are kept. */
const MOST_STEPS = 1_000;

function cacheFor(what: unknown): StepCache {
  if (typeof what !== 'object' || what === null) return BY_NAME;
  const cache: StepCache = BY_DEFINITION.get(what) ?? new Map();
  BY_DEFINITION.set(what, cache);
  return cache;
}

function cachedStep(
  cache: StepCache,
  name: string,
  make: () => Task<unknown, unknown>,
): Task<unknown, unknown> {
  const known = cache.get(name) ?? make();
  cache.delete(name);
  cache.set(name, known);
  for (const oldest of cache.keys()) {
    if (cache.size <= MOST_STEPS) break;
    cache.delete(oldest);
  }
  return known;
}

/** Options of a step that waits for a signal or event made of its input. */
export interface WaitStepOptions extends Pick<WaitOptions, 'timeout' | 'within'> {
  /** Name of the step; unique within a client. */
  readonly name: string;
}

/** Keys of {@link WaitStepOptions}. */
const STEP_KEYS: OptionKeys<WaitStepOptions> = keysOf<WaitStepOptions>()({
  name: true,
  timeout: true,
  within: true,
});

/** Keys for a step whose name is derived from its signal or event. */
const { name: _name, ...NAMELESS } = STEP_KEYS;

/**
 * A step that waits for a signal to its run, or for an event, as `ctx.waitFor` does, and gives the payload. Its
 * name is `wait-`, the name of the signal or event, and the timeout; rename the second of two equal steps in a
 * pipeline by `as`.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, signal, task, waitFor } from 'fairloom';
 *
 * const approved = signal<string>('approved');
 * const greet = task('greet', async (name: string) => `Hello, ${name}!`);
 * const release = waitFor(approved).pipe(greet).as('release');
 * const loom = new Fairloom({ backend: memory(), tasks: [release] });
 * await loom.worker().start();
 * const run = await loom.enqueue(release, undefined);
 * await loom.signal(run.id, approved, 'Ada');
 * console.log(await run.result()); // prints Hello, Ada!
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} for the first invalid option.
 */
export function waitFor<T>(
  what: Signal<T> | EventKey<T>,
  options?: Pick<WaitOptions, 'timeout' | 'within'>,
): Task<unknown, T>;
/** Target made of the input: `waitFor((order: Order) => event('paid', order.id), { name: 'paid' })`. */
export function waitFor<I, T>(
  what: (input: I) => Signal<T> | EventKey<T>,
  options: WaitStepOptions,
): Task<I, T>;
export function waitFor(what: unknown, options: Partial<WaitStepOptions> = {}): unknown {
  if (typeof what === 'function') {
    checkOptions('waitFor', options, STEP_KEYS);
    const { name, ...how } = options;
    checkWait(how);
    return task(checkName('name', name), { timeout: 'none' }, (input: unknown, ctx) =>
      ctx.waitFor(what(input) as Signal<unknown>, how),
    );
  }
  checkOptions('waitFor', options, NAMELESS);
  checkWait(options);
  const { timeout, within } = options;
  const event = eventOf(what);
  if (event === undefined && within !== undefined) {
    throw new InvalidOptionError('within', 'no value for a signal', within);
  }
  const { name } = event ?? signalOf(what);
  const stepName = ['wait', name, ...(timeout === undefined ? [] : [timeout])].join('-');
  const made = `${stepName} ${within}`;
  return cachedStep(cacheFor(what), made, () =>
    task(stepName, { timeout: 'none' }, (_input: unknown, ctx) =>
      ctx.waitFor(what as Signal<unknown>, options),
    ),
  );
}

function checkWait({ timeout, within }: Pick<WaitOptions, 'timeout' | 'within'>): void {
  const bounds = { least: 1, most: LIMITS.delayMaxMs };
  if (timeout !== undefined) durationOption('timeout', timeout, bounds);
  if (within !== undefined) durationOption('within', within, bounds);
}

/**
 * A step that asks people, as `ctx.ask` does, and gives the answer. Its name is `ask` by default; two
 * such steps of one client need different names.
 *
 * @example
 * ```ts
 * import { ask, Fairloom, memory, task } from 'fairloom';
 *
 * const decided = task('decided', async (answer: { choice: string }) => answer.choice);
 * const refund = ask({ title: 'Refund this order?', choices: ['yes', 'no'] }).pipe(decided).as('refund');
 * const loom = new Fairloom({ backend: memory(), tasks: [refund] });
 * console.log(refund.name); // prints refund
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} for the first invalid option.
 */
export function ask<I, const C extends string, V, F = undefined>(
  question: AskStepOptions<I, C, F> & OnTimeoutValue<V>,
): Task<I, AskAnswered<C, F> | AskUnanswered<V>>;
/** Without a value in `onTimeout` the step gives only answers. */
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
