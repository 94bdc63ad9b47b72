/** Valid ids and names; all others are refused before any call. */
import { utf8Bytes } from '../../base/json.ts';
import { InvalidOptionError } from '../errors/errors.ts';
import { LIMITS } from '../limits.ts';
import { namePartsIn } from '../task/task-name.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Ids are parts of URL paths, where these two are steps even if they are escaped. */
const STEPS_OF_PATHS: ReadonlySet<string> = new Set(['.', '..']);

/** Prefix of internal ids. */
const OWN_PREFIX = '~';

/** An id of this many UTF-16 units always fits: each takes at most 3 bytes. */
const SURELY_SHORT = Math.floor(LIMITS.idBytes / 3);

/**
 * Whether a value is an id: opaque text of 1–128 bytes of UTF-8, and neither `.` nor `..`. Colons, braces, spaces,
 * emoji and `__proto__` are ordinary.
 */
export function isId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || STEPS_OF_PATHS.has(value)) return false;
  if (value.length > SURELY_SHORT && utf8Bytes(value) > LIMITS.idBytes) return false;
  return !LONE_SURROGATE.test(value);
}

/** Whether a value is a name: a letter or digit, then letters, digits, `.`, `_`, `-`; up to 64. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LIMITS.nameLength && NAME.test(value);
}

/** @throws {@link InvalidOptionError} when the value is not an id. */
export function checkId(option: string, value: unknown): string {
  if (isId(value)) return value;
  throw new InvalidOptionError(
    option,
    `an id of 1–${LIMITS.idBytes} bytes without lone surrogates, and not "." or ".."`,
    value,
  );
}

/** @throws {@link InvalidOptionError} when the value is not an id that a caller may give a task. */
export function checkTaskId(option: string, value: unknown): string {
  const id = checkId(option, value);
  if (!id.startsWith(OWN_PREFIX)) return id;
  throw new InvalidOptionError(option, `an id that does not begin with "${OWN_PREFIX}"`, value);
}

/** @throws {@link InvalidOptionError} when the value is not a name. */
export function checkName(option: string, value: unknown): string {
  if (isName(value)) return value;
  throw new InvalidOptionError(
    option,
    `a name ([A-Za-z0-9][A-Za-z0-9._-]*, at most ${LIMITS.nameLength})`,
    value,
  );
}

/** @throws {@link InvalidOptionError} when it is neither a name nor a name with a version. */
export function checkTaskName(option: string, value: unknown): string {
  if (isName(value)) return value;
  const { name, version } = typeof value === 'string' ? namePartsIn(value) : {};
  if (typeof value === 'string' && isName(name) && isName(version)) return value;
  const each = `[A-Za-z0-9][A-Za-z0-9._-]*, at most ${LIMITS.nameLength}`;
  throw new InvalidOptionError(option, `a name, or name@version (each ${each})`, value);
}
