/** Colors of a terminal, and the one way out of lines of text to it. */
import { randomUUID } from 'node:crypto';
import { printableLine } from '../../base/printable.ts';

/**
 * Stands for the escape character in text that a style painted until {@link terminalLine} writes it:
 * only our own text may move a terminal, and text of others cannot contain this mark.
 */
const MARK = `\u{f0000}${randomUUID()}\u{f0001}`;

const PAINTED = new RegExp(`${MARK}\\[\\d+m`, 'gu');

/** A line as it goes to a terminal or a pipe: our colors, and nothing else that a terminal obeys. */
export function terminalLine(text: string): string {
  return escaped(printableLine(text));
}

/** Lines of text that are all ours but for colors; what moves the cursor in them stays. */
export function escaped(text: string): string {
  return text.replaceAll(MARK, '\u001b');
}

/** What is seen of a text that a style painted. */
export function withoutStyle(text: string): string {
  return text.replaceAll(PAINTED, '');
}

/** Colors of a terminal, or none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

/**
 * Colors when the stream is a terminal that has some, and `NO_COLOR` (any text but the empty one)
 * does not forbid them. `FORCE_COLOR` asks for them on a pipe; `NO_COLOR` wins.
 */
export function styleFor(
  stream: { readonly isTTY?: boolean | undefined },
  env: NodeJS.ProcessEnv,
): Style {
  const forbidden = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const asked = !['', '0', 'false'].includes(env['FORCE_COLOR'] ?? '');
  const on = !forbidden && (asked || stream.isTTY === true);
  const paint =
    ([open, close]: readonly [number, number]) =>
    (text: string) =>
      on && text !== '' ? `${MARK}[${open}m${text}${MARK}[${close}m` : text;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
  };
}
