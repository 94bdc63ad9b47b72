/**
 * All verbs as one text whose functions are made once: Redis keeps it as a library (`FUNCTION LOAD`), and a
 * server without functions runs it as a script. Each verb is a function, whose body is its file. A top-level
 * name of a file of lib/ is a function, or
 *
 * - made once, if its name is `F`, `K`, or longer and begins with a capital, as `INF` and `Step`;
 * - else a value of the step: set at the start of each call if it is in lib/base/, in the other folders by `F.readAll`.
 */
import type { Chunk, Identifier } from 'luaparse';
import { type LuaNode, parseLua } from './names.ts';

export interface LuaFile {
  /** The path of a file of lib/; the name of a verb. */
  readonly name: string;
  readonly text: string;
}

const MADE = 'made of src/domain/';

const ONCE = /^(?:[FK]|[A-Z]\w+)$/;

/** Globals of Lua and Redis for scripts. Functions of each table are kept in locals, as `string.sub` in `stringSub`. */
const BASE = 'error, ipairs, next, pairs, pcall, select, tonumber, tostring, type, unpack';
const TABLES = ['redis', 'cjson', 'cmsgpack', 'math', 'string', 'struct', 'table'];
const KEPT = new RegExp(
  `(?<![\\w.'])(?:redis\\.p?call|(?:${TABLES.slice(1).join('|')})\\.\\w+)\\b`,
  'g',
);

/** A function that is only an expression; a call with names and texts. */
const EXPRESSION = /^function (\w+\.\w+)\(([\w, ]*)\) return (.+) end$/gm;
const CALL = /(?<!function )\b(\w+\.\w+)\(((?:[\w.[\]]|'[^'\n]*'|, (?!\)))*)\)/g;

/**
 * A text that returns a function, `run` of lib/base/run.lua. Throws at an undeclared name, and at functions of one name.
 *
 * @param made - functions that are made from src/domain/.
 */
export function compileLibrary(
  made: string,
  lib: readonly LuaFile[],
  verbs: readonly LuaFile[],
): string {
  const { once, functions, begin, beginAll, names } = sorted([{ name: MADE, text: made }, ...lib]);
  const all = [
    ...once,
    `local ${names.join(', ')}`,
    ...functions,
    ...verbs.flatMap(({ name, text }) => ['', `function V.${name}()`, text.trim(), 'end']),
    ...['', 'function begin()', ...begin, 'end'],
    ...['', 'function F.beginAll()', ...beginAll, 'end'],
    'return run',
  ];
  const { text, kept } = withKept(inlined(all.join('\n'), made));
  const library = [
    `local ${BASE} = ${BASE}`,
    `local ${[...kept.keys()].join(', ')} = ${[...kept.values()].join(', ')}`,
    // Names that `run` sets, beside the verbs.
    'local V, begin, KEYS, ARGV, redisCall, redisPcall, guard = {}',
    text,
    '',
  ].join('\n');
  refuseMistakes(library);
  return library;
}

/** Top-level statements of files, each with the comment above it. */
function sorted(files: readonly LuaFile[]) {
  const once: string[] = [];
  const functions: string[] = [];
  const begin: string[] = [];
  const beginAll: string[] = [];
  const names: string[] = [];
  const all = new Set<string>();
  for (const { name, text } of files) {
    functions.push('', `-- >>> ${name}`);
    const step = name.startsWith('lib/base/') ? begin : beginAll;
    let at = 0;
    for (const node of parseLua(text).body) {
      const [from, to] = (node as LuaNode).range;
      const comment = text.slice(at, from).trimStart();
      const code = text.slice(from, to);
      const declared = node.type === 'LocalStatement' ? node.variables.map((one) => one.name) : [];
      const isOnce = ONCE.test(declared[0] ?? '');
      for (const one of declared) {
        if (all.has(one)) throw new Error(`two files declare ${one}`);
        all.add(one);
      }
      if (node.type === 'FunctionDeclaration') functions.push(comment + code);
      else if (isOnce) once.push(comment + code);
      else {
        const isEmpty = node.type === 'LocalStatement' && node.init.length === 0;
        step.push(comment + code.replace(/^local /, '') + (isEmpty ? ' = nil' : ''));
      }
      if (!isOnce) names.push(...declared);
      at = to;
    }
  }
  return { once, functions, begin, beginAll, names };
}

/** Functions of one expression, such as those that name keys, are inlined where their arguments are known. */
function inlined(text: string, made: string): string {
  const expressions = new Map(
    [...made.matchAll(EXPRESSION)].map(([, name = '', list = '', value = '']) => [
      name,
      { parameters: list.split(', '), value },
    ]),
  );
  return text.replaceAll(CALL, (call: string, name: string, list: string) => {
    const found = expressions.get(name);
    if (found === undefined) return call;
    const args = list.split(', ');
    const given = new Map(found.parameters.map((one, at) => [one, args[at] ?? 'nil']));
    return `(${found.value.replaceAll(/'[^']*'|(?<![\w.])\w+/g, (word) => given.get(word) ?? word)})`;
  });
}

function withKept(text: string) {
  const kept = new Map<string, string>();
  const put = text.replaceAll(KEPT, (path) => {
    const local = path.replace(/\.\w/, (letters) => letters.slice(1).toUpperCase());
    if (!path.startsWith('redis')) kept.set(local, path);
    return local;
  });
  return { text: put, kept };
}

/** Undeclared names, and functions of one name. */
function refuseMistakes(text: string): void {
  const { globals } = parseLua(text, { scope: true }) as Chunk & {
    readonly globals: readonly Identifier[];
  };
  const known = new Set([...BASE.split(', '), ...TABLES]);
  const unknown = globals.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`nothing declares ${unknown.join(', ')}`);
  const functions = [...text.matchAll(/^function ([\w.]+)/gm)].map(([, name]) => name);
  const twins = functions.filter((name, at) => functions.indexOf(name) !== at);
  if (twins.length > 0) throw new Error(`two functions are named ${twins.join(', ')}`);
}

/** The text line by line, without comments and trailing blanks. */
export function stripLua(text: string): string {
  const { comments = [] } = parseLua(text, { comments: true });
  const ranges = comments.map((one) => (one as unknown as LuaNode).range);
  const code = ranges.reduceRight((left, [from, to]) => left.slice(0, from) + left.slice(to), text);
  return code.replaceAll(/^ +| +$/gm, '');
}
