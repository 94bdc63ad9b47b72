/** Collects problems, to report all of them together. */
import { MASK, maskedUrl } from '../base/masked-url.ts';
import { type ConfigProblem, type InvalidOptionError, isOwn } from '../domain/errors/errors.ts';
import { type ConfigOrigin, type Given, originText } from './given.ts';
import type { Leaf } from './schema.ts';
import { Secret } from './secret.ts';

/** Longest text that a message shows in full. */
const SHOWN_LENGTH = 60;

/** A problem at one place. */
export interface Complaint {
  readonly path: string;
  readonly origin: ConfigOrigin;
  readonly expected: string;
  readonly got: string;
  readonly hint?: string | undefined;
}

/** All problems so far. */
export class Problems {
  readonly #found: ConfigProblem[] = [];

  add({ path, origin, expected, got, hint }: Complaint): void {
    const place =
      origin.from === 'file' ? { file: origin.file, line: origin.line, column: origin.column } : {};
    const source = originText(origin);
    this.#found.push({
      path,
      expected,
      got,
      source,
      ...place,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  get all(): readonly ConfigProblem[] {
    return this.#found;
  }
}

/** Runs a check of the library; answers its error, with the option. */
export function refusalOf(check: () => unknown): InvalidOptionError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (isOwn<InvalidOptionError>(error, 'INVALID_OPTION')) return error;
    throw error;
  }
}

/** Text of a given value. */
export function gotText(given: Given, leaf?: Leaf): string {
  if (given.kind === 'list') return 'a list';
  if (given.kind === 'map') return 'a mapping';
  // The value of a variable may be a secret, in every option.
  if (given.written !== undefined) return quoted(given.written);
  if (leaf?.secret !== undefined && given.value !== null) {
    return leaf.secret === 'url' ? maskedUrl(textOf(given.value)) : MASK;
  }
  return shownText(given.value);
}

/** Text of a value. */
export function shownText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Secret) return String(value);
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'function' ? 'a function' : String(value);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
}

function textOf(value: unknown): string {
  return value instanceof Secret ? value.reveal() : String(value);
}
