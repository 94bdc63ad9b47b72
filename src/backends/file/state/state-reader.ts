/** Makes a store of what `writeState` has written. */
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { type Kind, ROWS } from '../../memory/rows/model.ts';
import { KINDS, StoreBuilder } from '../../memory/rows/store-builder.ts';
import type { Store } from '../../memory/store/store.ts';
import { BadStateError } from './bad-state.ts';
import { type Fields, hasFields, STATE_VERSION } from './format.ts';
import { isOldVersion, OldStateReader } from './old-state.ts';
import { blankRow, type Column, rowsOfColumns } from './read-column.ts';

/**
 * Tells an empty store.
 *
 * @throws BackendUnsupportedError when a newer version has written it.
 * @throws BadStateError
 */
export function readState(chunks: Iterable<string>, store: Store): Store {
  const reader = new StateReader(store);
  for (const chunk of chunks) reader.add(chunk);
  return reader.end();
}

/** What is done with the lines behind the head. */
interface LineReader {
  line(line: unknown): void;
  /** All lines were there. */
  end(): Store;
}

/** The same for a caller that has the chunks one after the other. */
export class StateReader {
  readonly #store: Store;
  #lines: LineReader | undefined = undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes in whole lines. */
  add(chunk: string): void {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf('\n', from);
      if (end < 0) throw new BadStateError('the state ends within a line');
      const line = parsed(chunk.slice(from, end));
      if (this.#lines === undefined) this.#lines = this.#readerOf(line);
      else this.#lines.line(line);
      from = end + 1;
    }
  }

  end(): Store {
    if (this.#lines === undefined) throw new BadStateError('the state has no head');
    return this.#lines.end();
  }

  #readerOf(head: unknown): LineReader {
    const { state, kinds, classes }: Fields = hasFields(head) ? head : {};
    if (isOldVersion(state)) return new OldStateReader(this.#store, state, classes);
    if (state === STATE_VERSION) return new RowsReader(this.#store, kinds);
    throw new BackendUnsupportedError(
      `the snapshot has version ${String(state)} of the state; this Fairloom reads ${STATE_VERSION}`,
    );
  }
}

/** What one kind has in the file. */
interface FileKind {
  readonly kind: Kind;
  readonly columns: readonly Column[];
  /** In which one after the other stands. */
  readonly row: Fields;
}

class RowsReader implements LineReader {
  readonly #builder: StoreBuilder;
  readonly #kinds: readonly FileKind[];
  #count = 0;
  #isWhole = false;

  constructor(store: Store, kinds: unknown) {
    if (!Array.isArray(kinds)) throw new BadStateError('the head of the state names no rows');
    this.#kinds = kinds.map(kindIn);
    this.#builder = new StoreBuilder(store);
  }

  line(line: unknown): void {
    if (this.#isWhole) throw new BadStateError('a line has no place');
    if (Array.isArray(line)) this.#block(line);
    else this.#end(line);
  }

  end(): Store {
    if (!this.#isWhole) throw new BadStateError('the state has no end');
    return this.#builder.end();
  }

  #block([at, ...block]: readonly unknown[]): void {
    const found = this.#kinds[Number(at)];
    if (found === undefined) throw new BadStateError('a block is of no kind');
    const { kind, columns, row } = found;
    const rows = rowsOfColumns(row, columns, block);
    // Its fields are those of the kind: the writer is checked by the same model.
    this.#builder.put(kind, rows as never);
    this.#count += Number(block[0]);
  }

  #end(line: unknown): void {
    if (!hasFields(line) || line['rows'] !== this.#count) {
      throw new BadStateError('the state is not whole');
    }
    this.#isWhole = true;
  }
}

function kindIn(row: unknown): FileKind {
  const [name, fields]: readonly unknown[] = Array.isArray(row) ? row : [];
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined || !Array.isArray(fields)) {
    throw new BackendUnsupportedError(`the snapshot has rows that are not known: ${name}`);
  }
  const known = new Set(Object.keys(ROWS[kind].fields));
  const names = fields.map(String);
  const unknown = names.find((field) => !known.has(field));
  if (unknown !== undefined) {
    throw new BackendUnsupportedError(
      `the snapshot has a field that is not known: ${name}.${unknown}`,
    );
  }
  const columns = names.map((field) => ({ field, known: [] }));
  return { kind, columns, row: blankRow(names) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new BadStateError('a line of the state is no JSON', { cause });
  }
}
