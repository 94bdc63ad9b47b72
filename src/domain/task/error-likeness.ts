/** Which errors are similar: their messages differ only in ids, numbers and quoted text. */

/** Number of characters of a message that are compared. */
const CHARS = 300;

/** Replaces the parts that differ. */
const ANY = '…';

/** Quoted text, on one line. */
const QUOTED = /"[^"]*"|(?<!\w)'[^']*'(?!\w)|`[^`]*`/g;

/** A number or a word with a digit; not after a word that gives the number a meaning. */
const NUMBERED =
  /(?<!\b(?:status|code|errno|HTTP)\b(?:\s+code)?\W{0,3})(?<![\w…])[\w-]*\d[\w-]*(?:[.:,]\d[\w-]*)*/gi;

/**
 * First line of a message, with `…` for quoted text, numbers, and words with digits, such as ids.
 * What follows `status`, `code`, `errno` or `HTTP` stays: 404 and 500 differ.
 */
export function likeness(message: string): string {
  const line = message.trimStart().split('\n', 1)[0] ?? '';
  return line.slice(0, CHARS).replaceAll(QUOTED, ANY).replaceAll(NUMBERED, ANY).trim();
}
