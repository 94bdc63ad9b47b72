/** Makes mutants of TypeScript and Lua: by their parsers, so that each can be read still and changes one thing. */
import luaparse from 'luaparse';
import ts from 'typescript';
import type { Mutant } from './mutants.ts';

/** What stands from `from` until `to` is replaced by `text`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Every mutant of a file, from the first line to the last. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const edits = file.endsWith('.lua') ? luaEdits(text) : typeScriptEdits(text);
  return edits
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
    .map((edit) => ({
      name: `${file}:${lineOf(text, edit.from)}: ${shown(text.slice(edit.from, edit.to))} → ${shown(edit.text)}`,
      file,
      changed: (now) => now.slice(0, edit.from) + edit.text + now.slice(edit.to),
    }));
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return 'nothing';
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

/** An operator, and what stands in its place. */
const SWAPS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '==': '~=',
  '~=': '==',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  and: 'or',
  or: 'and',
  '+': '-',
  '-': '+',
};

function typeScriptEdits(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  const source = ts.createSourceFile('mutant.ts', text, ts.ScriptTarget.Latest, true);
  const span = (node: ts.Node) => ({ from: node.getStart(source), to: node.end });
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node) && !isOfText(node)) {
      const swap = SWAPS[node.operatorToken.getText(source)];
      if (swap !== undefined) edits.push({ ...span(node.operatorToken), text: swap });
    }
    if (ts.isIfStatement(node) || ts.isWhileStatement(node)) negate(node.expression);
    if (ts.isConditionalExpression(node)) negate(node.condition);
    if (ts.isNumericLiteral(node)) edits.push({ ...span(node), text: `(${node.text} + 1)` });
    if (ts.isExpressionStatement(node) && !isSuper(node)) edits.push({ ...span(node), text: ';' });
    ts.forEachChild(node, visit);
  };
  const negate = (condition: ts.Expression): void => {
    edits.push({ ...span(condition), text: `!(${condition.getText(source)})` });
  };
  visit(source);
  return edits;
}

/** Texts are joined with a plus: there is no minus. */
function isOfText({ left, right }: ts.BinaryExpression): boolean {
  return [left, right].some(
    (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
  );
}

/** A constructor without it cannot be called at all. */
function isSuper({ expression }: ts.ExpressionStatement): boolean {
  return (
    ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword
  );
}

/** What luaparse tells of a node, as far as it is needed. */
interface LuaNode {
  readonly type: string;
  readonly range: readonly [from: number, to: number];
  readonly operator?: string;
  readonly left?: LuaNode;
  readonly right?: LuaNode;
  readonly condition?: LuaNode;
}

function luaEdits(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  const visit = (node: LuaNode): void => {
    const { type, operator, left, right, condition } = node;
    const [from, to] = node.range;
    if (operator !== undefined && left !== undefined && right !== undefined) {
      const swap = SWAPS[operator];
      const at = text.indexOf(operator, left.range[1]);
      if (swap !== undefined && at < right.range[0]) {
        edits.push({ from: at, to: at + operator.length, text: swap });
      }
    }
    if (condition !== undefined) {
      const [start, end] = condition.range;
      edits.push({ from: start, to: end, text: `not (${text.slice(start, end)})` });
    }
    if (type === 'NumericLiteral') edits.push({ from, to, text: `(${text.slice(from, to)} + 1)` });
    if (type === 'CallStatement' || type === 'AssignmentStatement') {
      // A semicolon alone is no statement of Lua 5.1.
      edits.push({ from, to, text: 'do end' });
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child);
  };
  visit(luaparse.parse(text, { luaVersion: '5.1', ranges: true }) as unknown as LuaNode);
  return edits;
}

function isNode(value: unknown): value is LuaNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'range' in value;
}
