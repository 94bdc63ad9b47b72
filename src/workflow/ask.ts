/** Questions to people: what a handler asks, and what it is told. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, isName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';
import { durationOption } from './task-options.ts';

/** What a question gives without an answer in time. */
export interface AskValue<V> {
  /** Any value; it is no answer. */
  readonly value: V;
}

/** Of a question that gives a value when no answer comes in time. */
export interface OnTimeoutValue<V> {
  /** That value. */
  readonly onTimeout: AskValue<V>;
}

/** Of a question that gives nothing but an answer. */
export interface OnTimeoutEnd {
  /** What becomes of it when no answer comes in time: see {@link AskOptions.onTimeout}. */
  readonly onTimeout?: 'fail' | 'cancel' | undefined;
}

/** What is asked. `C`: the choices, `F`: the form. */
export interface AskOptions<C extends string = string, F = undefined> {
  /** What people read. */
  readonly title: string;
  /** What may be answered, each a name: `['approve', 'reject']`. */
  readonly choices: readonly C[];
  /** A Standard Schema for what is to come along with the choice, whichever it is. */
  readonly form?: StandardSchemaV1<unknown, F> | undefined;
  /**
   * The names of the people it is for, by which `loom.asks.list` finds it: `['role:finance', 'ann']`.
   * `loom.asks.answer` does not check them: its caller does. Default: anyone.
   */
  readonly for?: readonly string[] | undefined;
  /** It waits at most so long; without it, for ever. */
  readonly timeout?: Duration | undefined;
  /**
   * What becomes of it when no answer comes in time. `fail`: the call rejects with
   * {@link WaitTimedOutError}; `cancel`: the task ends as canceled, and its run with it; a value: the call
   * gives `{ answered: false, value }`, which is no answer. Default `fail`.
   */
  readonly onTimeout?: 'fail' | 'cancel' | AskValue<unknown> | undefined;
  /** Names the call among those of the handler, in place of its number. */
  readonly id?: string | undefined;
}

/** What a step asks. `I`: what the step is given. */
export interface AskStepOptions<I, C extends string = string, F = undefined>
  extends Omit<AskOptions<C, F>, 'title' | 'id'> {
  /** What people read: a text, or what makes one of the step's input. */
  readonly title: string | ((input: I) => string);
  /** Of the step's task: two of one client have two names. Default `ask`. */
  readonly name?: string | undefined;
}

/** An answer of a person; time never gives one. */
export interface AskAnswered<C extends string = string, F = undefined> {
  /** Tells it from a timeout. */
  readonly answered: true;
  /** What was chosen. */
  readonly choice: C;
  /** Who has answered, as they called themselves. */
  readonly by: string;
  /** When, in ms since the epoch, by the backend's clock. */
  readonly at: number;
  /** Words that came along; absent when there were none. */
  readonly comment?: string;
  /** What came along in the form, as its schema gives it. */
  readonly form: F;
}

/** No answer came in time, and `onTimeout` has a value for that. */
export interface AskUnanswered<V> {
  /** It has no `choice` and no `by`. */
  readonly answered: false;
  /** That of `onTimeout`. */
  readonly value: V;
  /** When the time was over, in ms since the epoch, by the backend's clock. */
  readonly at: number;
}

/** What may stand in {@link AskOptions}. */
const ASK_KEYS: OptionKeys<AskOptions> = keysOf<AskOptions>()({
  title: true,
  choices: true,
  form: true,
  for: true,
  timeout: true,
  onTimeout: true,
  id: true,
});

/** What may stand in {@link AskStepOptions}. */
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

/** A question whose every part is what it should be. */
export interface CheckedAsk {
  readonly title: string;
  readonly choices: readonly string[];
  readonly for: readonly string[];
  readonly schema: StandardSchemaV1 | undefined;
  /** In ms. */
  readonly timeoutMs: number | undefined;
  readonly onTimeout: 'fail' | 'cancel' | AskValue<unknown>;
}

/** @throws {@link InvalidOptionError} for the first option that is not what it should be. */
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

/** No list is longer, and nothing stands in it twice. */
function checkList(option: string, list: unknown, most: number): void {
  if (!Array.isArray(list)) throw new InvalidOptionError(option, 'a list of texts', list);
  if (list.length > most) throw new InvalidOptionError(option, `at most ${most}`, list.length);
  if (new Set(list).size < list.length) throw new InvalidOptionError(option, 'each once', list);
}

/** A form as data, as far as its schema can say it (Standard JSON Schema); `undefined` when it cannot. */
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
