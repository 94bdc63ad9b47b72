/** Checks of arguments and environment variables. No shell reads them. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';

/** Variables of a program, by name. */
export type Environment = Readonly<Record<string, string>>;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a value is a list of texts without NUL, which would truncate them. */
export function isArguments(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  // Spread, since `every` skips holes.
  return [...value].every((one: unknown) => typeof one === 'string' && isWhole(one));
}

/** @throws {@link InvalidOptionError} when the value cannot be an argument. */
export function checkArgument(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && isWhole(value)) return value;
  throw new InvalidOptionError(option, 'a text that is not empty, without NUL', value);
}

/** @throws {@link InvalidOptionError} when the value cannot be the name of a variable. */
export function checkVariable(option: string, value: unknown): string {
  if (typeof value === 'string' && VARIABLE.test(value)) return value;
  throw new InvalidOptionError(option, 'a name of letters, digits and _', value);
}

/** @throws {@link InvalidOptionError} when a name or a value cannot be in an environment. */
export function checkEnvironment(option: string, env: unknown): readonly [string, string][] {
  if (typeof env !== 'object' || env === null || Array.isArray(env)) {
    throw new InvalidOptionError(option, 'an object of texts', env);
  }
  return Object.entries(env).map(([name, value]: [string, unknown]) => {
    checkVariable(option, name);
    if (typeof value === 'string' && isWhole(value)) return [name, value];
    throw new InvalidOptionError(`${option}.${name}`, 'a text without NUL', value);
  });
}

function isWhole(text: string): boolean {
  return !text.includes('\0');
}
