/**
 * Form of an encrypted text: `enc:<key id>:<the rest>`. No JSON text begins so, and a process
 * without the key can read the key's id.
 */

/** Prefix of every encrypted text. */
export const SEAL = 'enc:';

/** Form of the id of a key. */
const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;

/** Whether a value is a valid id of a key. */
export function isKeyId(id: unknown): id is string {
  return typeof id === 'string' && KEY_ID.test(id);
}

/** Whether a text is encrypted. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL);
}

/** Id of the key of an encrypted text; empty if it has none. */
export function sealedWith(text: string): string {
  const end = text.indexOf(':', SEAL.length);
  return end === -1 ? '' : text.slice(SEAL.length, end);
}

/** A text for display: an encrypted one is replaced by a note with the id of its key. */
export function readableWords(text: string): string {
  return isSealed(text) ? encryptedWords(sealedWith(text)) : text;
}

/** Note displayed in place of an encrypted value. */
export function encryptedWords(keyId: string): string {
  return keyId === '' ? '(not readable)' : `(encrypted with key ${keyId})`;
}
