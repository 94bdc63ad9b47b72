/** Which errors are alike: those whose messages differ in nothing but ids, numbers and what is quoted. */

/** Characters of a message that are looked at. */
const CHARS = 300;

/** Stands for what differs. */
const ANY = '…';

/** Quoted text, on one line. */
const QUOTED = /"[^"]*"|(?<!\w)'[^']*'(?!\w)|`[^`]*`/g;

/** A word with a digit in it, and a number; not behind words that say what such a number means. */
const NUMBERED =
  /(?<!\b(?:status|code|errno|HTTP)\b(?:\s+code)?\W{0,3})(?<![\w…])[\w-]*\d[\w-]*(?:[.:,]\d[\w-]*)*/gi;

/**
 * The first line of a message, with `…` for what is quoted, for numbers, and for words with digits in them, as ids
 * have. What follows `status`, `code`, `errno` or `HTTP` stays: 404 and 500 are not alike.
 */
export function likeness(message: string): string {
  const line = message.trimStart().split('\n', 1)[0] ?? '';
  return line.slice(0, CHARS).replaceAll(QUOTED, ANY).replaceAll(NUMBERED, ANY).trim();
}
