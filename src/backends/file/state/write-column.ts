/** The values of one field of many rows: see `COLUMN`. */
import { COLUMN, KNOWN_TEXTS } from './format.ts';

/** Texts of a column that were there before, with their numbers. */
export interface Texts {
  readonly known: Map<string, number>;
  /** How many were looked for in vain since there is room for no more. */
  missed: number;
}

/** Of a column that begins. */
export function newTexts(): Texts {
  return { known: new Map(), missed: 0 };
}

/** A column of which so many texts were not there before is one of texts that never were. */
const IN_VAIN = 4_096;

/** The whole column. */
export function columnOf(cells: readonly unknown[], texts: Texts): readonly unknown[] {
  const [first] = cells;
  if (cells.every((cell) => Object.is(cell, first))) return [COLUMN.same, cellOf(first)];
  if (cells.every(isWhole)) return [COLUMN.numbers, ...stepsOf(cells)];
  if (cells.every(isTextOrNone)) return [COLUMN.texts, ...cells.map((cell) => textOf(cell, texts))];
  if (cells.every(isDataOrNone)) return [COLUMN.data, ...cells.map((cell) => dataOf(cell, texts))];
  return [COLUMN.values, ...cells.map(cellOf)];
}

function isWhole(value: unknown): value is number {
  // Differences of larger ones would not be exact.
  return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 52 && !Object.is(value, -0);
}

function isTextOrNone(value: unknown): value is string | undefined {
  return typeof value === 'string' || value === undefined;
}

function isDataOrNone(value: unknown): value is object | undefined {
  return typeof value === 'object' || value === undefined;
}

function stepsOf(numbers: readonly number[]): readonly number[] {
  let before = 0;
  return numbers.map((number) => {
    const step = number - before;
    before = number;
    return step;
  });
}

function cellOf(value: unknown): unknown {
  if (typeof value === 'object') return [value];
  if (typeof value !== 'number') return value ?? null;
  if (Object.is(value, -0)) return [1, '-0'];
  return Number.isFinite(value) ? value : [1, String(value)];
}

function textOf(text: string | undefined, texts: Texts): unknown {
  if (text === undefined) return null;
  return numberOf(texts, text) ?? text;
}

/** Equal data is written once; its readers get the same object. */
function dataOf(data: object | undefined, texts: Texts): unknown {
  if (data === undefined) return null;
  if (texts.missed > IN_VAIN) return data;
  return numberOf(texts, JSON.stringify(data)) ?? data;
}

/** … or `undefined` when it is new, and then it has one the next time, as long as there is room. */
function numberOf(texts: Texts, text: string): number | undefined {
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
