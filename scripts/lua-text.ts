/** The two text steps of the Lua bundler, free of files so that tests can hold them. */

const INCLUDE = /^\s*--\s*@include\s+(\S+)\s*$/;

/**
 * The script with every include line replaced by the file it names. A file comes once, where it is
 * first named; later mentions vanish. An unknown file throws what `read` throws.
 *
 * @param file - the verb's own path.
 * @param read - gives the text of a path, as written in an include line.
 */
export function expandLua(file: string, read: (path: string) => string): string {
  const included = new Set<string>([file]);
  const expand = (path: string): readonly string[] =>
    read(path)
      .trimEnd()
      .split('\n')
      .flatMap((line) => {
        const target = INCLUDE.exec(line)?.[1];
        if (target === undefined) return [line];
        if (included.has(target)) return [];
        included.add(target);
        return [`-- >>> ${target}`, ...expand(target), `-- <<< ${target}`];
      });
  return `${expand(file).join('\n')}\n`;
}

/**
 * The script without comment lines, blank lines and indentation. A line that begins inside a long
 * string or long comment is kept as it is, and a comment behind code stays: nothing here has to
 * understand what it removes.
 */
export function stripLua(text: string): string {
  const kept: string[] = [];
  let inside: string | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const comment = trimmed.startsWith('--') && !/^--\[=*\[/.test(trimmed);
    if (inside === undefined && (trimmed === '' || comment)) continue;
    kept.push(inside === undefined ? line.trimStart() : line);
    inside = openBracket(line, inside);
  }
  return `${kept.join('\n')}\n`;
}

/**
 * The script without blanks around operators, and with the functions of `F` named by one or two letters; what
 * stands behind two underscores, in which block of the script with all verbs the function is, stays. Texts are in
 * single quotes, without any inside.
 */
export function shortenLua(text: string): string {
  const code = text.replaceAll(/'[^']*'|[^']+/g, (part) => {
    if (part.startsWith("'") && !part.endsWith("\\'")) return part;
    if (/["']/.test(part)) throw new Error(`not a text in single quotes: ${part}`);
    return part.replaceAll(/ *([,=<>~+*/{}()]) */g, '$1');
  });
  return withShortNames(code);
}

function withShortNames(text: string): string {
  const names = new Map<string, string>();
  return text.replaceAll(
    /\bF\.([A-Za-z_]\w*?)((?:__\d+)?)\b(?!\w)/g,
    (_, name: string, block: string) => {
      const short = names.get(name + block) ?? shortName(names.size);
      names.set(name + block, short);
      return `F.${short}${block}`;
    },
  );
}

/** `A` to `Z`, then `AA`, `AB` and so on. */
function shortName(at: number): string {
  const letter = String.fromCodePoint(65 + (at % 26));
  return at < 26 ? letter : `${shortName(Math.floor(at / 26) - 1)}${letter}`;
}

/** The closing bracket that a line leaves open: `]]`, `]=]` and so on. */
function openBracket(line: string, inside: string | undefined): string | undefined {
  let open = inside;
  let at = 0;
  while (at < line.length) {
    if (open !== undefined) {
      const end = line.indexOf(open, at);
      if (end === -1) return open;
      at = end + open.length;
      open = undefined;
      continue;
    }
    const rest = line.slice(at);
    const long = /^(?:--)?\[(=*)\[/.exec(rest);
    const short = /^"(?:\\.|[^"\\])*"|^'(?:\\.|[^'\\])*'/.exec(rest);
    if (long !== null) open = `]${long[1]}]`;
    else if (rest.startsWith('--')) return undefined;
    at += long?.[0].length ?? short?.[0].length ?? 1;
  }
  return open;
}
