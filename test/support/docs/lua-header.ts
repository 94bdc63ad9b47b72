/** What a Lua script says about itself in its header, and what its code really uses. */
import { type LuaNode, parseLua } from '../../../scripts/lua/names.ts';

export interface LuaHeader {
  /** The first line. */
  readonly purpose: string;
  /** Number -> name, of `-- KEYS[1]  clock …` and `-- ARGV[1]  name …`. */
  readonly keys: ReadonlyMap<number, string>;
  readonly args: ReadonlyMap<number, string>;
  /** `-- ARGV[3..]  name …`: as many as there are. */
  readonly more: boolean;
  readonly returns: boolean;
  readonly cost: boolean;
}

export interface LuaUse {
  readonly keys: ReadonlySet<number>;
  readonly args: ReadonlySet<number>;
  /** It counts through ARGV, or takes all of it. */
  readonly anyArgs: boolean;
  /** `local a, b = ARGV[1], ARGV[2]`: `ARGV[1]` -> `a`. */
  readonly names: ReadonlyMap<string, string>;
  /** Key families: the `user` of `keys.user(…)` in code that the script can reach. */
  readonly families: ReadonlySet<string>;
}

/** The comment lines at the top of a file. */
export function headerOf(source: string): LuaHeader {
  const lines = source.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  const header = lines.slice(0, end === -1 ? lines.length : end);
  const text = header.join('\n');
  return {
    purpose: header[0] ?? '',
    keys: numbered(text, 'KEYS'),
    args: numbered(text, 'ARGV'),
    more: /^-- {0,3}ARGV\[\d+\.\.(\d+|n|)\]/m.test(text),
    returns: /^-- Returns {2}\S/m.test(text),
    cost: /^-- Cost {2,}O\(/m.test(text),
  };
}

/** What a verb uses; functions of the library count when something reaches them. */
export function useOf(verb: string, library = ''): LuaUse {
  const [own, shared] = [split(verb), split(library)];
  const body = own.body + shared.body;
  const live = reachable(new Map([...shared.functions, ...own.functions]), body);
  return {
    keys: indexes(live, 'KEYS'),
    args: indexes(live, 'ARGV'),
    anyArgs: /\bARGV\b(?!\[\s*\d+\s*\])/.test(live),
    names: localNames(own.body),
    families: new Set(
      [...live.matchAll(/(?<!function\s+)\b(?:keys?|K)[.:](\w+)\s*\(/g)].map(
        ([, name = '']) => name,
      ),
    ),
  };
}

function numbered(text: string, table: string): ReadonlyMap<number, string> {
  const pattern = new RegExp(`^-- ${table}\\[(\\d+)(?:\\.\\.\\w*)?\\]\\s+([A-Za-z_]\\w*)`, 'gm');
  return new Map([...text.matchAll(pattern)].map(([, at, name = '']) => [Number(at), name]));
}

function indexes(code: string, table: string): ReadonlySet<number> {
  const found = code.matchAll(new RegExp(`\\b${table}\\[\\s*(\\d+)\\s*\\]`, 'g'));
  return new Set([...found].map(([, at]) => Number(at)));
}

function localNames(body: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [, left = '', right = ''] of body.matchAll(/^local ([\w, ]+?) = (.+)$/gm)) {
    const locals = left.split(/\s*,\s*/);
    const values = right.match(/\b(?:KEYS|ARGV)\[\d+\]/g) ?? [];
    if (locals.length !== values.length) continue;
    values.forEach((value, at) => {
      if (!names.has(value)) names.set(value, locals[at] ?? '');
    });
  }
  return names;
}

/** Functions at the top of a text, and all other code there. */
function split(text: string): { functions: ReadonlyMap<string, string>; body: string } {
  const code = text.replaceAll(/--[^\n]*/g, '');
  const functions = new Map<string, string>();
  const body: string[] = [];
  for (const node of parseLua(code).body) {
    const part = code.slice(...(node as LuaNode).range);
    const name = node.type === 'FunctionDeclaration' && /^[\w ]*?([\w.]+)\(/.exec(part)?.[1];
    if (name) functions.set(name, part);
    else body.push(`${part}\n`);
  }
  return { functions, body: body.join('') };
}

/** The body with every function that it names, and those that these name, and so on. */
function reachable(functions: ReadonlyMap<string, string>, body: string): string {
  const live = new Set<string>();
  let text = body;
  for (let grew = true; grew; ) {
    grew = false;
    for (const [name, source] of functions) {
      if (live.has(name) || !new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(text))
        continue;
      live.add(name);
      text += `\n${source}`;
      grew = true;
    }
  }
  return text;
}
