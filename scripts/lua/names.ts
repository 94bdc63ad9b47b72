/**
 * Inserts constants of src/domain/ into Lua: `CODE.finished`, `LIMIT.sweepStep`, `FIELD.user.shares` become numbers and
 * texts, and long names inside packed values the short ones, as `t.optional.waitUntil`.
 */
import luaparse, { type Node, type Options } from 'luaparse';

export interface LuaNames {
  /** A path, as `FIELD.user.shares`, and its replacement. */
  readonly constants: ReadonlyMap<string, string>;
  /** Long name of a field → short name. */
  readonly members: ReadonlyMap<string, string>;
}

export type LuaNode = Node & { readonly range: readonly [from: number, to: number] };

/** A text as a tree whose nodes have their positions. */
export function parseLua(text: string, options: Partial<Options> = {}) {
  const all = { ranges: true, luaVersion: '5.1', encodingMode: 'none', ...options } as const;
  return luaparse.parse(text, { ...all, wait: false });
}

/** The text with all names replaced; throws, with the file, when a path is not in the tables. */
export function putNames(file: string, text: string, { constants, members }: LuaNames): string {
  const roots = new Set([...constants.keys()].map((path) => path.split('.', 1)[0]));
  const found = new Map<number, readonly [to: number, put: string | undefined]>();
  const shorten = (name: Node): void => {
    const [from, to] = (name as LuaNode).range;
    const short = members.get(text.slice(from, to));
    if (short !== undefined) found.set(from, [to, short]);
  };
  const onCreateNode = (node: Node): void => {
    if (node.type === 'TableKeyString') shorten(node.key);
    if (node.type !== 'MemberExpression') return;
    const [from, to] = (node as LuaNode).range;
    const path = text.slice(from, to);
    // The prefixes of a path come before it.
    if (roots.has(path.split('.', 1)[0])) found.set(from, [to, constants.get(path)]);
    else shorten(node.identifier);
  };
  try {
    parseLua(text, { onCreateNode });
  } catch (error) {
    throw new Error(`${file}: ${error}`);
  }
  const parts: string[] = [];
  let at = 0;
  for (const [from, [to, put]] of [...found].sort(([one], [other]) => one - other)) {
    if (put === undefined) throw new Error(`${file}: the layout has no ${text.slice(from, to)}`);
    parts.push(text.slice(at, from), put);
    at = to;
  }
  return [...parts, text.slice(at)].join('');
}
