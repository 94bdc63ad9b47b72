/** What the compiler's own parser can count of the style in CONTRIBUTING.md: one parse of all of src. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesBelow, read } from '../support/files.ts';

/** Casts for each 1,000 lines. */
const MAX_CASTS = 2;

const SOURCES: ReadonlyMap<string, ts.SourceFile> = new Map(
  filesBelow('src', /(?<!\.generated)\.ts$/).map((path) => [
    path,
    ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true),
  ]),
);

type Declaration =
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.ClassDeclaration
  | ts.FunctionDeclaration;

/** Where a node stands and how it begins, as `path:line: text`. */
function spot(node: ts.Node): string {
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${source.fileName}:${line + 1}: ${node.getText().replaceAll(/\s+/g, ' ').slice(0, 100)}`;
}

/** All nodes below one for which the test holds; `into` says which nodes are looked into. */
function below<N extends ts.Node>(
  root: ts.Node,
  is: (node: ts.Node) => node is N,
  into: (node: ts.Node) => boolean = () => true,
): readonly N[] {
  const found: N[] = [];
  const visit = (node: ts.Node): void => {
    if (is(node)) found.push(node);
    if (into(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(root, visit);
  return found;
}

function inAll<N extends ts.Node>(is: (node: ts.Node) => node is N): readonly N[] {
  return [...SOURCES.values()].flatMap((source) => below(source, is));
}

function isCast(node: ts.Node): node is ts.AsExpression | ts.TypeAssertion {
  if (ts.isTypeAssertionExpression(node)) return true;
  return ts.isAsExpression(node) && node.type.getText() !== 'const';
}

/** An error of the language itself is made, whose class says nothing about what happened. */
function isRawError(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  const raw = /^(Error|TypeError|RangeError|SyntaxError|EvalError|URIError|AggregateError)$/;
  return (
    (ts.isNewExpression(node) || ts.isCallExpression(node)) && raw.test(node.expression.getText())
  );
}

/** Built-in functions that have no effect but what they return or throw. */
const PURE =
  /^(globalThis\.)?((de|en)codeURI(Component)?|JSON\.(parse|stringify)|URL(\.(can)?[pP]arse)?|RegExp|BigInt(\.\w+)?|Number|String|Date(\.parse)?|Intl\.\w+|structuredClone|atob|btoa|TextDecoder)$/;

/** A statement that calls such a function for what it throws alone: a bundler may drop it. */
function isUnusedCheck(node: ts.Node): node is ts.ExpressionStatement {
  return ts.isExpressionStatement(node) && lastOf(node.expression).some(isPureCall);
}

function isPureCall(node: ts.Expression): boolean {
  return (
    (ts.isCallExpression(node) || ts.isNewExpression(node)) && PURE.test(node.expression.getText())
  );
}

/** The expressions whose value a statement throws away. */
function lastOf(node: ts.Expression): readonly ts.Expression[] {
  if (ts.isVoidExpression(node) || ts.isParenthesizedExpression(node))
    return lastOf(node.expression);
  if (ts.isPropertyAccessExpression(node)) return lastOf(node.expression);
  if (ts.isConditionalExpression(node))
    return [...lastOf(node.whenTrue), ...lastOf(node.whenFalse)];
  if (!ts.isBinaryExpression(node)) return [node];
  const { kind } = node.operatorToken;
  const { CommaToken, FirstAssignment, LastAssignment } = ts.SyntaxKind;
  if (kind >= FirstAssignment && kind <= LastAssignment) return [node];
  return [...(kind === CommaToken ? lastOf(node.left) : []), ...lastOf(node.right)];
}

/** Of a text of statements, those that are such checks. */
function unusedChecks(text: string): readonly string[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  return below(source, isUnusedCheck).map((node) => node.getText());
}

function isDeclaration(node: ts.Node): node is Declaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node)
  );
}

function declarationsOf(path: string): readonly Declaration[] {
  return [...(SOURCES.get(path)?.statements ?? [])].filter(isDeclaration);
}

function isExported(node: ts.Node): boolean {
  if (!ts.canHaveModifiers(node)) return false;
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

/** The declarations of what a file exports by these names, or by any; also where it only hands them on. */
function exportsOf(path: string, names?: ReadonlySet<string>): readonly Declaration[] {
  const own = declarationsOf(path).filter(
    (node) => isExported(node) && names?.has(node.name?.text ?? '') !== false,
  );
  const handedOn = (SOURCES.get(path)?.statements ?? []).flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return [];
    if (!ts.isNamedExports(statement.exportClause)) return [];
    const wanted = statement.exportClause.elements
      .filter(({ name }) => names?.has(name.text) !== false)
      .map(({ name, propertyName }) => (propertyName ?? name).text);
    const from = statement.moduleSpecifier;
    if (from === undefined || !ts.isStringLiteral(from) || wanted.length === 0) return [];
    return exportsOf(new URL(from.text, `file:///${path}`).pathname.slice(1), new Set(wanted));
  });
  return [...own, ...handedOn];
}

/** What is held to say what its members mean: the rules and the port, and all that users can import. */
function publicDeclarations(): ReadonlySet<Declaration> {
  const paths = [...SOURCES.keys()];
  const domain = paths.filter((path) => path.startsWith('src/domain/'));
  return new Set([
    ...domain.flatMap((path) =>
      declarationsOf(path).filter(
        (node) =>
          isExported(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
      ),
    ),
    ...paths.filter((path) => /^src\/[^/]+\.ts$/.test(path)).flatMap((path) => exportsOf(path)),
  ]);
}

function isMember(node: ts.Node): node is ts.PropertySignature | ts.MethodSignature {
  return ts.isPropertySignature(node) || ts.isMethodSignature(node);
}

/**
 * Not looked into: bodies; what cannot be named outside; and types that hold type parameters under a symbol,
 * or only say which types are meant (`Extract<…>`, the condition of a conditional type).
 */
function isSeen(node: ts.Node): boolean {
  if (ts.isBlock(node) || ts.isConstructorDeclaration(node)) return false;
  if (ts.isClassElement(node) && node.name?.kind === ts.SyntaxKind.PrivateIdentifier) return false;
  if (ts.isPropertySignature(node) && ts.isComputedPropertyName(node.name)) return false;
  if (ts.isTypeReferenceNode(node) && /^(Extract|Exclude)$/.test(node.typeName.getText()))
    return false;
  return !(ts.isConditionalTypeNode(node.parent) && node.parent.extendsType === node);
}

/** Whether the type says all: it is one value, by which a variant is told, or it keeps a field out. */
function saysItself({ type, questionToken }: ts.PropertySignature): boolean {
  if (type?.kind === ts.SyntaxKind.UndefinedKeyword) return true;
  return questionToken === undefined && type !== undefined && ts.isLiteralTypeNode(type);
}

function isDocumented(node: ts.Node, from: number = node.getFullStart()): boolean {
  const { text } = node.getSourceFile();
  const comments = ts.getLeadingCommentRanges(text, from) ?? [];
  return comments.some(({ pos }) => text.startsWith('/**', pos));
}

/**
 * Exports without a docstring. One may stand over several statements of one kind, with no empty line between;
 * and the signatures of a function stand for what is behind them.
 */
function bareExports({ statements, text }: ts.SourceFile): readonly ts.Node[] {
  let documented: ts.Statement | undefined;
  return statements.filter((statement) => {
    if (!isExported(statement)) return false;
    const isNext =
      documented?.end === statement.pos &&
      documented.kind === statement.kind &&
      /^\n\S/.test(text.slice(statement.pos));
    const isSaid = isNext || isDocumented(statement);
    if (isSaid) documented = statement;
    return !isSaid && !isBehindSignatures(statement, statements);
  });
}

function isBehindSignatures(node: ts.Statement, among: readonly ts.Statement[]): boolean {
  if (!ts.isFunctionDeclaration(node) || node.body === undefined) return false;
  return among.some(
    (one) => ts.isFunctionDeclaration(one) && one !== node && one.name?.text === node.name?.text,
  );
}

/** A variant of a union with a comment of its own and one member beside its tag: the comment is about that. */
function isSaidByVariant(member: ts.PropertySignature | ts.MethodSignature): boolean {
  const variant = member.parent;
  const union = variant.parent;
  if (!ts.isUnionTypeNode(union) || !ts.isTypeLiteralNode(variant)) return false;
  // The comment stands before the bar, so behind the variant before.
  const before = union.types[union.types.indexOf(variant) - 1]?.end ?? union.getFullStart();
  if (!isDocumented(variant, before)) return false;
  return variant.members.every(
    (one) => one === member || (ts.isPropertySignature(one) && saysItself(one)),
  );
}

/** A member of what a function or a method takes or gives: its docstring may name it, and say it all. */
function isSaidByCall(member: ts.PropertySignature | ts.MethodSignature): boolean {
  const call = ts.findAncestor(member.parent, ts.isFunctionLike);
  if (call === undefined) return false;
  const docs = ts.getJSDocCommentsAndTags(call).map((doc) => doc.getText());
  return docs.some((text) => text.includes(`\`${member.name.getText()}\``));
}

describe('src', () => {
  it(`has at most ${MAX_CASTS} casts for each 1,000 lines`, () => {
    const lines = [...SOURCES.values()].reduce(
      (sum, { text }) => sum + text.trimEnd().split('\n').length,
      0,
    );
    const casts = inAll(isCast);
    expect(casts.length, casts.map(spot).join('\n')).toBeLessThanOrEqual(
      (MAX_CASTS * lines) / 1_000,
    );
  });

  it('throws errors of the catalogue', () => {
    const found = inAll(isRawError).map(spot);
    expect(found.filter((at) => !/^src\/(base\/|conformance\/)/.test(at))).toEqual([]);
  });

  it('uses the answer of each check by a built-in function', () => {
    const pages = filesBelow('dashboard/src', /\.tsx?$/).map((path) =>
      ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true),
    );
    const found = [...SOURCES.values(), ...pages].flatMap((source) => below(source, isUnusedCheck));
    expect(found.map(spot)).toEqual([]);
    const checks = [
      ...['decodeURIComponent(x);', 'void decodeURI(x);', 'JSON.parse(x);', 'new URL(x);'],
      ...['new RegExp(x);', 'BigInt(x);', 'new Intl.Locale(x);', 'structuredClone(x);'],
      ...['x && atob(x);', 'x ? encodeURI(x) : new URL(x).href;', '(f(), String(x));'],
    ];
    expect(unusedChecks(checks.join('\n'))).toEqual(checks);
    const uses = [
      'f(JSON.parse(x));',
      'y = new URL(x);',
      'y += Number(x);',
      'if (URL.canParse(x)) f();',
      'f(x);',
    ];
    expect(unusedChecks(uses.join('\n'))).toEqual([]);
  });

  it('says of each export what it is for', () => {
    expect([...SOURCES.values()].flatMap(bareExports).map(spot)).toEqual([]);
  });

  it('says of each member of the port, the domain and the public types what it means', () => {
    const bare = [...publicDeclarations()]
      .flatMap((declaration) => below(declaration, isMember, isSeen))
      .filter((member) => !(ts.isPropertySignature(member) && saysItself(member)))
      .filter((member) => !isDocumented(member) && !isSaidByVariant(member))
      .filter((member) => !isSaidByCall(member));
    expect(bare.map(spot)).toEqual([]);
  });
});
