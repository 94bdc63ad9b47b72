/** The filter language, as the server reads it: `state:failed user:acme`. */

const NEEDS_NO_QUOTES = /^[^\s,"]+$/u;
const WORD = /(?:"(?:\\.|[^"\\])*"|[^\s"])+/gu;

/** Words that all have to hold. */
export function whereText(words: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(words)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}:${valueText(value)}`]))
    .join(' ');
}

/** The words of a filter, each as it stands there; quotes keep spaces together. */
export function wordsOf(where: string): readonly string[] {
  return where.match(WORD) ?? [];
}

/** A value with quotes where it needs them. */
export function valueText(value: string): string {
  return NEEDS_NO_QUOTES.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
