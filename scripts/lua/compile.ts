/**
 * What the bundler makes of an expanded script. Every run of a script makes all of its functions
 * anew, and Lua looks for each captured local among all that are captured, so this matters:
 *
 * - constants, and the names of keys, stand where they are used;
 * - functions that nothing calls are left out;
 * - by itself, a verb has functions inside of `library`, or, when only those marked `@rare` need
 *   them, inside of `more`, which runs when the first of them is called;
 * - all tables of functions are one: `Step.close` becomes `F.Step_close`.
 *
 * All verbs together are a library, whose functions are made once: library.ts. A verb that runs for every task is, beside
 * that, a short script of its own, which answers 'rich' for what it leaves to the function of its name. `rich` tells a function
 * in which of them it is. Its header names the files and functions of the short script: `-- @hot` those that every run needs,
 * which stand where they are called (flatten.ts), each line of `-- @often` those that are made together when the first of them
 * is called, `-- @rich` those that are called in the library only.
 */
import { flattenLua } from './flatten.ts';
import { inlineConstants, inlineKeys, inlineLimits } from './inline.ts';
import { refuseAbsent, refuseUnseen } from './scope.ts';

/** A top-level function of a table: it begins and ends in the first column. */
interface LuaFunction {
  readonly name: string;
  readonly file: string;
  readonly lines: readonly string[];
  readonly rare: boolean;
}

/** Lines outside of functions, and the file that they come from; '' is the verb itself. */
interface LuaLines {
  readonly file: string;
  readonly lines: readonly string[];
}

type Part = LuaFunction | LuaLines;

const START = /^function ([\w]+\.[\w]+)\(/;
const FILE = /^-- >>> (\S+)$/;
const FILE_END = /^-- <<< /;
const RARE = /^-- @rare\b/;
/** `-- @hot lib/a.lua Step.close` in a verb. */
const TIER = /^-- @(?:hot|often|rich) /;

/** Tables of functions, one for each subject: see lua/lib/state.lua. */
const SUBJECTS = /^local ((?:[A-Z]\w+, )*[A-Z]\w+) = (?:\{\}, )*\{\} -- subjects$/;

/** Files whose lines every verb runs first. */
const FIRST: ReadonlySet<string> = new Set([
  'constants',
  'lib/state.lua',
  'lib/moment.lua',
  'lib/time.lua',
]);

/** A verb by itself: for the tests that look at what it needs. */
export function compileVerb(text: string): string {
  const { functions, rest, own, header } = take(text);
  const blocks = blocksOf(functions, rest);
  return withoutGaps([...own.slice(0, header), '', ...blocks, ...own.slice(header)]).join('\n');
}

/**
 * The short script of a verb that runs for every task: what its header names in `-- @hot`, and in
 * `-- @often` what is made when it is called; nothing else. `undefined` for other verbs.
 */
export function compileHot(text: string): string | undefined {
  const { lines, functions, rest, own, header } = take(text);
  const tiers = tiersOf(lines);
  if (tiers === undefined) return undefined;
  const blocks = hotBlocks(functions, rest, tiers);
  const whole = flattenLua([...blocks, ...own.slice(header)].join('\n'));
  const often = functions.filter((one) => groupOf(one, tiers) > 0);
  const grouped = new Map(often.map((one) => [one.name, `${one.name}__${groupOf(one, tiers)}`]));
  const named = whole.replaceAll(/\bF\.\w+/g, (name) => grouped.get(name) ?? name);
  return withoutGaps([...own.slice(0, header), '', ...named.split('\n')]).join('\n');
}

/** The functions and other lines of an expanded script. */
export function take(text: string): {
  readonly lines: readonly string[];
  readonly functions: readonly LuaFunction[];
  readonly rest: readonly LuaLines[];
  readonly own: readonly string[];
  readonly header: number;
} {
  const inlined = inlineKeys(inlineConstants(inlineLimits(joinSubjects(text))));
  const lines = inlined.split('\n');
  const parts = partsOf(lines);
  const functions = parts.filter((part): part is LuaFunction => !isLines(part));
  refuseTwins(functions);
  const rest = parts.filter(isLines);
  const own = rest.flatMap((part) => (part.file === '' ? part.lines : []));
  const header = own.findIndex((line) => !line.startsWith('--'));
  return { lines, functions, rest, own, header };
}

function refuseTwins(functions: readonly LuaFunction[]): void {
  const seen = new Set<string>();
  for (const { name } of functions) {
    if (seen.has(name)) throw new Error(`two functions of one script are named ${name}`);
    seen.add(name);
  }
}

/** The text with `Step.close` for `F.Step_close`, and without the tables that are none any more. */
function joinSubjects(text: string): string {
  const names: string[] = [];
  const kept = text.split('\n').filter((line) => {
    const found = SUBJECTS.exec(line);
    if (found !== null) names.push(...(found[1] ?? '').split(', '));
    return found === null;
  });
  if (names.length === 0) return text;
  const subject = new RegExp(`(?<![\\w.'])(${names.join('|')})\\.(\\w+)`, 'g');
  return kept.map((line) => line.replaceAll(subject, 'F.$1_$2')).join('\n');
}

function blocksOf(functions: readonly LuaFunction[], rest: readonly LuaLines[]): readonly string[] {
  const code = rest.flatMap(({ lines }) => lines).join('\n');
  const hot = reachable(functions, code, false);
  const all = reachable(functions, code, true);
  const library = functions.filter(({ name }) => hot.has(name));
  const rare = functions.filter(({ name }) => all.has(name) && !hot.has(name));
  const included = rest.flatMap((part) => (part.file === '' ? [] : part.lines));
  if (functions.length === 0) return included;
  return [
    ...presized(included, library),
    'local rich = true',
    ...blockOf('library', library),
    ...lazyOf(rare),
  ];
}

/** Files and functions that a verb names in its header. */
interface Tiers {
  readonly hot: ReadonlySet<string>;
  /** Line by line: who is named in several is made with the first. */
  readonly often: readonly ReadonlySet<string>[];
  /** What its functions call in the other script only. */
  readonly rich: ReadonlySet<string>;
}

function tiersOf(lines: readonly string[]): Tiers | undefined {
  const named = (word: string): readonly (readonly string[])[] =>
    lines.flatMap((line) =>
      line.startsWith(`-- @${word} `)
        ? [
            line
              .slice(word.length + 5)
              .trim()
              .split(/\s+/),
          ]
        : [],
    );
  const [hot, rich] = [new Set(named('hot').flat()), new Set(named('rich').flat())];
  const often = named('often').map((names) => new Set(names));
  return hot.size === 0 ? undefined : { hot, often, rich };
}

function isHot(one: LuaFunction, { hot }: Tiers): boolean {
  return hot.has(one.name) || (hot.has(one.file) && !one.rare);
}

/** Which line of `-- @often` names it, from 1 on; 0 for those that no such line does, or that are hot. */
function groupOf(one: LuaFunction, tiers: Tiers): number {
  if (isHot(one, tiers)) return 0;
  return 1 + tiers.often.findIndex((names) => names.has(one.name) || names.has(one.file));
}

function hotBlocks(
  functions: readonly LuaFunction[],
  rest: readonly LuaLines[],
  tiers: Tiers,
): readonly string[] {
  const first = rest.flatMap(({ file, lines }) => (FIRST.has(file) ? lines : []));
  const library = functions.filter((one) => isHot(one, tiers));
  const often = functions.filter((one) => groupOf(one, tiers) > 0);
  const own = rest.flatMap(({ file, lines }) => (file === '' ? lines : []));
  const left = rest.flatMap(({ file, lines }) => (file === '' || FIRST.has(file) ? [] : lines));
  const parts = [{ name: 'the verb itself', lines: own }, ...library, ...often];
  refuseUnseen(left, parts);
  refuseAbsent(new Set([...library, ...often].map(({ name }) => name)), tiers.rich, parts);
  return [
    ...first,
    'local rich = false',
    ...blockOf('library', library),
    ...lazyGroups(often, tiers),
  ];
}

/** Functions that are made when the first of their group is called. */
function lazyGroups(often: readonly LuaFunction[], tiers: Tiers): readonly string[] {
  if (tiers.often.length === 0) return [];
  return [
    'setmetatable(F, { __index = function(F, name)',
    // The number of its group is the last character of a name.
    'local group = string.byte(name, -1)',
    ...tiers.often.flatMap((_, at) => [
      `if group == ${49 + at} then`,
      ...often
        .filter((one) => groupOf(one, tiers) === at + 1)
        .flatMap(({ lines }) => [...lines, '']),
      'end',
    ]),
    'return rawget(F, name)',
    'end })',
  ];
}

function blockOf(name: string, functions: readonly LuaFunction[]): readonly string[] {
  const call = name === 'library' ? ['library()'] : [];
  const lines = functions.flatMap((found) => [...found.lines, '']);
  return ['', `local ${name} = function()`, '', ...lines, 'end', ...call, ''];
}

/**
 * The empty tables of the shared state that get functions, made with room for all of them: a table
 * that grows is made anew at every power of two.
 */
function presized(lines: readonly string[], functions: readonly LuaFunction[]): readonly string[] {
  return lines.flatMap((line) => {
    const found = /^local ((?:[A-Z]\w*, )*[A-Z]\w*) = ((?:\{\}, )*\{\})$/.exec(line);
    const names = found?.[1]?.split(', ') ?? [];
    const sizes = names.map((name) => {
      const members = functions.flatMap((one) => {
        const [table, member = ''] = one.name.split('.');
        return table === name ? [`${member} = 0`] : [];
      });
      return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
    });
    if (found === null || sizes.every((text) => text === '{}')) return [line];
    return names.map((name, at) => `local ${name} = ${sizes[at]}`);
  });
}

/** Functions that are made when the table is asked for the first of them. */
function lazyOf(functions: readonly LuaFunction[]): readonly string[] {
  if (functions.length === 0) return [];
  return [
    ...blockOf('more', functions),
    'setmetatable(F, { __index = function(functions, name)',
    '  local make = more',
    '  more = nil',
    '  if make then make() end',
    '  return rawget(functions, name)',
    'end })',
    '',
  ];
}

function isLines(part: Part): part is LuaLines {
  return !('name' in part);
}

/** Functions with the comment above them, and the lines between them, in order. */
function partsOf(lines: readonly string[]): readonly Part[] {
  const rareFiles = new Set<string>();
  const parts: Part[] = [];
  const files: string[] = [];
  let between: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const file = FILE.exec(line)?.[1];
    const ends = FILE_END.test(line);
    if (file !== undefined || ends) {
      parts.push({ file: files.at(-1) ?? '', lines: between });
      between = [];
    }
    if (file !== undefined) {
      files.push(file);
      if (isRareFile(lines, at)) rareFiles.add(file);
    }
    if (ends) files.pop();
    if (file !== undefined || ends || TIER.test(line)) continue;
    const name = START.exec(line)?.[1];
    if (name === undefined) {
      between.push(line);
      continue;
    }
    const end = /\bend$/.test(line) ? at : lines.indexOf('end', at);
    const comment = takeComment(between);
    const rare = comment.some((text) => RARE.test(text)) || rareFiles.has(files.at(-1) ?? '');
    const kept = comment.filter((text) => !RARE.test(text));
    const from = files.at(-1) ?? '';
    parts.push({ file: from, lines: between });
    parts.push({ name, file: from, rare, lines: [...kept, ...lines.slice(at, end + 1)] });
    between = [];
    at = end;
  }
  return [...parts, { file: '', lines: between }];
}

/** A file whose own header says so. */
function isRareFile(lines: readonly string[], from: number): boolean {
  for (let at = from + 1; (lines[at] ?? '').startsWith('--'); at++) {
    if (lines[at] === '-- @rare') return true;
  }
  return false;
}

/** Takes the comment that stands right above a function off the lines before it. */
function takeComment(between: string[]): readonly string[] {
  let from = between.length;
  while (from > 0 && /^-- (?![<>]{3} )/.test(between[from - 1] ?? '')) from--;
  return between.splice(from);
}

/** Names of the functions that the code reaches; without `throughRare`, not through rare ones. */
export function reachable(
  functions: readonly LuaFunction[],
  code: string,
  throughOptional: boolean,
): ReadonlySet<string> {
  const live = new Set<string>();
  const words = new Set<string>();
  const read = (text: string): void => {
    const bare = text.replaceAll(/--[^\n]*/g, '').replaceAll(/^function [\w.]+/gm, '');
    for (const [word] of bare.matchAll(/\b[A-Za-z_]\w*\.[A-Za-z_]\w*/g)) words.add(word);
  };
  read(code);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { name, lines, rare } of functions) {
      if (live.has(name) || !words.has(name) || (rare && !throughOptional)) continue;
      live.add(name);
      read(lines.join('\n'));
      grew = true;
    }
  }
  return live;
}

/** One blank line where several were left. */
function withoutGaps(lines: readonly string[]): readonly string[] {
  return lines.filter((line, at) => line !== '' || lines[at - 1] !== '');
}
