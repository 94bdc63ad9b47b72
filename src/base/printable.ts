/**
 * Characters that a terminal does not print: control characters (C0, DEL, C1: they move the cursor,
 * ring, or start a sequence), line and paragraph separators, marks that change the direction of
 * text, and zero-width characters that hide in names.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/gu;

/** Foreign text on one line, safe to print: control characters are replaced by U+FFFD. */
export function printableLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd');
}

/** Whether {@link printableLine} leaves the text unchanged. */
export function isPrintable(text: string): boolean {
  return printableLine(text) === text;
}

/** The same characters as `\uXXXX`, which JSON and shells both read. */
export function escapedUnprintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escapeOf);
}

/** JSON text, safe to print. Line breaks between its parts are formatting; strings in it have none. */
export function printableJson(json: string): string {
  return json.replaceAll(UNPRINTABLE, (one) => (one === '\n' ? one : escapeOf(one)));
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
