/**
 * Rules of src/domain/fairness/ that scripts share, as Lua: both backends use one source. A rule is
 * functions of numbers over `const`, `let`, `while` and one `return`; all else is refused. Both languages use
 * doubles, so a translated line gives the same bits.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import * as share from '../../src/domain/fairness/fair-share.ts';
import * as rate from '../../src/domain/fairness/rate-limit.ts';

const TAGS = [
  ...[share.scaleOf, share.startOf, share.exactStep, share.finishOf, share.turn, share.seated],
  ...[share.raisedTag, share.enterTag, share.keptTag, share.rescaledTag, share.expectedRun],
  ...[share.learned, share.correction, share.recountedTag, share.sharedClass, share.sharedStep],
];
const TURNS = [share.afterTurn, share.costLeft];
const RATES = [
  ...[rate.allowedAt, rate.boundedTat, rate.afterStart, rate.afterStarts, rate.afterGiveBack],
];

/** As functions of tables: `Tag.scaleOf` and the like. */
export function luaRules(): string {
  return [
    'local Tag, Turn, Rate = {}, {}, {}',
    rulesOf('fair-share', 'Tag', TAGS),
    rulesOf('fair-share', 'Turn', TURNS),
    rulesOf('rate-limit', 'Rate', RATES),
    '',
  ].join('\n');
}

function rulesOf(file: string, table: string, rules: readonly { readonly name: string }[]): string {
  const path = new URL(`../../src/domain/fairness/${file}.ts`, import.meta.url);
  const names = rules.map(({ name }) => name);
  const { CROWD, SEATS, TURN } = share;
  return translated(readFileSync(path, 'utf8'), table, names, { CROWD, SEATS, TURN });
}

/** Words and operators that differ in Lua. */
const WORDS: Readonly<Record<string, string>> = { next: 'next_', undefined: 'nil' };
// An optional value is a number, and numbers are never false.
const SIGNS: Readonly<Record<string, string>> = { '**': '^', '===': '==', '&&': 'and', '??': 'or' };
const SAME_SIGNS = /^(?:[-+*/<>]|[<>]=)$/;

/** The functions of these names. */
export function translated(
  text: string,
  table: string,
  names: readonly string[],
  constants: Readonly<Record<string, number>>,
): string {
  const source = ts.createSourceFile('rules.ts', text, ts.ScriptTarget.ES2023, true);
  const functions = source.statements.filter(ts.isFunctionDeclaration);
  return names
    .map((name) => {
      const found = functions.find((one) => one.name?.text === name);
      if (found?.body === undefined) throw new Error(`there is no function ${name}`);
      const parameters = found.parameters.map((one) => lua(one.name)).join(', ');
      const [only] = found.body.statements;
      const body =
        only && ts.isReturnStatement(only) ? ` ${lua(only)} ` : `\n${linesOf(found.body)}\n`;
      return `function ${table}.${name}(${parameters})${body}end`;
    })
    .join('\n');

  function linesOf({ statements }: ts.Block): string {
    return statements.map((one) => `  ${lua(one)}`).join('\n');
  }

  function lua(node: ts.Node): string {
    if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(lua).join('\n');
    if (ts.isVariableDeclaration(node) && node.initializer) {
      return `local ${lua(node.name)} = ${lua(node.initializer)}`;
    }
    if (ts.isWhileStatement(node) && ts.isBlock(node.statement)) {
      return `while ${lua(node.expression)} do\n${linesOf(node.statement)}\nend`;
    }
    if (ts.isReturnStatement(node) && node.expression) return `return ${lua(node.expression)}`;
    if (ts.isExpressionStatement(node)) return lua(node.expression);
    // An object is its values, in order.
    if (ts.isObjectLiteralExpression(node)) return node.properties.map(lua).join(', ');
    if (ts.isShorthandPropertyAssignment(node)) return lua(node.name);
    if (ts.isPropertyAssignment(node)) return lua(node.initializer);
    if (ts.isPostfixUnaryExpression(node)) {
      const counted = lua(node.operand);
      return `${counted} = ${counted} ${node.operator === ts.SyntaxKind.PlusPlusToken ? '+' : '-'} 1`;
    }
    if (ts.isParenthesizedExpression(node)) return `(${lua(node.expression)})`;
    if (ts.isConditionalExpression(node)) {
      return `(${lua(node.condition)} and ${lua(node.whenTrue)} or ${lua(node.whenFalse)})`;
    }
    if (ts.isBinaryExpression(node)) {
      const [left, sign, right] = [lua(node.left), node.operatorToken.getText(), lua(node.right)];
      if (sign === '*=' || sign === '/=')
        return `${left} = ${left} ${sign[0]} ${ts.isBinaryExpression(node.right) ? `(${right})` : right}`;
      const put = SAME_SIGNS.test(sign) ? sign : SIGNS[sign];
      if (put !== undefined) return `${left} ${put} ${right}`;
    }
    if (ts.isPropertyAccessExpression(node)) return `${lua(node.expression)}.${node.name.text}`;
    if (ts.isNumericLiteral(node)) return String(Number(node.text));
    if (ts.isIdentifier(node)) return String(constants[node.text] ?? WORDS[node.text] ?? node.text);
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText();
      const put = names.includes(name)
        ? `${table}.${name}`
        : /^Math\.(?:max|min|floor|ceil)$/.exec(name)?.[0].toLowerCase();
      if (put !== undefined) return `${put}(${node.arguments.map(lua).join(', ')})`;
    }
    throw new Error(`no rule for scripts: ${node.getText()}`);
  }
}
