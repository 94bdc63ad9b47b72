/** Commands that are suggested to people, as a shell takes them: an id stays one word. */
import { escapedUnprintable, isPrintable } from '../../base/printable.ts';

/** Characters that no shell reads anything into. */
const BARE = /^[\w.:/@+][\w.:/@+-]*$/;

/** `fairloom <verb> <word> <options>`; a word that begins like an option stands behind `--`. */
export function suggestion(verb: string, word: string, options = ''): string {
  const rest = options === '' ? '' : ` ${options}`;
  if (word.startsWith('-')) return `fairloom ${verb}${rest} -- ${shellWord(word)}`;
  return `fairloom ${verb} ${shellWord(word)}${rest}`;
}

/** One word for bash, zsh and ksh; for every shell when it holds nothing that a terminal would obey. */
export function shellWord(word: string): string {
  if (BARE.test(word)) return word;
  if (isPrintable(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${escapedUnprintable(word.replaceAll(/[\\']/g, '\\$&'))}'`;
}
