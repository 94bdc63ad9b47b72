/** Puts what scripts name into the places that name it: limits, constants, and the names of keys. */

/**
 * The script with `LIMIT.name` replaced by its value, so that no run builds the table of them.
 * Throws when a name is not in the constants.
 */
export function inlineLimits(text: string): string {
  const block = /^local LIMIT = \{\n([\s\S]*?)^\}\n/m.exec(text);
  if (block === null) return text;
  const values = new Map(
    [...(block[1] ?? '').matchAll(/^\s*(\w+) = (.+),$/gm)].map(([, name, value]) => [name, value]),
  );
  return text.replace(block[0], '').replaceAll(/\bLIMIT\.(\w+)/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`there is no limit "${name}" for scripts`);
    return value;
  });
}

/** `local NAME = <number or text>` at the top of a file is put where the name is used. */
export function inlineConstants(text: string): string {
  const values = new Map<string, string>();
  const kept = text.split('\n').filter((line) => {
    const found =
      /^local ([A-Z][A-Z_]*(?:, [A-Z][A-Z_]*)*) = ([\w.'<]+(?:, [\w.'<]+)*)(?: --.*)?$/.exec(line);
    if (found === null) return true;
    const names = (found[1] ?? '').split(', ');
    const literals = (found[2] ?? '').split(', ');
    if (literals.length !== names.length) return true;
    if (!literals.every((value) => /^(?:\d[\w.]*|'[^']*')$/.test(value))) return true;
    names.forEach((name, at) => {
      const value = literals[at] ?? '';
      if (values.has(name) && values.get(name) !== value) {
        throw new Error(`two constants of one script are named ${name}`);
      }
      values.set(name, value);
    });
    return false;
  });
  return kept
    .map((line) => {
      if (line.trimStart().startsWith('--')) return line;
      return line.replaceAll(
        /(?<![\w.'])[A-Z][A-Z_]*\b(?!['\w])/g,
        (name) => values.get(name) ?? name,
      );
    })
    .join('\n');
}

/** A function that names keys (scripts/lua/layout.ts): nothing but an expression of its parameters. */
const KEY = /^function ((?:K|May|Rate|Turn)\.\w+)\(([^)]*)\)\s+return ([^\n]+?)\s+end$/gm;

const CALL = /\b((?:K|May|Rate|Turn)\.\w+)\(/;

/** The script with calls of key functions replaced by what they return, so that no run makes them. */
export function inlineKeys(text: string): string {
  const keys = new Map(
    [...text.matchAll(KEY)].map(([, name = '', params = '', body = '']) => [
      name,
      { params: params.split(',').map((param) => param.trim()), body },
    ]),
  );
  // What a call comes to may hold others, but is short: the script itself is gone through once.
  const inlined = (code: string): string => {
    const parts: string[] = [];
    const calls = new RegExp(CALL, 'g');
    let from = 0;
    for (let call = calls.exec(code); call !== null; call = calls.exec(code)) {
      const key = keys.get(call[1] ?? '');
      if (key === undefined) throw new Error(`the layout has no ${call[1]}`);
      const { args, end } = argumentsAt(code, call.index + call[0].length);
      const given = new Map(key.params.map((param, at) => [param, args[at] ?? 'nil']));
      refuseTwice(call[1] ?? '', key, given);
      const value = outsideTexts(key.body, (part) =>
        part.replaceAll(/\b[a-z]\w*\b/g, (word) => given.get(word) ?? word),
      );
      parts.push(code.slice(from, call.index), inlined(`(${value})`));
      from = end;
      calls.lastIndex = end;
    }
    return [...parts, code.slice(from)].join('');
  };
  return inlined(text.replaceAll(KEY, ''));
}

/** What is more than a name would be worked out as often as it is named. */
function refuseTwice(
  name: string,
  { params, body }: { readonly params: readonly string[]; readonly body: string },
  given: ReadonlyMap<string, string>,
): void {
  for (const param of params) {
    const uses = body.replaceAll(/'[^']*'/g, '').match(new RegExp(`\\b${param}\\b`, 'g'));
    const arg = given.get(param) ?? '';
    if ((uses?.length ?? 0) > 1 && /\w\(|\.\./.test(arg)) {
      throw new Error(`${name} names "${param}" twice, and is given ${arg}`);
    }
  }
}

/** The arguments of a call from behind its bracket on, each in brackets unless it is plain. */
function argumentsAt(code: string, from: number): { args: readonly string[]; end: number } {
  const args: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < code.length; at++) {
    const letter = code[at] ?? '';
    if (letter === "'") at = code.indexOf("'", at + 1);
    else if ('([{'.includes(letter)) depth++;
    else if (depth > 0 && ')]}'.includes(letter)) depth--;
    else if (depth === 0 && (letter === ',' || letter === ')')) {
      const arg = code.slice(start, at).trim();
      args.push(/^[\w.]*$|^'[^']*'$/.test(arg) ? arg : `(${arg})`);
      start = at + 1;
      if (letter === ')') return { args, end: at + 1 };
    }
  }
  throw new Error(`a call has no end: ${code.slice(from, from + 40)}`);
}

/** Applies a change to what stands outside of single-quoted texts. */
function outsideTexts(code: string, change: (part: string) => string): string {
  return code.replaceAll(/'[^']*'|[^']+/g, (part) => (part.startsWith("'") ? part : change(part)));
}

/** Library functions that scripts call often, and the local that each is kept in. */
export const LOCALS: ReadonlyMap<string, string> = new Map([
  ['redis.call', 'redisCall'],
  ['string.sub', 'stringSub'],
  ['string.find', 'stringFind'],
  ['string.byte', 'stringByte'],
  ['struct.pack', 'structPack'],
  ['struct.unpack', 'structUnpack'],
  ['string.format', 'stringFormat'],
]);

/**
 * The script with these functions in locals: a name of the global table costs two look-ups per
 * call. The one call that reads the clock stays as it is, since tests replace it.
 */
export function localizeLua(text: string): string {
  let code = text;
  const names: string[] = [];
  const values: string[] = [];
  for (const [value, name] of LOCALS) {
    const call = new RegExp(`(?<![\\w.])${value.replace('.', '\\.')}(?=\\((?!'TIME'))`, 'g');
    if ((code.match(call)?.length ?? 0) < 2) continue;
    code = code.replaceAll(call, name);
    names.push(name);
    values.push(value);
  }
  return names.length === 0 ? code : `local ${names.join(', ')} = ${values.join(', ')}\n${code}`;
}
