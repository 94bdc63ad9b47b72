/** Leaves out of a short script what only the other one does. */
import { type Change, changed, type LuaNode, parseLua, places, textOf } from './tree.ts';

/** The script without what the other one does: `rich` is false. */
export function withoutBranches(text: string): string {
  const all = places(parseLua(text));
  for (const { node, parents } of all) {
    if (node.type !== 'Identifier' || node.name !== 'rich') continue;
    const parent = parents.at(-1);
    if (parent?.type === 'LocalStatement') continue;
    const outer = parents.findLastIndex(({ type }) => !/^(?:Unary|Logical)Expression$/.test(type));
    const condition = parents[outer + 1] ?? node;
    const value = folded(text, condition);
    const clause = parents[outer];
    const statement = parents[outer - 1];
    const change =
      typeof value === 'boolean' && clause?.type === 'IfClause' && statement?.type === 'IfStatement'
        ? decided(text, statement, clause, value)
        : { from: condition.range[0], to: condition.range[1], text: String(value) };
    return withoutBranches(changed(text, [change]));
  }
  return text.replace(/^local rich = false\n/m, '');
}

/** What the expression is when `rich` is false. */
function folded(text: string, node: LuaNode): boolean | string {
  if (node.type === 'Identifier' && node.name === 'rich') return false;
  if (node.type === 'UnaryExpression' && node.operator === 'not') {
    const value = folded(text, node.argument as LuaNode);
    return typeof value === 'boolean' ? !value : `not ${value}`;
  }
  if (node.type !== 'LogicalExpression') return textOf(text, node);
  const isAnd = node.operator === 'and';
  const left = folded(text, node.left as LuaNode);
  if (typeof left === 'boolean') return left === isAnd ? folded(text, node.right as LuaNode) : left;
  const right = folded(text, node.right as LuaNode);
  if (right === isAnd) return left;
  return `(${left} ${node.operator} ${right})`;
}

/** An `if` of which one condition, the first, is known. */
function decided(text: string, node: LuaNode, clause: LuaNode, value: boolean): Change {
  const clauses = (node.type === 'IfStatement' ? node.clauses : []) as LuaNode[];
  const at = { from: node.range[0], to: node.range[1] };
  if (clauses[0] !== clause)
    throw new Error(`\`rich\` may be the first condition only: ${textOf(text, node)}`);
  const bodies = clauses.map((one) =>
    textOf(text, one).replace(/^(?:else)?if\b[\s\S]*?\bthen\b|^else\b/, ''),
  );
  if (value) return { ...at, text: `do ${bodies[0]} end` };
  if (clauses.length === 1) return { ...at, text: '' };
  if (clauses[1]?.type === 'ElseClause') return { ...at, text: `do ${bodies[1]} end` };
  return { ...at, text: text.slice(clauses[1]?.range[0], node.range[1]).replace(/^else/, '') };
}
