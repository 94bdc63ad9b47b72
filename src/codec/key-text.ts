/** Keys as a text: `id:base64`, separated by spaces, commas or lines; the first encrypts. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { type EncryptionKey, ringOf } from './encrypted.ts';

/** Separates keys. */
const BETWEEN = /[\s,]+/;

/**
 * Parses keys. Errors show none of the text.
 *
 * @throws InvalidOptionError when there are none, or one is invalid.
 */
export function keysIn(text: unknown): readonly EncryptionKey[] {
  const parts = typeof text === 'string' ? text.split(BETWEEN).filter((part) => part !== '') : [];
  const keys = parts.map((part) => {
    const colon = part.indexOf(':');
    return { id: part.slice(0, colon), key: part.slice(colon + 1) };
  });
  try {
    ringOf(keys);
  } catch {
    throw new InvalidOptionError('', KEYS_FORM, parts.length === 0 ? 'nothing' : 'something else');
  }
  return keys;
}

/** Description of such a text in errors. */
export const KEYS_FORM: string =
  'keys such as "id:<32 bytes as base64>", the first of which encrypts';
