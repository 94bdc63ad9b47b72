/** JSON that people write. */

/** Longer ones are given to a command in a file. */
const MOST_ON_A_LINE = 1_000;

/** What is wrong with a text, and where; `undefined` when it is JSON, or empty. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    // The answer is used, which is never `undefined`: a bundler may drop a call whose answer is not.
    return JSON.parse(text) === undefined ? text : undefined;
  } catch (error) {
    return placed(text, error instanceof Error ? error.message : String(error));
  }
}

/** As it stands on a command line. */
export function inputWord(text: string): string {
  const short = JSON.stringify(JSON.parse(text));
  return short.length > MOST_ON_A_LINE ? '@input.json' : short;
}

/** Some browsers say where, others only what. */
function placed(text: string, message: string): string {
  if (/\bline \d+/.test(message)) return message;
  const lines = text.slice(0, firstBad(text)).split('\n');
  const [words = message] = message.split(/, "| in JSON at| \(/);
  return `Line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${words}`;
}

/** The longest beginning that could still become JSON ends here. */
function firstBad(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBegun(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

/** What is wrong, if anything, is that it ends. */
function isBegun(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch (error) {
    const message = String(error);
    const position = /\bposition (\d+)/.exec(message)?.[1];
    return position === undefined
      ? message.includes('end of JSON input')
      : Number(position) >= text.length;
  }
}
