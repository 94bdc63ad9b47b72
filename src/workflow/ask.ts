/** Questions to people: their options and their answers. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, isName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';
import { durationOption } from './task-options.ts';

/** The value of a question that is not answered in time. */
export interface AskValue<V> {
  /** Any value. It does not count as an answer. */
  readonly value: V;
}

/** A question that returns a value when no answer comes in time. */
export interface OnTimeoutValue<V> {
  /** The value that it returns. */
  readonly onTimeout: AskValue<V>;
}

/** A question that returns only answers. */
export interface OnTimeoutEnd {
  /** Effect of the timeout: see {@link AskOptions.onTimeout}. */
  readonly onTimeout?: 'fail' | 'cancel' | undefined;
}

/** Options of a question. `C`: the choices, `F`: the form. */
export interface AskOptions<C extends string = string, F = undefined> {
  /** The text of the question. */
  readonly title: string;
  /** The possible answers, each a name: `['approve', 'reject']`. */
  readonly choices: readonly C[];
  /** A Standard Schema for data that comes with the choice. */
  readonly form?: StandardSchemaV1<unknown, F> | undefined;
  /**
   * Names of the people who may answer, for the filter of `loom.asks.list`:
   * `['role:finance', 'ann']`. `loom.asks.answer` does not check them; its caller does. Default: anyone.
   */
  readonly for?: readonly string[] | undefined;
  /** How long the question stays open. Default: for ever. */
  readonly timeout?: Duration | undefined;
  /**
   * Effect of the timeout. `fail`: the call rejects with {@link WaitTimedOutError}; `cancel`: the task is
   * canceled, and its run with it; a value: the call returns `{ answered: false, value }`. Default `fail`.
   */
  readonly onTimeout?: 'fail' | 'cancel' | AskValue<unknown> | undefined;
  /** Identifies the call within its handler. Default: its number. */
  readonly id?: string | undefined;
}

/** Options of a step that asks. `I`: the input of the step. */
export interface AskStepOptions<I, C extends string = string, F = undefined>
  extends Omit<AskOptions<C, F>, 'title' | 'id'> {
  /** The text of the question, or a function that makes it from the step's input. */
  readonly title: string | ((input: I) => string);
  /** Name of the step's task; unique within a client. Default `ask`. */
  readonly name?: string | undefined;
}

/** An answer of a person. */
export interface AskAnswered<C extends string = string, F = undefined> {
  /** True for an answer, false for a timeout. */
  readonly answered: true;
  /** The choice that was made. */
  readonly choice: C;
  /** The person who answered, as given to `loom.asks.answer`. */
  readonly by: string;
  /** Moment of the answer by the backend's clock, in ms since the epoch. */
  readonly at: number;
  /** Comment of the answer; absent without one. */
  readonly comment?: string;
  /** Data of the form, as its schema returns it. */
  readonly form: F;
}

/** No answer came in time; returned when `onTimeout` is a value. */
export interface AskUnanswered<V> {
  /** False: there is no `choice` and no `by`. */
  readonly answered: false;
  /** The value of `onTimeout`. */
  readonly value: V;
  /** Moment of the timeout by the backend's clock, in ms since the epoch. */
  readonly at: number;
}

/** Keys of {@link AskOptions}. */
const ASK_KEYS: OptionKeys<AskOptions> = keysOf<AskOptions>()({
  title: true,
  choices: true,
  form: true,
  for: true,
  timeout: true,
  onTimeout: true,
  id: true,
});

/** Keys of {@link AskStepOptions}. */
export const ASK_STEP_KEYS: OptionKeys<AskStepOptions<unknown>> = keysOf<AskStepOptions<unknown>>()(
  {
    title: true,
    choices: true,
    form: true,
    for: true,
    timeout: true,
    onTimeout: true,
    name: true,
  },
);

/** A question whose options are valid. */
export interface CheckedAsk {
  readonly title: string;
  readonly choices: readonly string[];
  readonly for: readonly string[];
  readonly schema: StandardSchemaV1 | undefined;
  /** Timeout in ms. */
  readonly timeoutMs: number | undefined;
  readonly onTimeout: 'fail' | 'cancel' | AskValue<unknown>;
}

/** @throws {@link InvalidOptionError} for the first invalid option. */
export function checkAsk(call: string, options: AskOptions<string, unknown>): CheckedAsk {
  checkOptions(call, options, ASK_KEYS);
  const { title, choices, form, for: names = [], timeout, onTimeout = 'fail' } = options;
  if (typeof title !== 'string' || title === '') {
    throw new InvalidOptionError('title', 'a text', title);
  }
  checkList('choices', choices, LIMITS.askChoices);
  for (const choice of choices) {
    if (!isName(choice)) throw new InvalidOptionError('choices', 'names', choice);
  }
  if (choices.length === 0) throw new InvalidOptionError('choices', 'at least one name', 'none');
  checkList('for', names, LIMITS.askNames);
  for (const name of names) checkId('for', name);
  if (form !== undefined && !isSchema(form)) {
    throw new InvalidOptionError('form', 'a Standard Schema', form);
  }
  const isValue = typeof onTimeout === 'object' && onTimeout !== null && 'value' in onTimeout;
  if (!isValue && onTimeout !== 'fail' && onTimeout !== 'cancel') {
    throw new InvalidOptionError('onTimeout', '"fail", "cancel" or { value }', onTimeout);
  }
  const bounds = { least: 1, most: LIMITS.delayMaxMs };
  return {
    title,
    choices: [...choices],
    for: [...names],
    schema: form,
    timeoutMs: timeout === undefined ? undefined : durationOption('timeout', timeout, bounds),
    onTimeout,
  };
}

/** Checks the length of a list, and that its items are unique. */
function checkList(option: string, list: unknown, most: number): void {
  if (!Array.isArray(list)) throw new InvalidOptionError(option, 'a list of texts', list);
  if (list.length > most) throw new InvalidOptionError(option, `at most ${most}`, list.length);
  if (new Set(list).size < list.length) throw new InvalidOptionError(option, 'each once', list);
}

/** JSON schema of a form, if its schema can produce one (Standard JSON Schema); else `undefined`. */
export function formDescription(schema: StandardSchemaV1): unknown {
  const jsonSchema: unknown = Reflect.get(schema['~standard'], 'jsonSchema');
  if (typeof jsonSchema !== 'object' || jsonSchema === null) return undefined;
  const input: unknown = Reflect.get(jsonSchema, 'input');
  if (typeof input !== 'function') return undefined;
  try {
    return Reflect.apply(input, jsonSchema, [{ target: 'draft-2020-12' }]);
  } catch {
    return undefined;
  }
}
