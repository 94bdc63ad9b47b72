/**
 * How an encrypted text looks where it is stored: `enc:<key id>:<the rest>`. No JSON text begins so, and
 * a process without the key can still name it.
 */

/** What every encrypted text begins with. */
export const SEAL = 'enc:';

/** Ids of keys stand in every text, between colons. */
const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;

/** Whether this may be the id of a key. */
export function isKeyId(id: unknown): id is string {
  return typeof id === 'string' && KEY_ID.test(id);
}

/** Whether a text is encrypted. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL);
}

/** The id of the key in an encrypted text; empty when that has none. */
export function sealedWith(text: string): string {
  const end = text.indexOf(':', SEAL.length);
  return end === -1 ? '' : text.slice(SEAL.length, end);
}

/** A text as it may be shown: what cannot be read by the id of its key. */
export function readableWords(text: string): string {
  return isSealed(text) ? encryptedWords(sealedWith(text)) : text;
}

/** What is shown in place of a value that cannot be read. */
export function encryptedWords(keyId: string): string {
  return keyId === '' ? '(not readable)' : `(encrypted with key ${keyId})`;
}
