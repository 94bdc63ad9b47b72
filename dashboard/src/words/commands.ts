/** Everything that can be clicked can be copied as a command; shells read ids as what they are. */

const NEEDS_NO_QUOTES = /^[\w./:@%+=,-]+$/;

/** `fairloom tasks cancel 7d20`, each word quoted where a shell needs that. */
export function commandText(...words: readonly string[]): string {
  return ['fairloom', ...words.map(quoted)].join(' ');
}

/** The same with an id at its end, which may begin with `-`. */
export function commandAbout(id: string, ...words: readonly string[]): string {
  return commandText(...words, ...(id.startsWith('-') ? ['--', id] : [id]));
}

function quoted(word: string): string {
  return NEEDS_NO_QUOTES.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
