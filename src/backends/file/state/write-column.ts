/** The values of one field of many instances: see `COLUMN`. */
import { COLUMN, KNOWN_TEXTS } from './format.ts';
import type { ValueWriter } from './write-value.ts';

/** Texts of a column that were there before, with their numbers. */
export interface Texts {
  readonly known: Map<string, number>;
  /** How many were looked for in vain since there is room for no more. */
  missed: number;
}

/** A column of which so many texts were not there before is one of texts that never were. */
const IN_VAIN = 4_096;

/** What a column is like. */
interface Rules {
  readonly isData: boolean;
  readonly texts: Texts;
}

/** The whole column. */
export function columnOf(
  values: ValueWriter,
  cells: readonly unknown[],
  { isData, texts }: Rules,
): readonly unknown[] {
  const [first] = cells;
  if (isData) return [COLUMN.data, ...cells.map((cell) => dataOf(cell, texts))];
  if (cells.every((cell) => Object.is(cell, first))) return [COLUMN.same, values.value(first)];
  if (cells.every(isWhole)) return [COLUMN.numbers, ...stepsOf(cells)];
  if (cells.every(isTextOrNone)) {
    return [COLUMN.texts, ...cells.map((cell) => textOf(cell, texts))];
  }
  if (cells.every((cell) => values.isInstance(cell))) {
    return [COLUMN.instances, ...cells.map((cell) => values.meet(cell))];
  }
  return [COLUMN.values, ...cells.map((cell) => values.value(cell))];
}

function isWhole(value: unknown): value is number {
  // Differences of larger ones would not be exact.
  return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 52 && !Object.is(value, -0);
}

function isTextOrNone(value: unknown): value is string | undefined {
  return typeof value === 'string' || value === undefined;
}

function stepsOf(numbers: readonly number[]): readonly number[] {
  let before = 0;
  return numbers.map((number) => {
    const step = number - before;
    before = number;
    return step;
  });
}

function textOf(text: string | undefined, texts: Texts): unknown {
  if (text === undefined) return null;
  return numberOf(text, texts) ?? text;
}

/** Equal data is written once; its readers get the same object. */
function dataOf(data: unknown, texts: Texts): unknown {
  return numberOf(JSON.stringify(data), texts) ?? data;
}

/** … or `undefined` when it is new, and then it has one the next time, as long as there is room. */
function numberOf(text: string, texts: Texts): number | undefined {
  if (texts.missed > IN_VAIN) return undefined;
  const known = texts.known.get(text);
  if (known !== undefined) {
    texts.missed = 0;
    return known;
  }
  if (texts.known.size < KNOWN_TEXTS) texts.known.set(text, texts.known.size);
  else texts.missed++;
  return undefined;
}
