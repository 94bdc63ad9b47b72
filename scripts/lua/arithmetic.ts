/**
 * The arithmetic of tags and rates as Lua, made of src/domain/fairness/: a rule that both backends follow is
 * said once. It knows what that takes, functions of numbers over `const`, `let`, `while` and one `return`,
 * and refuses the rest. Both languages count in doubles, so a translated line gives the same bits.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const FAIRNESS = new URL('../../src/domain/fairness/', import.meta.url);

/** Names that are others in Lua. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['next', 'next_'],
  ['undefined', 'nil'],
]);

const OPERATORS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.PlusToken, '+'],
  [ts.SyntaxKind.MinusToken, '-'],
  [ts.SyntaxKind.AsteriskToken, '*'],
  [ts.SyntaxKind.SlashToken, '/'],
  [ts.SyntaxKind.AsteriskAsteriskToken, '^'],
  [ts.SyntaxKind.LessThanToken, '<'],
  [ts.SyntaxKind.LessThanEqualsToken, '<='],
  [ts.SyntaxKind.GreaterThanToken, '>'],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>='],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '=='],
  [ts.SyntaxKind.AmpersandAmpersandToken, 'and'],
  // Of numbers alone, which are never false.
  [ts.SyntaxKind.QuestionQuestionToken, 'or'],
]);

const ASSIGNMENTS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.SlashEqualsToken, '/'],
  [ts.SyntaxKind.AsteriskEqualsToken, '*'],
]);

/** Constants of a file, by name. */
export type Numbers = Readonly<Record<string, number>>;

/** Functions of a file, as functions of a table: `Tag.scaleOf` and the like. */
export function luaArithmetic(
  file: string,
  table: string,
  functions: readonly NamedFunction[],
  constants: Numbers = {},
): string {
  const text = readFileSync(new URL(file, FAIRNESS), 'utf8');
  return translated(text, { table, names: functions.map(({ name }) => name), constants });
}

interface NamedFunction {
  readonly name: string;
}

interface Wanted {
  readonly table: string;
  readonly names: readonly string[];
  readonly constants?: Numbers;
}

/** The same of a text. */
export function translated(text: string, { table, names, constants = {} }: Wanted): string {
  const source = ts.createSourceFile('rules.ts', text, ts.ScriptTarget.ES2023, true);
  const functions = new Map(
    source.statements.flatMap((one): [string, ts.FunctionDeclaration][] =>
      ts.isFunctionDeclaration(one) && one.name !== undefined ? [[one.name.text, one]] : [],
    ),
  );
  const writer = new Writer(table, new Set(names), constants);
  return names
    .map((name) => {
      const found = functions.get(name);
      if (found?.body === undefined) throw new Error(`there is no function ${name}`);
      return writer.write(name, found.parameters, found.body);
    })
    .join('\n');
}

class Writer {
  readonly #table: string;
  readonly #functions: ReadonlySet<string>;
  readonly #constants: Numbers;

  constructor(table: string, functions: ReadonlySet<string>, constants: Numbers) {
    this.#table = table;
    this.#functions = functions;
    this.#constants = constants;
  }

  write(name: string, parameters: ts.NodeArray<ts.ParameterDeclaration>, body: ts.Block): string {
    const given = parameters.flatMap(({ name: one }) =>
      ts.isObjectBindingPattern(one) ? one.elements.map((each) => each.name) : [one],
    );
    const lines = body.statements.flatMap((one) => this.#statement(one));
    const list = given.map((one) => nameOf(one)).join(', ');
    const head = `function ${this.#table}.${name}(${list})`;
    const [only = ''] = lines;
    return lines.length === 1
      ? `${head} ${only} end`
      : [head, ...lines.map((line) => `  ${line}`), 'end'].join('\n');
  }

  #statement(node: ts.Statement): readonly string[] {
    if (ts.isVariableStatement(node)) {
      return node.declarationList.declarations.map(({ name, initializer }) =>
        initializer === undefined
          ? refuse(node)
          : `local ${nameOf(name)} = ${this.#value(initializer)}`,
      );
    }
    if (ts.isReturnStatement(node) && node.expression !== undefined) {
      return [`return ${this.#values(node.expression).join(', ')}`];
    }
    if (ts.isWhileStatement(node) && ts.isBlock(node.statement)) {
      const body = node.statement.statements.flatMap((one) => this.#statement(one));
      return [
        `while ${this.#value(node.expression)} do`,
        ...body.map((line) => `  ${line}`),
        'end',
      ];
    }
    if (ts.isExpressionStatement(node)) return [this.#assignment(node.expression)];
    return refuse(node);
  }

  #assignment(node: ts.Expression): string {
    if (ts.isPostfixUnaryExpression(node)) {
      const sign = node.operator === ts.SyntaxKind.PlusPlusToken ? '+' : '-';
      return `${this.#value(node.operand)} = ${this.#value(node.operand)} ${sign} 1`;
    }
    const sign = ts.isBinaryExpression(node) ? ASSIGNMENTS.get(node.operatorToken.kind) : undefined;
    if (!ts.isBinaryExpression(node) || sign === undefined) return refuse(node);
    const left = this.#value(node.left);
    return `${left} = ${left} ${sign} ${this.#value(node.right)}`;
  }

  /** An object is as many values, in its order. */
  #values(node: ts.Expression): readonly string[] {
    if (!ts.isObjectLiteralExpression(node)) return [this.#value(node)];
    return node.properties.map((one) => {
      if (ts.isShorthandPropertyAssignment(one)) return nameOf(one.name);
      return ts.isPropertyAssignment(one) ? this.#value(one.initializer) : refuse(one);
    });
  }

  #value(node: ts.Expression): string {
    if (ts.isParenthesizedExpression(node)) return `(${this.#value(node.expression)})`;
    if (ts.isNumericLiteral(node)) return String(Number(node.text));
    if (ts.isIdentifier(node)) return this.#word(node.text);
    if (ts.isPropertyAccessExpression(node)) {
      return `${this.#value(node.expression)}.${node.name.text}`;
    }
    if (ts.isCallExpression(node)) return this.#call(node);
    if (ts.isConditionalExpression(node)) {
      const [is, then, otherwise] = [node.condition, node.whenTrue, node.whenFalse].map((one) =>
        this.#value(one),
      );
      return `(${is} and ${then} or ${otherwise})`;
    }
    const sign = ts.isBinaryExpression(node) ? OPERATORS.get(node.operatorToken.kind) : undefined;
    if (!ts.isBinaryExpression(node) || sign === undefined) return refuse(node);
    return `${this.#value(node.left)} ${sign} ${this.#value(node.right)}`;
  }

  #word(word: string): string {
    const number = this.#constants[word];
    return number === undefined ? (RENAMED.get(word) ?? word) : String(number);
  }

  #call(node: ts.CallExpression): string {
    const name = node.expression.getText();
    const list = node.arguments.map((one) => this.#value(one)).join(', ');
    if (/^Math\.(?:max|min|floor|ceil)$/.test(name)) return `${name.replace('M', 'm')}(${list})`;
    return this.#functions.has(name) ? `${this.#table}.${name}(${list})` : refuse(node);
  }
}

function nameOf(node: ts.BindingName): string {
  if (!ts.isIdentifier(node)) return refuse(node);
  return RENAMED.get(node.text) ?? node.text;
}

function refuse(node: ts.Node): never {
  throw new Error(`no rule for scripts: ${node.getText()}`);
}
