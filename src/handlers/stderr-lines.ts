import { StringDecoder } from 'node:string_decoder';
import type { Logger } from '../base/logger.ts';
import { LIMITS } from '../domain/limits.ts';
import { say } from '../logging/log-events.ts';

/** Largest number of characters of a line. */
const LINE_CHARS = 1_000;

/** Largest number of lines in an error. */
const LAST_LINES = 20;

/** Largest number of characters of these lines: with the message they fit into a stored error. */
const LAST_CHARS = 1_500;

/** The stderr of a program: lines go to the log, the last ones to its error. */
export class StderrLines {
  readonly #log: Logger;
  readonly #decoder = new StringDecoder('utf8');
  readonly #last: string[] = [];
  #lines = 0;
  /** The incomplete last line, cut. */
  #open = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Progress bars end their lines with a carriage return. */
  write(chunk: Buffer): void {
    const [first = '', ...rest] = this.#decoder.write(chunk).split(/[\r\n]+/);
    this.#open = cut(this.#open + first);
    for (const next of rest) {
      this.#end();
      this.#open = cut(next);
    }
  }

  /** The last lines, at the end of the output. */
  close(): string {
    this.#open = cut(this.#open + this.#decoder.end());
    this.#end();
    return this.#last.join('\n').slice(-LAST_CHARS);
  }

  #end(): void {
    const line = this.#open.trimEnd();
    this.#open = '';
    if (line === '') return;
    this.#last.push(line);
    if (this.#last.length > LAST_LINES) this.#last.shift();
    this.#lines++;
    if (this.#lines <= LIMITS.stderrLines) say(this.#log, 'program.stderr', line, {});
    else if (this.#lines === LIMITS.stderrLines + 1) {
      const message = `only the first ${LIMITS.stderrLines} lines of stderr are logged`;
      say(this.#log, 'program.stderr-cut', message, {});
    }
  }
}

function cut(line: string): string {
  return line.length > LINE_CHARS ? line.slice(0, LINE_CHARS) : line;
}
