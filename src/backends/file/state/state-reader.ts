/** Makes a store of what `writeState` has written. */
import type { Clock } from '../../../base/time.ts';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { Store } from '../../memory/store/store.ts';
import { BadStateError } from './bad-state.ts';
import { type Fields, hasFields, MORE, STATE_VERSION } from './format.ts';
import { type KnownClass, knownClasses, TEXT } from './known-classes.ts';
import { fromOld, OLD_VERSION } from './old-version.ts';
import { type Column, columnInto, newColumn } from './read-column.ts';
import { ValueReader } from './read-value.ts';

/**
 * @throws BackendUnsupportedError when a newer version has written it.
 * @throws BadStateError
 */
export function readState(chunks: Iterable<string>, clock: Clock): Store {
  const reader = new StateReader(clock);
  for (const chunk of chunks) reader.add(chunk);
  return reader.end();
}

/** What one class has in the file. */
interface FileClass {
  readonly known: KnownClass;
  readonly columns: readonly Column[];
}

/** The same for a caller that has the chunks one after the other. */
export class StateReader {
  readonly #known: readonly KnownClass[];
  #classes: readonly FileClass[] | undefined = undefined;
  #values = new ValueReader([]);
  /** Instances of before that have their fields. */
  #done = 0;
  #isWhole = false;
  #isOld = false;

  constructor(clock: Clock) {
    this.#known = knownClasses(clock);
  }

  /** Takes in whole lines. */
  add(chunk: string): void {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf('\n', from);
      if (end < 0) throw new BadStateError('the state ends within a line');
      this.#line(parsed(chunk.slice(from, end)));
      from = end + 1;
    }
  }

  /** All lines were there. */
  end(): Store {
    if (!this.#isWhole) throw new BadStateError('the state has no end');
    this.#values.finish();
    const [store] = this.#values.instances(0, 1);
    if (!(store instanceof Store)) throw new BadStateError('the state begins with no store');
    if (this.#isOld) fromOld(store);
    return store;
  }

  #line(line: unknown): void {
    if (Array.isArray(line)) {
      if (this.#classes === undefined || this.#isWhole)
        throw new BadStateError('a line has no place');
      const [at, met, ...rest]: readonly unknown[] = line;
      this.#values.meet(met);
      if (at === MORE) this.#values.more(rest);
      else this.#block(this.#classes[Number(at)], rest);
      return;
    }
    if (!hasFields(line)) throw new BadStateError('a line is none of a state');
    if (this.#classes === undefined) this.#head(line);
    else this.#end(line);
  }

  #head({ state, classes }: Fields): void {
    if (state !== STATE_VERSION && state !== OLD_VERSION) {
      throw new BackendUnsupportedError(
        `the snapshot has version ${String(state)} of the state; this Fairloom reads ${STATE_VERSION}`,
      );
    }
    this.#isOld = state === OLD_VERSION;
    if (!Array.isArray(classes)) throw new BadStateError('the head of the state names no classes');
    const found = classes.map((one) => this.#fileClass(one));
    this.#classes = found;
    this.#values = new ValueReader(found.map(({ known }) => known));
  }

  #fileClass(row: unknown): FileClass {
    const [name, fields]: readonly unknown[] = Array.isArray(row) ? row : [];
    const known = this.#known.find((one) => one.name === name);
    if (known === undefined || !Array.isArray(fields)) {
      throw new BackendUnsupportedError(`the snapshot has a class that is not known: ${name}`);
    }
    const unknown = fields.find((field) => !known.fields.includes(field));
    if (unknown !== undefined) {
      throw new BackendUnsupportedError(
        `the snapshot has a field that is not known: ${name}.${unknown}`,
      );
    }
    const blank = known.blank();
    return { known, columns: fields.map((field) => newColumn(String(field), blank)) };
  }

  #block(fileClass: FileClass | undefined, [rows, ...cells]: readonly unknown[]): void {
    if (fileClass === undefined) throw new BadStateError('a block is of no class');
    const { known, columns } = fileClass;
    const instances = this.#values.instances(this.#done, Number(rows));
    this.#done += instances.length;
    const { text } = known;
    const into = text === undefined ? instances : instances.map((): Fields => ({}));
    for (const [at, column] of columns.entries()) {
      columnInto(this.#values, column, cells[at], into);
    }
    if (text === undefined) return;
    for (const [at, instance] of instances.entries()) text.read(instance, String(into[at]?.[TEXT]));
  }

  #end({ instances, collections }: Fields): void {
    const { counts } = this.#values;
    const isAll =
      counts.instances === instances &&
      counts.collections === collections &&
      this.#done === instances;
    if (!isAll) throw new BadStateError('the state is not whole');
    this.#isWhole = true;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new BadStateError('a line of the state is no JSON', { cause });
  }
}
