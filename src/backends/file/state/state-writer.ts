/** Writes what a store knows, so that `readState` makes the same of it. */
import type { Store } from '../../memory/store/store.ts';
import { BLOCK_ROWS, type Fields, MORE, STATE_VERSION } from './format.ts';
import { type KnownClass, knownClasses, TEXT } from './known-classes.ts';
import { columnOf, type Texts } from './write-column.ts';
import { type Later, ValueWriter } from './write-value.ts';

/** Lines are handed on together, as soon as they are so long, in characters. */
const CHUNK = 262_144;

/** @yields chunks of whole lines; nothing may change until the last one. */
export function* writeState(store: Store): Generator<string, void, undefined> {
  let chunk = '';
  for (const line of linesOf(store)) {
    chunk += `${JSON.stringify(line)}\n`;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

function* linesOf(store: Store): Generator<unknown> {
  const classes = knownClasses(store.clock);
  yield { state: STATE_VERSION, classes: classes.map(({ name, fields }) => [name, fields]) };
  const values = new ValueWriter(classes);
  const texts = classes.map(({ fields }) => fields.map(() => newTexts()));
  values.meet(store);
  for (;;) {
    const later = values.nextLater();
    if (later !== undefined) {
      yield* contents(values, later);
      continue;
    }
    const rows = values.nextRows(BLOCK_ROWS);
    if (rows === undefined) break;
    const { at, known, instances } = rows;
    const columns = known.fields.map((field, nth) =>
      columnOf(values, cells(known, field, instances), {
        isData: known.data.has(field),
        texts: texts[at]?.[nth] ?? newTexts(),
      }),
    );
    yield [at, values.takeMet(), instances.length, ...columns];
  }
  yield values.counts;
}

function newTexts(): Texts {
  return { known: new Map(), missed: 0 };
}

function cells(known: KnownClass, field: string, instances: readonly Fields[]): unknown[] {
  const { text } = known;
  if (text !== undefined && field === TEXT) return instances.map((one) => text.write(one));
  return instances.map((instance) => instance[field]);
}

/** A long collection, some of its values in each line. */
function* contents(values: ValueWriter, { number, value, slices }: Later): Generator<unknown> {
  for (const { items, keys } of slices(value)) {
    const list = values.list(items);
    const listOfKeys = keys === undefined ? [] : [values.list(keys)];
    yield [MORE, values.takeMet(), number, list, ...listOfKeys];
  }
}
