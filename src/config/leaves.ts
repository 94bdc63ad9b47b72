/** Constructors of the schema's rows. The code that takes an option checks it. */

import { MASK } from '../base/masked-url.ts';
import { type RateOptions, userPatch } from '../client/facades/settings-options.ts';
import { type RetentionOptions, retentionOf } from '../core/options.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { workerPlan } from '../worker/worker-options.ts';
import { checkTaskOptions } from '../workflow/task-options.ts';
import type { WorkerConfig } from './config-types.ts';
import type { Leaf, LeafForm, SchemaNode, Section } from './schema.ts';

/** A row for each field of a type: a missing one does not compile. */
export type Fields<T> = { readonly [K in keyof Required<T>]: SchemaNode };

/** A user that no configuration names: a worker's own user would be refused. */
const UNUSED_USER = '~nobody';

type LeafOptions = Omit<Leaf, 'kind' | 'form'>;

/** An option of this form; default durations are shown with units. */
export function leaf(form: LeafForm, options: LeafOptions): Leaf {
  const { fallback } = options;
  // Durations are shown with units.
  const isLength = form === 'duration' && typeof fallback === 'number';
  return {
    kind: 'leaf',
    form,
    ...options,
    ...(isLength ? { fallback: lengthText(fallback) } : {}),
  };
}

/** Path of a file; `otherwise` describes the default. */
export function fileLeaf(about: string, otherwise: string): Leaf {
  return leaf('text', { about, otherwise, isFile: true, check: checkPath });
}

/** A default of tasks, alone or in a section. */
export function taskLeaf(
  section: '' | 'backoff',
  name: string,
  form: LeafForm,
  options: Omit<LeafOptions, 'check'>,
): Leaf {
  const check = (value: unknown): void =>
    checkTaskOptions(
      'defaults',
      section === '' ? { [name]: value } : { [section]: { [name]: value } },
    );
  return leaf(form, { ...options, check });
}

/** Retention time of tasks in an end state; `fallback` in ms. */
export function keptLeaf(state: keyof RetentionOptions, fallback: number): Leaf {
  return leaf('duration', {
    about: `How long ${state} tasks are kept.`,
    fallback,
    check: (value) => retentionOf({ [state]: value }),
  });
}

/** Retention count of tasks in an end state. */
export function countLeaf(state: string): Leaf {
  return leaf('number', {
    about: `Most ${state} tasks that are kept; the oldest are removed first.`,
    otherwise: 'unlimited',
    check: (value) => retentionOf({ [`${state}Count`]: value }),
  });
}

/** An option of workers, checked by the worker. */
export function workerLeaf(
  name: keyof WorkerConfig,
  form: LeafForm,
  options: Omit<LeafOptions, 'check'>,
): Leaf {
  // `stealTargets` alone is refused, so the worker has an assigned user.
  const around = name === 'stealTargets' ? { assignedUsers: [UNUSED_USER] } : {};
  return leaf(form, {
    ...options,
    check: (value) => workerPlan({ ...around, [name]: value }, () => 'worker'),
  });
}

/** A setting of a user or a queue, checked by the code of these settings. */
export function settingLeaf(
  patch: (options: object) => unknown,
  name: string,
  options: Omit<LeafOptions, 'check' | 'fallback'>,
): Leaf {
  return leaf('data', { ...options, check: (value) => patch({ [name]: value }) });
}

/** Both parts of a rate; `whose` is used in their descriptions. */
export function rateSection(whose: string): Section {
  // A part alone is refused, so each is checked with a valid other one.
  const part = (
    name: keyof RateOptions,
    form: LeafForm,
    options: Omit<LeafOptions, 'check'>,
  ): Leaf =>
    leaf(form, {
      ...options,
      check: (value) =>
        userPatch({ rate: { limit: Number.MAX_SAFE_INTEGER, per: 1, [name]: value } }),
    });
  const fields: Fields<RateOptions> = {
    limit: part('limit', 'number', {
      about: `Number of starts, ${whose} …`,
      otherwise: 'required',
    }),
    per: part('per', 'duration', { about: '… in this time.', otherwise: 'required' }),
    burst: part('burst', 'number', {
      about: 'Number of starts at once after a pause.',
      otherwise: 'a tenth of the limit, at least 1',
    }),
  };
  return { kind: 'section', isOptional: true, orDefault: true, fields };
}

/** A check that accepts only these words. */
export function oneOf(...words: readonly string[]): (value: unknown) => void {
  return (value) => {
    if (typeof value === 'string' && words.includes(value)) return;
    throw new InvalidOptionError('', words.map((word) => `"${word}"`).join(' or '), value);
  };
}

/** Throws for a value that is not true or false. */
export function checkBoolean(value: unknown): void {
  if (typeof value !== 'boolean') throw new InvalidOptionError('', 'true or false', value);
}

function checkText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new InvalidOptionError('', 'a text', value);
}

function checkPath(value: unknown): void {
  if (typeof value === 'string' && value.trim() !== '') return;
  throw new InvalidOptionError('', 'the path of a file', value);
}

/** Throws for a value that is no text, or only white space. */
export function checkFilled(value: unknown): void {
  if (checkText(value).trim() === '')
    throw new InvalidOptionError('', 'a text that is not empty', value);
}

/** The same for a password, and refuses its mask. */
export function checkPassword(value: unknown): void {
  checkFilled(value);
  if (value === MASK) throw new InvalidOptionError('', 'the password, not its mask', value);
}

/** With the least duration for which the unit is used: a day is 24 hours to most people. */
const UNITS: readonly (readonly [unit: string, ms: number, least: number])[] = [
  ['d', 86_400_000, 172_800_000],
  ['h', 3_600_000, 3_600_000],
  ['m', 60_000, 60_000],
  ['s', 1_000, 1_000],
];

/** A duration in the largest unit of which it is a whole number. */
function lengthText(length: number): string {
  const [unit, ms] = UNITS.find(([, one, least]) => length >= least && length % one === 0) ?? [
    'ms',
    1,
  ];
  return `${length / ms}${unit}`;
}
