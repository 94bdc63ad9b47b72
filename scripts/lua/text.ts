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
