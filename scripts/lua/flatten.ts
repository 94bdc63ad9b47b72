/**
 * Makes a short script flat: what is a function in the source, and called in one place only, stands in
 * that place. Every run of a script makes all of its functions anew, and the table that holds them, and
 * calls each: for one task that is more than what the functions do. The same statements run in the
 * same order.
 *
 * - A call that is the first thing that a statement does becomes the body of the function, when nothing
 *   else calls it, or it is short.
 * - A function that is nothing but `return <expression>` stands in each place that calls it with plain
 *   arguments.
 * - What is done `if rich` is not there.
 * - Tables that are only ever named by their fields, as `H` and `C` of the step's state, are locals.
 */
import { withoutBranches } from './branches.ts';
import { inLocals } from './locals.ts';
import {
  type Change,
  changed,
  isVariable,
  type Locals,
  type LuaNode,
  nameIn,
  type OfType,
  overlap,
  type Place,
  parseLua,
  places,
  textOf,
  within,
} from './tree.ts';

type LuaFunction = OfType<'FunctionDeclaration'>;
type LuaCall = OfType<'CallExpression'>;
type LuaReturn = OfType<'ReturnStatement'>;

/** A function, all places of it, and all that call it. */
interface Found {
  readonly text: string;
  readonly name: string;
  readonly node: LuaFunction;
  readonly locals: Locals;
  readonly inside: readonly Place[];
  readonly calls: readonly { readonly call: LuaCall; readonly place: Place }[];
}

/** The functions that every run makes, when none is left. */
const EMPTY = /^local library = function\(\)\s+end\nlibrary\(\)\n/m;

/** Characters of functions that may stand in the script more often than once. */
const MOST_COPIED = 2500;

const LOOPS: ReadonlySet<string> = new Set([
  'WhileStatement',
  'RepeatStatement',
  'ForNumericStatement',
  'ForGenericStatement',
]);

export function flattenLua(text: string): string {
  let flat = withoutBranches(text);
  for (;;) {
    const changes = nextChanges(flat);
    if (changes === undefined) break;
    flat = changed(flat, changes);
  }
  return `local ARGV = ARGV\n${inLocals(flat.replace(EMPTY, ''))}`;
}

/** What takes functions out and puts them where they are called; `undefined` when none is left that may. */
function nextChanges(text: string): readonly Change[] | undefined {
  const all = places(parseLua(text));
  const changes: Change[] = [];
  for (const place of all) {
    const found = foundAt(text, all, place);
    if (found === undefined) continue;
    const put = found.calls.length === 0 ? [] : (asExpression(found) ?? asStatements(found));
    const both = put === undefined ? [] : [...changes, ...put, cut(found)];
    if (put !== undefined && !overlap(both)) changes.splice(0, changes.length, ...both);
  }
  return changes.length === 0 ? undefined : changes;
}

/** The function of `F` that is made here, when all that names it calls it, and sees what it sees. */
function foundAt(text: string, all: readonly Place[], place: Place): Found | undefined {
  const { node, locals } = place;
  if (node.type !== 'FunctionDeclaration') return undefined;
  const name = nameOf(node.identifier);
  if (name === undefined || node.parameters.some(({ type }) => type !== 'Identifier'))
    return undefined;
  const uses = all.filter((use) => use.node !== node.identifier && nameOf(use.node) === name);
  // What is made when it is called stays a function, unless nobody calls it.
  if (uses.length > 0 && !isOfLibrary(place)) return undefined;
  const inside = all.filter(
    (one) => one.parents.includes(node) && !within(one.node, node.identifier as LuaNode),
  );
  const calls = uses.flatMap((use) => {
    const call = use.parents.at(-1);
    const isCall = call?.type === 'CallExpression' && call.base === use.node;
    return isCall ? [{ call, place: use }] : [];
  });
  if (calls.length < uses.length || calls.some((one) => inside.includes(one.place)))
    return undefined;
  const free = inside.filter(
    (one) => isVariable(one) && one.locals.get(nameIn(one)) === locals.get(nameIn(one)),
  );
  const isSame = (one: Place): boolean =>
    free.every((word) => one.locals.get(nameIn(word)) === locals.get(nameIn(word)));
  if (!calls.every((one) => isSame(one.place))) return undefined;
  return { text, name, node, locals, inside, calls };
}

/** Whether it is made in each run, and not only when it is called. */
function isOfLibrary({ parents }: Place): boolean {
  return parents.some(
    (one) => one.type === 'LocalStatement' && one.variables[0]?.name === 'library',
  );
}

/** `F.name`, as text. */
function nameOf(node: unknown): string | undefined {
  const member = node as LuaNode | null;
  if (member?.type !== 'MemberExpression' || member.base.type !== 'Identifier') return undefined;
  return member.base.name === 'F' ? member.identifier.name : undefined;
}

/** Each call as what the function returns, with the arguments in place of its parameters. */
function asExpression({ text, node, inside, calls }: Found): readonly Change[] | undefined {
  const [only] = node.body;
  if (node.body.length !== 1 || only?.type !== 'ReturnStatement' || only.arguments.length !== 1) {
    return undefined;
  }
  const [value] = only.arguments as LuaNode[];
  if (value === undefined) return undefined;
  const changes = calls.map(({ call, place }) => {
    const args = call.arguments as LuaNode[];
    if (place.parents.at(-2)?.type === 'CallStatement' || !args.every(isPure)) return undefined;
    const given = new Map(
      node.parameters.map((one, at) => {
        const arg = args[at];
        return [
          one.type === 'Identifier' ? one.name : '',
          arg === undefined ? 'nil' : bracketed(text, arg),
        ];
      }),
    );
    const words = inside.filter(
      (one) => isVariable(one) && given.has(nameIn(one)) && within(one.node, value),
    );
    const from = value.range[0];
    const put = changed(
      textOf(text, value),
      words.map((one) => ({
        from: one.node.range[0] - from,
        to: one.node.range[1] - from,
        text: given.get(nameIn(one)) ?? 'nil',
      })),
    );
    return {
      from: call.range[0],
      to: call.range[1],
      text: value.type === 'CallExpression' ? put : `(${put})`,
    };
  });
  return changes.every((one) => one !== undefined) ? changes : undefined;
}

function bracketed(text: string, node: LuaNode): string {
  return node.type === 'BinaryExpression' ? `(${textOf(text, node)})` : textOf(text, node);
}

/** Each call, which is the first thing that its statement does, as the statements of the function. */
function asStatements(found: Found): readonly Change[] | undefined {
  const { text, node, calls } = found;
  const { from, to } = bodyRange(text, node);
  const size = text.slice(from, to).replaceAll(/--.*|\s+/g, ' ').length;
  if ((calls.length - 1) * size > MOST_COPIED) return undefined;
  const changes = calls.map(({ call, place }, at) => {
    const statement = statementOf(place.parents, call);
    return statement && inPlace(found, call, statement, `${found.name}_${at + 1}`);
  });
  const made = changes.filter((one) => one !== undefined);
  return made.length < changes.length || overlap(made.flat()) ? undefined : made.flat();
}

/** A statement that calls the function, with the function's statements before it or in its place. */
function inPlace(found: Found, call: LuaCall, statement: LuaNode, name: string): readonly Change[] {
  const { text } = found;
  const at = { from: statement.range[0], to: statement.range[1] };
  if (statement.type === 'CallStatement') return [{ ...at, text: blockOf(found, call, [], name) }];
  if (statement.type === 'ReturnStatement' && isOnly(statement.arguments, call)) {
    const last = found.node.body.at(-1)?.type === 'ReturnStatement' ? '' : '\nreturn';
    return [{ ...at, text: `do ${paramsOf(found, call)}${bodyOf(text, found.node)}${last} end` }];
  }
  const count = resultsOf(statement, call);
  const results = Array.from({ length: count }, (_, i) => `${name}_${i + 1}`);
  const list = results.join(', ');
  return [
    { from: at.from, to: at.from, text: `local ${list}\n${blockOf(found, call, results, name)}\n` },
    { from: call.range[0], to: call.range[1], text: list },
  ];
}

/** How many values of the call the statement takes. */
function resultsOf(statement: LuaNode, call: LuaCall): number {
  const isGiven = statement.type === 'LocalStatement' || statement.type === 'AssignmentStatement';
  return isGiven && isOnly(statement.init, call) ? statement.variables.length : 1;
}

function isOnly(values: readonly unknown[], call: LuaCall): boolean {
  return values.length === 1 && values[0] === call;
}

/**
 * The statements of the function, with its results in these locals. A `return` that is not the last
 * statement breaks off a loop that is run once, and the loops of the function that it stands in.
 */
function blockOf(found: Found, call: LuaCall, results: readonly string[], name: string): string {
  const { text, node, inside } = found;
  const { from, to } = bodyRange(text, node);
  const returns = inside.filter(({ node: one, parents }) => isOwnReturn(one, parents, node));
  const early = returns.filter(({ node: one }) => one !== node.body.at(-1));
  const loops = new Set(early.flatMap(({ parents }) => loopsOf(parents, node)));
  const gone = `${name}_gone`;
  const changes = returns.map((one) => {
    const leave = early.includes(one)
      ? `${loopsOf(one.parents, node).length > 0 ? ` ${gone} = true` : ''} break`
      : '';
    return {
      from: one.node.range[0] - from,
      to: one.node.range[1] - from,
      text: returned(text, one.node as LuaReturn, results) + leave,
    };
  });
  const ends = [...loops].map((loop) => ({
    from: loop.range[1] - from,
    to: loop.range[1] - from,
    text: `\nif ${gone} then break end`,
  }));
  const body = changed(text.slice(from, to), [...changes, ...ends]);
  const flag = loops.size > 0 ? `local ${gone}\n` : '';
  const head = `${flag}${paramsOf(found, call)}`;
  return early.length > 0 ? `repeat ${head}${body} until true` : `do ${head}${body} end`;
}

/** The statement that does nothing before this call. */
function statementOf(parents: readonly LuaNode[], call: LuaNode): LuaNode | undefined {
  let inner = call;
  for (const parent of parents.slice(0, -1).reverse()) {
    if (!isFirst(parent, inner)) return undefined;
    if (parent.type.endsWith('Statement')) return parent;
    inner = parent;
  }
  return undefined;
}

/** Whether this part is what the other begins with. */
function isFirst(node: LuaNode, part: LuaNode): boolean {
  switch (node.type) {
    case 'CallStatement':
      return (
        node.expression === part &&
        part.type === 'CallExpression' &&
        nameOf(part.base) !== undefined
      );
    case 'LocalStatement':
    case 'AssignmentStatement':
      return node.init[0] === part;
    case 'ReturnStatement':
      return node.arguments[0] === part;
    case 'IfStatement':
      return node.clauses[0] === part;
    case 'IfClause':
      return node.condition === part;
    case 'UnaryExpression':
      return node.argument === part;
    case 'BinaryExpression':
    case 'LogicalExpression':
      return (
        node.left === part ||
        (node.type === 'BinaryExpression' && isPure(node.left as LuaNode) && node.right === part)
      );
    case 'CallExpression': {
      const at = (node.arguments as LuaNode[]).indexOf(part);
      return (
        at >= 0 &&
        isPure(node.base as LuaNode) &&
        node.arguments.slice(0, at).every((one) => isPure(one as LuaNode))
      );
    }
    default:
      return false;
  }
}

/** The parameters as locals, but for those that are called as what they get. */
function paramsOf({ text, node, inside }: Found, call: LuaCall): string {
  const isSet = (name: string): boolean =>
    inside.some(
      ({ node: one }) =>
        one.type === 'AssignmentStatement' &&
        one.variables.some((variable) => variable.type === 'Identifier' && variable.name === name),
    );
  const pairs = node.parameters.map((one, at) => {
    const arg = call.arguments[at] as LuaNode | undefined;
    return {
      name: one.type === 'Identifier' ? one.name : '',
      arg: arg === undefined ? 'nil' : textOf(text, arg),
    };
  });
  const needed = pairs.filter(({ name, arg }) => name !== arg || isSet(name));
  if (needed.length === 0) return '';
  return `local ${needed.map(({ name }) => name).join(', ')} = ${needed.map(({ arg }) => arg).join(', ')}`;
}

function bodyOf(text: string, node: LuaFunction): string {
  const { from, to } = bodyRange(text, node);
  return text.slice(from, to);
}

/** What stands between the parameters and the end. */
function bodyRange(
  text: string,
  node: LuaFunction,
): { readonly from: number; readonly to: number } {
  const last = (node.parameters.at(-1) ?? node.identifier) as LuaNode;
  return { from: text.indexOf(')', last.range[1]) + 1, to: node.range[1] - 'end'.length };
}

function isOwnReturn(one: LuaNode, parents: readonly LuaNode[], of: LuaFunction): boolean {
  if (one.type !== 'ReturnStatement') return false;
  return parents.findLast(({ type }) => type === 'FunctionDeclaration') === of;
}

/** Loops of the function around a place. */
function loopsOf(parents: readonly LuaNode[], of: LuaFunction): readonly LuaNode[] {
  return parents.slice(parents.indexOf(of)).filter(({ type }) => LOOPS.has(type));
}

/** What stands for a `return`. */
function returned(text: string, one: LuaReturn, results: readonly string[]): string {
  const values = one.arguments as LuaNode[];
  const list = values.map((value) => textOf(text, value)).join(', ');
  if (results.length > 0) return `${results.join(', ')} = ${list === '' ? 'nil' : list}`;
  if (values.every(isPure)) return '';
  const isCall = values.length === 1 && values[0]?.type === 'CallExpression';
  return isCall ? list : `local _ = ${list}`;
}

/** Whether it does not matter when, and how often, it is read. */
function isPure(node: LuaNode): boolean {
  if (node.type === 'IndexExpression') {
    return isPure(node.base as LuaNode) && isPure(node.index as LuaNode);
  }
  if (node.type === 'MemberExpression') return isPure(node.base as LuaNode);
  if (node.type === 'BinaryExpression') {
    return isPure(node.left as LuaNode) && isPure(node.right as LuaNode);
  }
  return node.type === 'Identifier' || /^(?:Numeric|String|Boolean|Nil)Literal$/.test(node.type);
}

/** The function, and the comment above it, are gone. */
function cut({ text, node }: Found): Change {
  const above = /(?:(?<=^|\n)--[^\n]*\n)*$/.exec(text.slice(0, node.range[0]));
  return { from: above?.index ?? node.range[0], to: node.range[1], text: '' };
}
