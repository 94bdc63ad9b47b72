/** Types of the code as tables for readers: every field, its type as JSON, and its comment. */
import ts from 'typescript';

/** One type with a name, as it is in JSON. */
export interface TypeTable {
  readonly name: string;
  /** The comment on it. */
  readonly about: string;
  readonly fields: readonly TypeField[];
}

/** One field. Fields of objects without a name of their own are `outer.inner`. */
export interface TypeField {
  readonly path: string;
  readonly isOptional: boolean;
  /** As TypeScript would write it: `string`, `'a' | 'b'`, `TaskInfo[]`, `Record<string, number>`. */
  readonly type: string;
  readonly about: string;
}

/** The fields of an interface with the types that they hold, and the tables of all these types. */
export interface TypeTables {
  readonly root: readonly TypeField[];
  readonly tables: readonly TypeTable[];
  /** The files that were read for it, without those of packages. */
  readonly files: readonly string[];
}

/**
 * Reads an interface of a source file and every type that it leads to.
 *
 * @param opaque - names of types that are named and not opened.
 */
export function typeTables(file: string, name: string, opaque: ReadonlySet<string>): TypeTables {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ['node'],
  };
  const program = ts.createProgram([file], options);
  const found = program
    .getSourceFile(file)
    ?.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().map(({ fileName }) => fileName);
  const own = files.filter(
    (one) => !one.includes('/node_modules/') && !one.endsWith('.generated.ts'),
  );
  return { ...new Reader(checker, opaque).read(checker.getTypeAtLocation(found)), files: own };
}

class Reader {
  readonly #checker: ts.TypeChecker;
  readonly #opaque: ReadonlySet<string>;
  /** Types in the order in which they were found; a type may contain itself, so it is recorded before it is read. */
  readonly #tables = new Map<string, TypeTable>();

  constructor(checker: ts.TypeChecker, opaque: ReadonlySet<string>) {
    this.#checker = checker;
    this.#opaque = opaque;
  }

  read(type: ts.Type): Omit<TypeTables, 'files'> {
    const root = this.#fieldsOf([type], '');
    return { root, tables: [...this.#tables.values()] };
  }

  /** Of one object type, or of all members of a union: a field that some lack is optional. */
  #fieldsOf(types: readonly ts.Type[], prefix: string): readonly TypeField[] {
    const names = new Set(types.flatMap(propertiesOf).map(({ name }) => name));
    return [...names].flatMap((name) => {
      const symbols = types.flatMap((one) => one.getProperty(name) ?? []);
      const isOptional =
        symbols.length < types.length ||
        symbols.some(({ flags }) => (flags & ts.SymbolFlags.Optional) !== 0);
      const members = symbols.flatMap((one) => membersOf(this.#checker.getTypeOfSymbol(one)));
      const [symbol] = symbols;
      const about = symbol === undefined ? '' : this.#commentOf(symbol);
      const path = `${prefix}${name}`;
      const inline = members.every((one) => isPlainObject(one) && nameOf(one) === undefined);
      if (inline && members.length > 0) {
        const open = { path, isOptional, type: 'object', about };
        return [open, ...this.#fieldsOf(members, `${path}.`)];
      }
      const [first] = members;
      const element =
        members.length === 1 && first !== undefined ? this.#elementOf(first) : undefined;
      if (element !== undefined && isPlainObject(element) && nameOf(element) === undefined) {
        const open = { path, isOptional, type: 'object[]', about };
        return [open, ...this.#fieldsOf([element], `${path}[].`)];
      }
      return [{ path, isOptional, type: this.#text(members), about }];
    });
  }

  #text(types: readonly ts.Type[]): string {
    const texts = new Set(types.map((one) => this.#textOf(one)));
    if (texts.has('true') && texts.has('false')) {
      texts.delete('true');
      texts.delete('false');
      texts.add('boolean');
    }
    return [...texts].sort().join(' | ');
  }

  #textOf(type: ts.Type): string {
    if (type.isStringLiteral()) return `'${type.value}'`;
    if ((type.flags & ts.TypeFlags.Object) === 0) return this.#checker.typeToString(type);
    const element = this.#elementOf(type);
    if (element !== undefined) {
      const text = this.#text(membersOf(element));
      return text.includes(' | ') ? `(${text})[]` : `${text}[]`;
    }
    const name = nameOf(type);
    if (name !== undefined) {
      this.#note(name, type);
      return name;
    }
    const values = type.getStringIndexType();
    if (values === undefined) throw new Error(`no text for ${this.#checker.typeToString(type)}`);
    return `Record<string, ${this.#text(membersOf(values))}>`;
  }

  #elementOf(type: ts.Type): ts.Type | undefined {
    const isList = this.#checker.isArrayType(type) || this.#checker.isTupleType(type);
    return isList ? type.getNumberIndexType() : undefined;
  }

  #note(name: string, type: ts.Type): void {
    if (this.#tables.has(name) || this.#opaque.has(name)) return;
    const symbol = type.symbol;
    this.#tables.set(name, { name, about: '', fields: [] });
    const table = { name, about: this.#commentOf(symbol), fields: this.#fieldsOf([type], '') };
    this.#tables.set(name, table);
  }

  #commentOf(symbol: ts.Symbol): string {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    return text.replaceAll(/\{@link ([^}]+)\}/g, '`$1`').replaceAll(/\s*\n\s*/g, ' ');
  }
}

/** In the order of the code; tables made from a list of names, by name. */
function propertiesOf(type: ts.Type): readonly ts.Symbol[] {
  const placed = type.getProperties().map((symbol) => {
    const declaration = symbol.declarations?.[0];
    return { symbol, parent: declaration?.parent, position: declaration?.pos ?? 0 };
  });
  const parents = [...new Set(placed.map(({ parent }) => parent))];
  return placed
    .sort(
      (a, b) =>
        parents.indexOf(a.parent) - parents.indexOf(b.parent) ||
        a.position - b.position ||
        (a.symbol.name < b.symbol.name ? -1 : 1),
    )
    .map(({ symbol }) => symbol);
}

/** The members of a type, without `undefined`. */
function membersOf(type: ts.Type): readonly ts.Type[] {
  const types = type.isUnion() ? type.types : [type];
  return types.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
}

/** An object with fields of its own, not a list and not a record. */
function isPlainObject(type: ts.Type): boolean {
  return (
    type.getNumberIndexType() === undefined && type.getProperties().length > 0 && isObject(type)
  );
}

function isObject(type: ts.Type): boolean {
  return (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
}

/** The name of an interface or class of ours. */
function nameOf(type: ts.Type): string | undefined {
  return type.isClassOrInterface() ? type.symbol.name : undefined;
}
