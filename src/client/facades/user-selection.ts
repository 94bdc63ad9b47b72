import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkId } from '../../domain/fairness/names.ts';

/** Users with their own figures: none, all, the longest waiting (`top:20`, up to 1,000), or those named. */
export type UserSelection = 'none' | 'all' | `top:${number}` | readonly string[];

/** Each is a label, and costs memory in every program that reads the figures. */
const MOST = 1_000;

const EXPECTED = `"none", "all", "top:<1 to ${MOST}>" or a list of users`;

/** @throws `InvalidOptionError` naming `option` for anything else. */
export function checkUserSelection(option: string, value: unknown): UserSelection {
  if (Array.isArray(value)) {
    return value.map((user: unknown, at) => checkId(`${option}[${at}]`, user));
  }
  if (value === 'none' || value === 'all') return value;
  const top = topOf(value);
  if (top === undefined || top < 1 || top > MOST) {
    throw new InvalidOptionError(option, EXPECTED, value);
  }
  return `top:${top}`;
}

/** The number of `top:`; `undefined` for any other selection. */
export function topOf(selection: unknown): number | undefined {
  if (typeof selection !== 'string') return undefined;
  const [, digits] = /^top:(\d{1,4})$/.exec(selection) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
