/**
 * Puts what src/domain/layout/ says into a Lua file: `CODE.finished`, `AT.lease.flags`, `FIELD.user.shares`
 * become numbers and texts, and long names inside of packed values the short ones, as `t.optional.waitUntil`.
 */
import { type Change, changed, type LuaNode, nodesIn, parseLua, textOf } from './tree.ts';

export interface LuaNames {
  /** A path, as `FIELD.user.shares`, and what is written in its place. */
  readonly constants: ReadonlyMap<string, string>;
  /** Long name of a field → short name. */
  readonly members: ReadonlyMap<string, string>;
}

/** The text with all names put in; throws, and tells the file, when a path is not in the tables. */
export function putNames(file: string, text: string, { constants, members }: LuaNames): string {
  const roots = new Set([...constants.keys()].map((path) => path.split('.', 1)[0]));
  const changes: Change[] = [];
  for (const node of nodesIn(parseLua(text))) {
    const [from, to] = node.range;
    const isInside = from < (changes.at(-1)?.to ?? 0);
    if (node.type === 'MemberExpression' && !isInside && roots.has(rootOf(node))) {
      const path = textOf(text, node);
      const put = constants.get(path);
      if (put === undefined) throw new Error(`${file}: the layout has no ${path}`);
      changes.push({ from, to, text: put });
    } else {
      for (const name of fieldsOf(node)) {
        const put = members.get(textOf(text, name));
        if (put !== undefined) changes.push({ from: name.range[0], to: name.range[1], text: put });
      }
    }
  }
  return folded(dotted(changed(text, changes)));
}

/** The name that a chain of fields begins with. */
function rootOf(node: LuaNode): string {
  if (node.type === 'MemberExpression') return rootOf(node.base as LuaNode);
  return node.type === 'Identifier' ? node.name : '';
}

/** Names of fields that stand in a node itself. */
function fieldsOf(node: LuaNode): readonly LuaNode[] {
  if (node.type === 'MemberExpression') return [node.identifier as LuaNode];
  return node.type === 'TableKeyString' ? [node.key as LuaNode] : [];
}

/** A field that is named by a text, as `classes['pw100']`, by its name. */
function dotted(text: string): string {
  return text.replaceAll(/(?<=[\w\])])\['([A-Za-z_]\w*)'\]/g, '.$1');
}

/** Two numbers in brackets, as `(21 - 1)`, as one. */
function folded(text: string): string {
  const put = text.replaceAll(
    /(?<![\w.\]'])\((\d+) ([*+-]) (\d+)\)/g,
    (_, a: string, sign: string, b: string) => {
      if (sign === '*') return String(Number(a) * Number(b));
      return String(sign === '+' ? Number(a) + Number(b) : Number(a) - Number(b));
    },
  );
  return put === text ? text : folded(put);
}
