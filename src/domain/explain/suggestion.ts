/** Suggested commands, quoted for a shell: an id stays one word. */
import { escapedUnprintable, isPrintable } from '../../base/printable.ts';

/** Characters without a special meaning in any shell. */
const BARE = /^[\w.:/@+][\w.:/@+-]*$/;

/** `fairloom <verb> <word> <options>`; a word that begins like an option is preceded by `--`. */
export function suggestion(verb: string, word: string, options = ''): string {
  const rest = options === '' ? '' : ` ${options}`;
  if (word.startsWith('-')) return `fairloom ${verb}${rest} -- ${shellWord(word)}`;
  return `fairloom ${verb} ${shellWord(word)}${rest}`;
}

/** One word for bash, zsh and ksh; for every shell if it has no control characters. */
export function shellWord(word: string): string {
  if (BARE.test(word)) return word;
  if (isPrintable(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${escapedUnprintable(word.replaceAll(/[\\']/g, '\\$&'))}'`;
}
