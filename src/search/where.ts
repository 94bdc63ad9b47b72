/** The filter language: conditions on tasks, as text for people and as data for programs. Pure. */

import { similarTo } from '../base/similar.ts';
import { type Duration, durationMs } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { shown } from '../domain/errors/fairloom-error.ts';
import { isId, isName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { TASK_STATES } from '../domain/task/task.ts';
import { namePartsIn } from '../domain/task/task-name.ts';
import { PRIORITY_NAMES } from '../workflow/task-options.ts';

/** Words whose values are compared for equality. */
export type ValueWord = 'state' | 'user' | 'queue' | 'name' | 'run' | 'error' | 'id';

/** Words whose values are ordered. */
export type SizeWord = 'priority' | 'attempts' | 'age' | 'wait';

/** Comparison of a size. */
export type Comparison = '<' | '<=' | '=' | '>=' | '>';

/** A size to compare with: a count, or a duration in ms. */
export interface Bound {
  readonly is: Comparison;
  readonly size: number;
}

/** One condition; `isNot`: it must not be met. */
export type Condition = { readonly isNot: boolean } & (
  | { readonly word: ValueWord; readonly values: readonly string[] }
  | { readonly word: SizeWord; readonly bounds: readonly Bound[] }
  /** Part of the id, the name, the user, the queue or the error of the task; case is ignored. */
  | { readonly word: 'text'; readonly text: string }
);

/** Conditions that must all be met; within one, any of its values. */
export type Where = readonly Condition[];

/** Valid values of each word. */
const VALUES: Readonly<
  Record<ValueWord, { readonly isValue: (value: string) => boolean; readonly expected: string }>
> = {
  state: {
    isValue: (value) => TASK_STATES.some((state) => state === value),
    expected: `one of ${TASK_STATES.join(', ')}`,
  },
  user: { isValue: isId, expected: 'the id of a user' },
  queue: { isValue: isName, expected: 'the name of a queue' },
  name: { isValue: isTaskName, expected: 'a name, or name@version' },
  run: { isValue: isId, expected: 'the id of a run' },
  error: { isValue: (value) => value !== '', expected: 'the name of an error' },
  id: { isValue: isId, expected: 'the id of a task' },
};

/** Parser of each word's size. */
const SIZES: Readonly<
  Record<
    SizeWord,
    { readonly sizeOf: (text: string) => number | undefined; readonly expected: string }
  >
> = {
  priority: { sizeOf: priorityIn, expected: 'a priority from 1 to 6, or its name' },
  attempts: { sizeOf: countIn, expected: 'a whole number' },
  age: { sizeOf: lengthIn, expected: 'a length of time, as 90s, 15m, 2h or 7d' },
  wait: { sizeOf: lengthIn, expected: 'a length of time, as 90s, 15m, 2h or 7d' },
};

/** Every word, in the order of error messages. */
const WHERE_WORDS: readonly string[] = [...Object.keys(VALUES), ...Object.keys(SIZES)];

const COMPARISONS: readonly Comparison[] = ['<=', '>=', '<', '>', '='];

/**
 * Parses a text.
 *
 * @throws {@link InvalidOptionError} for a text that cannot be parsed: its message names the position and the
 * expected text.
 */
export function whereOf(text: unknown): Where {
  if (typeof text !== 'string') throw new InvalidOptionError('where', 'a text', text);
  if (text.length > LIMITS.whereLength) {
    const expected = `at most ${LIMITS.whereLength} characters`;
    throw new InvalidOptionError('where', expected, `${text.length} characters`);
  }
  return joined(new Reader(text).conditions());
}

/** Text of conditions; parsing it gives the same conditions. */
export function whereText(where: Where): string {
  return where.map((one) => `${one.isNot ? '-' : ''}${conditionText(one)}`).join(' ');
}

/** The values of a word, one of which a task must have; `undefined`: any. */
export function valuesOf(where: Where, word: ValueWord): readonly string[] | undefined {
  for (const one of where) if (one.word === word && !one.isNot) return one.values;
  return undefined;
}

/** Merges conditions on the same word: any of its values, or none when it is negated. */
function joined(conditions: Where): Where {
  const all: Condition[] = [];
  for (const one of conditions) {
    const at = all.findIndex(({ word, isNot }) => word === one.word && isNot === one.isNot);
    const before = all[at];
    if (before === undefined || !('values' in before) || !('values' in one)) all.push(one);
    else all[at] = { ...before, values: [...new Set([...before.values, ...one.values])] };
  }
  return all;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  conditions(): Where {
    const conditions: Condition[] = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip())
      conditions.push(this.#condition());
    return conditions;
  }

  #condition(): Condition {
    const isNot = this.#takes('-');
    const from = this.#at;
    const word = /^[A-Za-z_-]+(?=:)/.exec(this.#text.slice(from))?.[0];
    if (word === undefined) {
      const text = this.#bareOrQuoted('a word', ':');
      if (text !== '') return { word: 'text', isNot, text };
      this.#at = from;
      throw this.#wrong('a word', '""');
    }
    this.#at += word.length + 1;
    if (isIn(VALUES, word)) return { word, isNot, values: this.#list(() => this.#value(word)) };
    if (isIn(SIZES, word)) return { word, isNot, bounds: this.#list(() => this.#bound(word)) };
    this.#at = from;
    const meant = similarTo(word, WHERE_WORDS);
    const hint = meant === undefined ? `one of ${WHERE_WORDS.join(', ')}` : `"${meant}"`;
    throw this.#wrong(`${hint}, or quotes around a text with a colon`, word);
  }

  #list<T>(read: () => T): readonly T[] {
    const list = [read()];
    while (this.#takes(',')) list.push(read());
    return list;
  }

  #value(word: ValueWord): string {
    const { isValue, expected } = VALUES[word];
    const from = this.#at;
    const value = this.#bareOrQuoted(expected);
    if (isValue(value)) return value;
    this.#at = from;
    throw this.#wrong(expected, value);
  }

  #bound(word: SizeWord): Bound {
    const { sizeOf, expected } = SIZES[word];
    const is = COMPARISONS.find((one) => this.#takes(one)) ?? '=';
    const from = this.#at;
    const text = this.#bareOrQuoted(expected);
    const size = sizeOf(text);
    if (size !== undefined) return { is, size };
    this.#at = from;
    throw this.#wrong(expected, text);
  }

  /** Up to a space or comma, or between quotes. `never` is allowed between quotes only. */
  #bareOrQuoted(expected: string, never = ''): string {
    if (this.#takes('"')) return this.#quoted();
    const from = this.#at;
    const bare = /^[^\s,"]*/u.exec(this.#text.slice(from))?.[0] ?? '';
    if (bare === '') throw this.#wrong(expected, this.#text.slice(from, from + 1));
    this.#at += bare.length;
    const next = this.#text[this.#at] ?? ' ';
    if (next === '"') throw this.#wrong('quotes around the whole of a value', next);
    const isFree = never !== '';
    if (isFree && (bare.includes(never) || next === ',')) {
      this.#at = from;
      throw this.#wrong(`quotes around a text with a colon or comma`, bare);
    }
    return bare;
  }

  /** The text after the first quote; `\"` and `\\` are a quote and a backslash. */
  #quoted(): string {
    const from = this.#at;
    const body = /^(?:[^"\\]|\\["\\])*(?=")/u.exec(this.#text.slice(from))?.[0];
    if (body === undefined) throw this.#wrong('a second quote, and \\" or \\\\ within', '');
    this.#at += body.length + 1;
    const next = this.#text[this.#at] ?? ' ';
    if (!/[\s,]/u.test(next)) throw this.#wrong('a space or comma after a quote', next);
    return body.replaceAll(/\\(["\\])/g, '$1');
  }

  #takes(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #skip(): void {
    this.#at += /^\s*/u.exec(this.#text.slice(this.#at))?.[0].length ?? 0;
  }

  #wrong(expected: string, got: string): InvalidOptionError {
    const found = got === '' ? 'the end' : shown(got);
    const message = `where: expected ${expected} at character ${this.#at + 1}, got ${found}`;
    return new InvalidOptionError('where', expected, got, message);
  }
}

function conditionText(one: Condition): string {
  if (one.word === 'text')
    return /^[^\s,":-][^\s,":]*$/u.test(one.text) ? one.text : quoted(one.text);
  if ('values' in one) return `${one.word}:${one.values.map(valueText).join(',')}`;
  return `${one.word}:${one.bounds.map((bound) => boundText(one.word, bound)).join(',')}`;
}

function valueText(value: string): string {
  return /^[^\s,"]+$/u.test(value) ? value : quoted(value);
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

function boundText(word: SizeWord, { is, size }: Bound): string {
  const text = word === 'age' || word === 'wait' ? lengthText(size) : String(size);
  return is === '=' ? text : `${is}${text}`;
}

/** A duration in the largest unit of which it is a whole number. */
function lengthText(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const one = durationMs(`1${unit}`) ?? 1;
    if (ms > 0 && ms % one === 0) return `${ms / one}${unit}`;
  }
  return `${ms}ms`;
}

function lengthIn(text: string): number | undefined {
  const ms = durationMs(text satisfies string as Duration);
  return ms === undefined || ms < 0 ? undefined : ms;
}

function countIn(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function priorityIn(text: string): number | undefined {
  const at = PRIORITY_NAMES.findIndex((name) => name === text);
  if (at >= 0) return at + 1;
  return /^[1-6]$/.test(text) ? Number(text) : undefined;
}

/** Internal tasks have names that callers cannot give. */
function isTaskName(value: string): boolean {
  const { name, version } = namePartsIn(value.startsWith('~') ? value.slice(1) : value);
  return isName(name) && (version === undefined || isName(version));
}

function isIn<K extends string>(table: Readonly<Record<K, unknown>>, word: string): word is K {
  return Object.hasOwn(table, word);
}
