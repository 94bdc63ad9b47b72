/**
 * What a short script holds, in locals: a field of a new table costs as much as a small statement, and each
 * table is made, and thrown away.
 */
import {
  type Change,
  changed,
  isVariable,
  type LuaNode,
  nameIn,
  type OfType,
  overlap,
  type Place,
  parseLua,
  places,
  textOf,
} from './tree.ts';

/** Tables of the step's state. */
const STATE = ['H', 'C'];

export function inLocals(text: string): string {
  return STATE.reduce(withoutTable, withoutTables(withoutAliases(text)));
}

/** The script with the results of functions under the names that they are given to. */
function withoutAliases(text: string): string {
  const all = places(parseLua(text));
  const aliases = all.filter(
    ({ node }) =>
      node.type === 'LocalStatement' &&
      node.init.length === node.variables.length &&
      node.init.every((one) => one.type === 'Identifier' && /_\d+_\d+$/.test(one.name)),
  );
  const changes = aliases.flatMap(({ node }) => {
    const { variables, init, range } = node as OfType<'LocalStatement'>;
    const names = new Map(
      variables.map(({ name }, at) => [name, textOf(text, init[at] as LuaNode)]),
    );
    const uses = all.filter((one) => isVariable(one) && one.locals.get(nameIn(one)) === node);
    return [
      { from: range[0], to: range[1], text: '' },
      ...uses.map((one) => ({
        from: one.node.range[0],
        to: one.node.range[1],
        text: names.get(nameIn(one)) ?? '',
      })),
    ];
  });
  // Names that are given on from one statement to the next stay.
  return overlap(changes) ? text : changed(text, changes);
}

/** The script with the fields of tables that nothing but their fields is asked of in locals. */
function withoutTables(text: string): string {
  const all = places(parseLua(text));
  for (const { node } of all) {
    if (node.type !== 'LocalStatement') continue;
    for (const variable of node.variables as LuaNode[]) {
      const changes = asFields(text, all, node, variable);
      if (changes !== undefined) return withoutTables(changed(text, changes));
    }
  }
  return text;
}

/** A local that is given a table once, as its fields. */
function asFields(
  text: string,
  all: readonly Place[],
  statement: OfType<'LocalStatement'>,
  variable: LuaNode,
): readonly Change[] | undefined {
  const name = textOf(text, variable);
  const uses = all.filter(
    (one) => isVariable(one) && nameIn(one) === name && one.locals.get(name) === statement,
  );
  const given = uses.filter(({ node, parents }) => {
    const parent = parents.at(-1);
    return parent?.type === 'AssignmentStatement' && parent.variables.includes(node as never);
  });
  const isMade = statement.init.length > 0;
  const maker = isMade ? statement : (given[0]?.parents.at(-1) as OfType<'AssignmentStatement'>);
  if (given.length !== (isMade ? 0 : 1) || maker?.init.length !== 1 || maker.variables.length !== 1)
    return undefined;
  const [table] = maker.init as LuaNode[];
  const fields = uses.filter((one) => !given.includes(one));
  if (table?.type !== 'TableConstructorExpression' || table.fields.length === 0) return undefined;
  if (!table.fields.every(({ type }) => type === 'TableKeyString')) return undefined;
  const isField = ({ node, parents }: Place): boolean => {
    const parent = parents.at(-1);
    return parent?.type === 'MemberExpression' && parent.base === node;
  };
  if (!fields.every(isField)) return undefined;
  const first = table.fields.map((one) => {
    const [key, value] =
      one.type === 'TableKeyString' ? [one.key.name, one.value as LuaNode] : ['', table];
    const put = textOf(text, value);
    return { name: `${name}_${key}`, value: value.type === 'CallExpression' ? `(${put})` : put };
  });
  const named = fields.map(({ parents }) => {
    const use = parents.at(-1) as OfType<'MemberExpression'>;
    return { from: use.range[0], to: use.range[1], text: `${name}_${use.identifier.name}` };
  });
  const firstNames = first.map((one) => one.name);
  const names = [...new Set([...firstNames, ...named.map((one) => one.text)])].join(', ');
  const values = first.map((one) => one.value).join(', ');
  const put = isMade ? `local ${names} = ${values}` : `${firstNames.join(', ')} = ${values}`;
  return [
    { from: maker.range[0], to: maker.range[1], text: put },
    ...(isMade ? [] : [{ from: variable.range[0], to: variable.range[1], text: names }]),
    ...named,
  ];
}

/** The script with `local H = { a = 1 }` as `local H_a = 1`, and `H.a` as `H_a`. */
function withoutTable(text: string, table: string): string {
  const all = places(parseLua(text));
  const made = all.find(
    ({ node }) => node.type === 'LocalStatement' && node.variables[0]?.name === table,
  );
  const fields = all.filter(({ node, parents }) => {
    const parent = parents.at(-1);
    return node.type === 'Identifier' && node.name === table && parent !== made?.node;
  });
  const statement = made?.node as OfType<'LocalStatement'> | undefined;
  if (statement === undefined) return text;
  const changes = fields.map(({ parents }) => {
    const use = parents.at(-1) as LuaNode;
    return { from: use.range[0], to: use.range[1], text: localOf(table, fieldOf(text, use)) };
  });
  const [init] = statement.init as LuaNode[];
  const entries = init?.type === 'TableConstructorExpression' ? init.fields : [];
  const first = new Map(
    entries.map((entry) => {
      const key = entry.type === 'TableKeyString' ? entry.key.name : rawOf(text, entry as LuaNode);
      return [localOf(table, key), textOf(text, entry.value as LuaNode)];
    }),
  );
  const others = changes.map((one) => one.text).filter((name) => !first.has(name));
  const names = [...first.keys(), ...new Set(others)];
  const declared = `local ${names.join(', ')} = ${[...first.values()].join(', ')}`;
  return changed(text, [
    { from: statement.range[0], to: statement.range[1], text: declared },
    ...changes.filter(({ from }) => from > statement.range[1]),
  ]);
}

function localOf(table: string, field: string): string {
  return `${table}_${field.replaceAll(/\W/g, '_')}`;
}

/** The name of the field that is read or written. */
function fieldOf(text: string, use: LuaNode): string {
  if (use.type === 'MemberExpression') return use.identifier.name;
  if (use.type === 'IndexExpression' && use.index.type === 'StringLiteral')
    return use.index.raw.slice(1, -1);
  throw new Error(`a table of the state is named by more than its fields: ${textOf(text, use)}`);
}

/** The text of `['name'] = value`. */
function rawOf(text: string, entry: LuaNode): string {
  return /'([^']*)'/.exec(textOf(text, entry))?.[1] ?? '';
}
