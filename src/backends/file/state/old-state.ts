/** Reads states of version 1 and 2, which are graphs of objects; see `old-format.ts`. */
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { rowsOf } from '../../memory/rows/rows-of-store.ts';
import { storeOfRows } from '../../memory/rows/store-builder.ts';
import { Store } from '../../memory/store/store.ts';
import { BadStateError } from './bad-state.ts';
import { COLUMN, type Fields, hasFields } from './format.ts';
import { blankOf, fieldOf, sharesOfVersion1, textInto } from './old-classes.ts';
import { INSTANCES, MORE } from './old-format.ts';
import { ValueReader } from './old-values.ts';
import { knownIn } from './read-column.ts';

/** The versions that this reads. */
export function isOldVersion(version: unknown): version is 1 | 2 {
  return version === 1 || version === 2;
}

/** What one class has in the file. */
interface FileClass {
  readonly columns: readonly OldColumn[];
  blank(): Fields;
}

interface OldColumn {
  /** Where it goes; `undefined`: it is not needed. */
  readonly field: string | undefined;
  readonly known: unknown[];
}

/** The one field of a class that is one text. */
const TEXT = 'text';

/** Takes the lines behind the head; tells an empty store what they tell. */
export class OldStateReader {
  readonly #store: Store;
  readonly #version: 1 | 2;
  readonly #classes: readonly FileClass[];
  readonly #values: ValueReader;
  /** Instances of before that have their fields. */
  #done = 0;
  #isWhole = false;

  constructor(store: Store, version: 1 | 2, classes: unknown) {
    if (!Array.isArray(classes)) throw new BadStateError('the head of the state names no classes');
    this.#store = store;
    this.#version = version;
    this.#classes = classes.map(classIn);
    this.#values = new ValueReader(this.#classes);
  }

  line(line: unknown): void {
    if (this.#isWhole) throw new BadStateError('a line has no place');
    if (!Array.isArray(line)) {
      this.#end(line);
      return;
    }
    const [at, met, ...rest]: readonly unknown[] = line;
    this.#values.meet(met);
    if (at === MORE) this.#values.more(rest);
    else this.#block(this.#classes[Number(at)], rest);
  }

  end(): Store {
    if (!this.#isWhole) throw new BadStateError('the state has no end');
    this.#values.finish();
    const [old] = this.#values.instances(0, 1);
    if (!(old instanceof Store)) throw new BadStateError('the state begins with no store');
    if (this.#version === 1) sharesOfVersion1(old);
    return storeOfRows(this.#store, rowsOf(old));
  }

  #block(fileClass: FileClass | undefined, [rows, ...cells]: readonly unknown[]): void {
    if (fileClass === undefined) throw new BadStateError('a block is of no class');
    const instances = this.#values.instances(this.#done, Number(rows));
    this.#done += instances.length;
    for (const [at, { field, known }] of fileClass.columns.entries()) {
      const values = this.#column(known, cells[at], instances.length);
      for (const [nth, instance] of instances.entries()) {
        if (field === TEXT) textInto(instance, String(values[nth]));
        else if (field !== undefined) instance[field] = values[nth];
      }
    }
  }

  #column(known: unknown[], cells: unknown, rows: number): readonly unknown[] {
    if (!Array.isArray(cells)) throw new BadStateError('a column is not there');
    const [kind, ...list]: readonly unknown[] = cells;
    if (kind === COLUMN.same) return Array(rows).fill(this.#values.value(list[0]));
    if (list.length !== rows) throw new BadStateError('a column has other rows');
    let number = 0;
    switch (kind) {
      case COLUMN.numbers:
        return list.map((step) => {
          number += Number(step);
          return number;
        });
      case INSTANCES:
        return list.map((step) => this.#values.met(step));
      case COLUMN.texts:
      case COLUMN.data:
        return list.map((cell) => knownIn(known, cell));
      case COLUMN.values:
        return list.map((value) => this.#values.value(value));
      default:
        throw new BadStateError('a column is of no kind');
    }
  }

  #end(line: unknown): void {
    const { instances, collections } = this.#values.counts;
    const isAll =
      hasFields(line) &&
      line['instances'] === instances &&
      line['collections'] === collections &&
      this.#done === instances;
    if (!isAll) throw new BadStateError('the state is not whole');
    this.#isWhole = true;
  }
}

function classIn(row: unknown): FileClass {
  const [name, fields]: readonly unknown[] = Array.isArray(row) ? row : [];
  const blank = blankOf(String(name));
  if (blank === undefined || !Array.isArray(fields)) {
    throw new BackendUnsupportedError(`the snapshot has a class that is not known: ${name}`);
  }
  const known = blank();
  const columns = fields.map((old): OldColumn => {
    const field = fieldOf(String(name), String(old));
    if (field !== undefined && field !== TEXT && !(field in known)) {
      throw new BackendUnsupportedError(
        `the snapshot has a field that is not known: ${name}.${old}`,
      );
    }
    return { field, known: [] };
  });
  return { columns, blank };
}
