/** The screen of a terminal after the output of a program: supports the few sequences of our programs. */

/** The style of a character. */
export interface Look {
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly color: 'red' | 'green' | 'yellow' | undefined;
}

/** Neighbours on a line with the same style. */
export interface Run {
  /** Column of its first character, from 0. */
  readonly column: number;
  readonly text: string;
  readonly look: Look;
}

interface Cell {
  readonly character: string;
  readonly look: Look;
}

const UNSTYLED: Look = { isBold: false, isDim: false, color: undefined };

/** The effect of each number of `ESC [ n m`. */
const LOOKS: Readonly<Record<string, Partial<Look>>> = {
  0: UNSTYLED,
  1: { isBold: true },
  2: { isDim: true },
  22: { isBold: false, isDim: false },
  31: { color: 'red' },
  32: { color: 'green' },
  33: { color: 'yellow' },
  39: { color: undefined },
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a sequence begins.
const TOKEN = /\u001b(?:\[([\d;?]*)([A-Za-z])|.?)|[^\u001b]/gsu;

export class TerminalScreen {
  readonly #lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #look: Look = UNSTYLED;

  /** @throws Error when it holds an unknown sequence. */
  write(text: string): void {
    for (const [token, numbers, verb] of text.matchAll(TOKEN)) {
      if (verb !== undefined) this.#control(verb, numbers ?? '');
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#newLine();
      else if (token.startsWith('\u001b')) throw unknownSequence(token);
      else this.#put(token);
    }
  }

  /** The lines, from the top, without empty ones at the end. */
  lines(): readonly (readonly Run[])[] {
    const last = this.#lines.findLastIndex((cells) => cells.length > 0);
    return this.#lines.slice(0, last + 1).map(runsOf);
  }

  #put(character: string): void {
    const line = this.#lines[this.#row] ?? [];
    line[this.#column] = { character, look: this.#look };
    this.#column += 1;
  }

  /** Our programs end a line with a return and a new line; a new line alone does both here too. */
  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#lines[this.#row] ??= [];
  }

  #control(verb: string, numbers: string): void {
    if (verb === 'm') {
      for (const number of numbers.split(';')) this.#paint(number === '' ? '0' : number);
    } else if (verb === 'A') {
      this.#row = Math.max(0, this.#row - Number(numbers === '' ? 1 : numbers));
    } else if (verb === 'J' && (numbers === '' || numbers === '0')) {
      this.#lines.length = this.#row + 1;
      this.#lines[this.#row]?.splice(this.#column);
    } else {
      throw unknownSequence(`\u001b[${numbers}${verb}`);
    }
  }

  #paint(number: string): void {
    const change = LOOKS[number];
    if (change === undefined) throw unknownSequence(`\u001b[${number}m`);
    this.#look = { ...this.#look, ...change };
  }
}

function runsOf(cells: readonly Cell[]): readonly Run[] {
  const runs: { column: number; text: string; look: Look }[] = [];
  cells.forEach(({ character, look }, column) => {
    const last = runs.at(-1);
    if (last !== undefined && looksLike(last.look, look)) last.text += character;
    else runs.push({ column, text: character, look });
  });
  return runs;
}

function looksLike(one: Look, other: Look): boolean {
  return one.isBold === other.isBold && one.isDim === other.isDim && one.color === other.color;
}

function unknownSequence(sequence: string): Error {
  return new Error(`unknown to this screen: ${JSON.stringify(sequence)}`);
}
