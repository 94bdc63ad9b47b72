/** Writes what a store knows, so that `readState` makes the same of it. */
import { ROWS } from '../../memory/rows/model.ts';
import { rowsOf } from '../../memory/rows/rows-of-store.ts';
import { KINDS } from '../../memory/rows/store-builder.ts';
import type { Store } from '../../memory/store/store.ts';
import { BLOCK_ROWS, STATE_VERSION } from './format.ts';
import { columnOf, newTexts } from './write-column.ts';

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

type AnyRow = Readonly<Record<string, unknown>>;

function* linesOf(store: Store): Generator<unknown> {
  const rows = rowsOf(store);
  const fields = KINDS.map((kind) => Object.keys(ROWS[kind].fields));
  yield { state: STATE_VERSION, kinds: KINDS.map((kind, at) => [kind, fields[at]]) };
  let count = 0;
  for (const [at, kind] of KINDS.entries()) {
    const columns = (fields[at] ?? []).map((field) => ({ field, texts: newTexts() }));
    for (const block of blocksOf(rows[kind])) {
      const cells = columns.map(({ field, texts }) =>
        columnOf(
          block.map((row) => row[field]),
          texts,
        ),
      );
      yield [at, block.length, ...cells];
      count += block.length;
    }
  }
  yield { rows: count };
}

function* blocksOf(rows: Iterable<AnyRow>): Generator<readonly AnyRow[]> {
  let block: AnyRow[] = [];
  for (const row of rows) {
    block.push(row);
    if (block.length < BLOCK_ROWS) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}
