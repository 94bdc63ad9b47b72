/** Checks the target of `redis()` before it is used. */
import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import { addressOf } from './address.ts';
import type { ConnectionOptions } from './client.ts';

const EXPECTED = 'a URL, options of ioredis, or an ioredis client';

/** Options of ioredis that name the server. Without any ioredis would connect to this machine. */
const PLACES = ['host', 'port', 'path', 'sentinels'] as const;

const PORT_MAX = 65_535;

/**
 * Options for a new connection.
 *
 * @throws {@link InvalidOptionError} for an empty or invalid target.
 */
export function connectionTo(target: string | ConnectionOptions): ConnectionOptions {
  if (typeof target === 'string') return ofText(target);
  if (typeof target !== 'object' || target === null || Array.isArray(target)) {
    throw new InvalidOptionError('redis', `${EXPECTED}${hintFor(target)}`, target);
  }
  if (PLACES.every((place) => target[place] === undefined)) {
    const expected = `${EXPECTED}: one of ${PLACES.join(', ')}, that is set`;
    throw new InvalidOptionError('redis', expected, 'an object that names no server');
  }
  checkParts(target);
  return target;
}

function ofText(text: string): ConnectionOptions {
  if (text.trim() === '')
    throw new InvalidOptionError('redis', `${EXPECTED}${hintFor(text)}`, text);
  const { isTls, more, ...address } = addressOf('redis', text);
  return { ...more, ...address, ...(isTls ? { tls: {} } : {}) };
}

function hintFor(target: unknown): string {
  const isUnset = target === undefined || target === null || target === '';
  return isUnset ? ' (is the variable set?)' : '';
}

function checkParts({ host, port, path, sentinels, db }: ConnectionOptions): void {
  for (const [option, value] of Object.entries({ host, path })) {
    if (value === undefined || (typeof value === 'string' && /^\S+$/.test(value))) continue;
    throw new InvalidOptionError(`redis.${option}`, 'a text without spaces', value);
  }
  checkNumber('redis.port', port, { least: 1, most: PORT_MAX });
  checkNumber('redis.db', db, { least: 0, most: Number.MAX_SAFE_INTEGER });
  if (sentinels == null || (Array.isArray(sentinels) && sentinels.length > 0)) return;
  throw new InvalidOptionError('redis.sentinels', 'a list of servers', sentinels);
}

/** A text of digits is accepted: variables are texts. */
function checkNumber(
  option: string,
  value: unknown,
  bounds: { readonly least: number; readonly most: number },
): void {
  if (value === undefined) return;
  const isText = typeof value === 'string' && /^\d+$/.test(value);
  const number = typeof value === 'number' || isText ? Number(value) : Number.NaN;
  if (Number.isInteger(number) && number >= bounds.least && number <= bounds.most) return;
  const expected = `a whole number from ${bounds.least} to ${bounds.most}`;
  throw new InvalidOptionError(option, expected, value);
}
