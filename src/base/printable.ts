/**
 * What a terminal does not show as it stands: control characters (C0, DEL, C1: they move the cursor,
 * ring, or begin a sequence), line and paragraph separators, marks that turn the direction of text, and
 * characters without any width that hide in names.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/gu;

/** Text of others on one line, as it is safe to print: what a terminal would obey is replaced by U+FFFD. */
export function printableLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd');
}

/** Whether {@link printableLine} would leave the text as it is. */
export function isPrintable(text: string): boolean {
  return printableLine(text) === text;
}

/** The same characters as `\uXXXX`, which JSON and shells read alike. */
export function escapedUnprintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escapeOf);
}

/** JSON text as it is safe to print. Line breaks between its parts are ours; in strings it has none. */
export function printableJson(json: string): string {
  return json.replaceAll(UNPRINTABLE, (one) => (one === '\n' ? one : escapeOf(one)));
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
