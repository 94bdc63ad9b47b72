/** Parses a YAML file to a tree of values with positions; other features of YAML are refused. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { type ConfigOrigin, type Given, type GivenEntry, REFUSED } from './given.ts';
import { type Problems, shownText } from './problems.ts';
import { filled } from './variables.ts';

/** A file in memory. */
export interface SourceFile {
  /** Name of the file as given. */
  readonly name: string;
  readonly text: string;
}

/** Most nested brackets, or dashes on one line; the schema has five levels. */
const MOST_LEVELS = 20;

interface Reader {
  readonly file: SourceFile;
  readonly env: NodeJS.ProcessEnv;
  readonly problems: Problems;
  readonly lines: LineCounter;
}

/**
 * Parses the file; `undefined` when it is no mapping. Messages of the parser are not used: they
 * quote the file, which may contain secrets.
 */
export function givenOfYaml(
  file: SourceFile,
  env: NodeJS.ProcessEnv,
  problems: Problems,
): Given | undefined {
  const lines = new LineCounter();
  const reader: Reader = { file, env, problems, lines };
  const document = documentOf(file.text, lines);
  if (document === undefined) {
    problems.add({
      path: '',
      origin: originAt(reader, 0),
      expected: 'YAML',
      got: 'too many levels',
    });
    return undefined;
  }
  for (const { code, pos } of document.errors) {
    const [expected, got] = COMPLAINTS[code] ?? ['YAML', 'something else'];
    problems.add({ path: '', origin: originAt(reader, pos[0]), expected, got });
  }
  if (document.errors.length > 0) return undefined;
  const { contents } = document;
  if (isMap(contents)) return givenOf(contents, '', reader);
  const got = isEmpty(contents) ? 'an empty file' : isSeq(contents) ? 'a list' : 'a text';
  problems.add({ path: '', origin: originAt(reader, 0), expected: 'a mapping of options', got });
  return undefined;
}

/** Our messages for syntax errors. */
const COMPLAINTS: Readonly<Record<string, readonly [expected: string, got: string]>> = {
  ALIAS_PROPS: ['a value', 'an alias'],
  BAD_ALIAS: ['a value', 'an alias'],
  MULTIPLE_DOCS: ['one document', 'a second one'],
  MULTIPLE_ANCHORS: ['a value', 'anchors'],
  MULTIPLE_TAGS: ['a value without a tag', 'tags'],
  TAB_AS_INDENT: ['spaces', 'a tab'],
  BAD_INDENT: ['closed brackets and lines that are indented alike', 'others'],
  MISSING_CHAR: ['YAML', 'a quote, bracket or colon that is missing'],
  BAD_SCALAR_START: ['a text in quotes', 'a character that texts without quotes cannot begin with'],
  BLOCK_AS_IMPLICIT_KEY: ['a text in quotes', 'a colon in a text without quotes'],
  MULTILINE_IMPLICIT_KEY: ['a key on one line', 'one of several lines'],
};

function documentOf(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  if (isDeep(text)) return undefined;
  try {
    // Keys are compared below: the parser compares all pairs.
    const options = { lineCounter, prettyErrors: false, strict: true, uniqueKeys: false } as const;
    return parseDocument(text, { ...options, schema: 'core', version: '1.2', merge: false });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Whether there are more nested brackets, or dashes on one line, than a configuration can have. The
 * parser recurses for each; 20,000 of them crash the process.
 */
function isDeep(text: string): boolean {
  let open = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') open++;
    else if (token === ']' || token === '}') open--;
    else if (token === '-' || token === '?') onLine++;
    else if (token.startsWith('\n') || token.startsWith('\r')) onLine = 0;
    if (open > MOST_LEVELS || onLine > MOST_LEVELS) return true;
  }
  return false;
}

function originAt({ file, lines }: Reader, offset: number): ConfigOrigin {
  const { line, col } = lines.linePos(offset);
  return { from: 'file', file: file.name, line: Math.max(1, line), column: Math.max(1, col) };
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function givenOf(node: unknown, path: string, reader: Reader): Given {
  const origin = originAt(reader, isNode(node) ? (node.range?.[0] ?? 0) : 0);
  const complain = (expected: string, got: string): Given => {
    reader.problems.add({ path, origin, expected, got });
    return REFUSED;
  };
  if (isAlias(node)) return complain('a value', 'an alias');
  if (isMap(node) || isSeq(node) || isScalar(node)) {
    if (node.anchor !== undefined) return complain('a value without an anchor', 'an anchor');
    if (node.tag !== undefined) return complain('a value without a tag', 'a tag');
  }
  if (isMap(node)) return { kind: 'map', entries: entriesOf(node, path, reader), origin };
  if (isSeq(node)) {
    const items = node.items.map((item, at) => givenOf(item, `${path}[${at}]`, reader));
    return { kind: 'list', items, origin };
  }
  const value: unknown = isScalar(node) ? node.value : null;
  return typeof value === 'string'
    ? textOf(value, path, { reader, origin })
    : { kind: 'value', value, origin };
}

function entriesOf(map: YAMLMap, path: string, reader: Reader): ReadonlyMap<string, GivenEntry> {
  const entries = new Map<string, GivenEntry>();
  for (const { key, value } of map.items) {
    const origin = originAt(reader, (isNode(key) ? key : map).range?.[0] ?? 0);
    const name = isScalar(key) && key.anchor === undefined ? key.source : undefined;
    if (name === undefined) {
      const got = isScalar(key) ? 'an anchor' : 'another kind of key';
      reader.problems.add({ path, origin, expected: 'a text as a key', got });
      continue;
    }
    const below = path === '' ? name : `${path}.${name}`;
    if (entries.has(name)) {
      const got = 'the same key again';
      reader.problems.add({ path: below, origin, expected: 'each option once', got });
    }
    entries.set(name, { key: origin, given: givenOf(value, below, reader) });
  }
  return entries;
}

function textOf(
  written: string,
  path: string,
  { reader, origin }: { readonly reader: Reader; readonly origin: ConfigOrigin },
): Given {
  const { text, hadVariables, missing, isBroken } = filled(written, reader.env);
  for (const name of missing) {
    const hint = `\${${name}:-…} gives a default`;
    const expected = `the variable ${name} to be set`;
    reader.problems.add({ path, origin, expected, got: 'nothing', hint });
  }
  if (isBroken) {
    const hint = 'a plain ${ is written $${';
    reader.problems.add({
      path,
      origin,
      expected: `\${NAME} or \${NAME:-default}`,
      got: shownText(written),
      hint,
    });
  }
  if (missing.length > 0 || isBroken) return REFUSED;
  if (!hadVariables) return { kind: 'value', value: text, origin };
  return { kind: 'value', value: text, origin, isText: true, written };
}
