/**
 * What Redis gets of a script is short: Lua looks through every script that it knows again and again.
 * Whole names are in the expanded files.
 */
import { changed, isDeclared, isField, nameIn, parseLua, places } from './tree.ts';

const KEYWORDS: ReadonlySet<string> = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);

/** What Redis gives to every script. */
const GIVEN: ReadonlySet<string> = new Set(
  'redis KEYS ARGV F string table math cjson cmsgpack struct error getmetatable setmetatable rawget rawset next pairs ipairs pcall select tonumber tostring type unpack'.split(
    ' ',
  ),
);

/** The script with locals and functions of `F` named by a letter or two, and without blanks around operators. */
export function shortenLua(text: string): string {
  return withoutBlanks(withShortFunctions(withShortLocals(text)));
}

/** Each name that is a local wherever it stands, by another: those that stand most often get the shortest. */
function withShortLocals(text: string): string {
  const words = places(parseLua(text)).filter(
    (one) => one.node.type === 'Identifier' && !isField(one),
  );
  const globals = new Set(
    words.flatMap((one) => (isDeclared(one) || one.locals.has(nameIn(one)) ? [] : [nameIn(one)])),
  );
  const unknown = [...globals].filter((name) => !GIVEN.has(name));
  if (unknown.length > 0)
    throw new Error(`a script names what nothing declares: ${unknown.join(', ')}`);
  const counts = new Map<string, number>();
  for (const one of words) counts.set(nameIn(one), (counts.get(nameIn(one)) ?? 0) + 1);
  const ordered = [...counts.keys()]
    .filter((name) => !globals.has(name) && !GIVEN.has(name))
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const taken = new Set([...KEYWORDS, ...globals, ...GIVEN]);
  const short = new Map<string, string>();
  let at = 0;
  for (const name of ordered) {
    while (taken.has(shortName(at, 'a'))) at++;
    short.set(name, shortName(at, 'a'));
    at++;
  }
  const changes = words.flatMap((one) => {
    const put = short.get(nameIn(one));
    return put === undefined ? [] : [{ from: one.node.range[0], to: one.node.range[1], text: put }];
  });
  return changed(text, changes);
}

/** What stands behind two underscores, the group that the function is made with, stays. */
function withShortFunctions(text: string): string {
  const names = new Map<string, string>();
  return text.replaceAll(
    /\bF\.([A-Za-z_]\w*?)((?:__\d+)?)\b(?!\w)/g,
    (_, name: string, block: string) => {
      const short = names.get(name + block) ?? shortName(names.size, 'A');
      names.set(name + block, short);
      return `F.${short}${block}`;
    },
  );
}

/** Texts are in single quotes, without any inside. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/'[^']*'|[^']+/g, (part) => {
    if (part.startsWith("'") && !part.endsWith("\\'")) return part;
    if (/["']/.test(part)) throw new Error(`not a text in single quotes: ${part}`);
    return part.replaceAll(/ *([,=<>~+*/{}()]) */g, '$1');
  });
}

/** The letter and those behind it, then two letters, and so on. */
function shortName(at: number, first: string): string {
  const letter = String.fromCodePoint((first.codePointAt(0) ?? 0) + (at % 26));
  return at < 26 ? letter : `${shortName(Math.floor(at / 26) - 1, first)}${letter}`;
}
