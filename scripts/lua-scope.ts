/**
 * Finds what a short script names and has not got: locals of files that it does not take in, and
 * functions that it does not make. Such a name is a global that there is not, or no function, which
 * breaks the script in the middle of a step, and only for those who come that way.
 */

/** A function, or the lines outside of all. */
interface LuaPart {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Throws when one of the parts uses a local that only these lines, which are not in the script, declare. */
export function refuseUnseen(others: readonly string[], parts: readonly LuaPart[]): void {
  const unseen = new Set(others.flatMap(declaredAtTop));
  for (const { name, lines } of parts) {
    const code = bareLua(lines);
    const own = declaredIn(code);
    const used = [...namesOf(code)].filter((word) => unseen.has(word) && !own.has(word));
    if (used.length === 0) continue;
    throw new Error(
      `a short script has no ${used.join(', ')}, which ${name} uses: move the local to a file that every verb runs first`,
    );
  }
}

/**
 * Throws when one of the parts names a function that is not made, unless the line asks for `rich`
 * first, or the verb says in its header, in `-- @rich`, that the short script never calls it.
 */
export function refuseMissing(
  made: readonly LuaPart[],
  parts: readonly LuaPart[],
  rich: ReadonlySet<string>,
): void {
  const names = new Set(made.map(({ name }) => name));
  for (const { name, lines } of parts) {
    const asked = lines.filter((line) => !/(?<!not )\brich (?:then|and)\b/.test(line));
    const used = [...bareLua(asked).matchAll(/\bF\.\w+/g)].map(([found]) => found);
    const missing = used.filter((found) => !(names.has(found) || rich.has(found)));
    if (missing.length === 0) continue;
    throw new Error(
      `a short script has no ${missing.join(', ')}, which ${name} calls: name it in @hot or @often, or in @rich when that call is never reached`,
    );
  }
}

/** Names of a `local` in the first column. */
function declaredAtTop(line: string): readonly string[] {
  const found = /^local (?:function )?([A-Za-z_][\w, ]*)/.exec(line);
  return found === null ? [] : words(found[1] ?? '');
}

/** Locals, parameters and loop variables, wherever in the text they are declared. */
function declaredIn(code: string): ReadonlySet<string> {
  const lists = [
    ...code.matchAll(/\blocal (?:function )?([A-Za-z_][\w, ]*)/g),
    ...code.matchAll(/\bfunction\b[^(]*\(([\w, ]*)\)/g),
    ...code.matchAll(/\bfor ([\w, ]+?) (?:in\b|=)/g),
  ];
  return new Set(lists.flatMap(([, list = '']) => words(list)));
}

/** The text without comments and without what stands in quotes. */
function bareLua(lines: readonly string[]): string {
  return lines.map((line) => line.replaceAll(/'(?:[^'\\]|\\.)*'|--.*$/g, ' ')).join('\n');
}

/** Names that are read or written: not those behind a dot, and not the keys of tables. */
function namesOf(code: string): ReadonlySet<string> {
  const names = new Set<string>();
  let depth = 0;
  for (const { 0: token, index } of code.matchAll(/[{}]|[A-Za-z_]\w*/g)) {
    if (token === '{') depth++;
    else if (token === '}') depth--;
    else if (!isField(code, index, token, depth)) names.add(token);
  }
  return names;
}

function isField(code: string, index: number, token: string, depth: number): boolean {
  const before = code.slice(0, index).trimEnd();
  if (/[^.]\.$|:$/.test(before)) return true;
  return depth > 0 && /[{,;]$/.test(before) && /^\s*=(?!=)/.test(code.slice(index + token.length));
}

function words(list: string): readonly string[] {
  return list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
