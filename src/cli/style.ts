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
      on && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
  };
}
