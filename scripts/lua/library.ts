/**
 * All verbs as one text whose functions are made once: what Redis keeps as a library (`FUNCTION LOAD`), and what a server
 * without functions runs as a script. Its functions share two kinds of names at the top of files:
 *
 * - a constant in capitals, or a local function, is made before the first call, since a library that is being loaded
 *   may not call anything;
 * - every other line belongs to a step, and runs at the begin of each call.
 */
import { reachable, take } from './compile.ts';
import { LOCALS } from './inline.ts';

/** Files whose lines run at the begin of each call. */
const FIRST: ReadonlySet<string> = new Set(['lib/moment.lua', 'lib/time.lua']);
/** The one whose lines run when a step goes by the general rules; those of all others when it reads all that is known. */
const STATE = 'lib/state.lua';

/** A name that keeps its value from call to call. */
const CONSTANT = /^local (?:[A-Z]{2,}|byBytes)(?:, [A-Z]{2,})* = /;

/** What each call sets anew: with care it stands for the guard's. */
const REDIS_CALL = 'redis.call';

/** Kept from call to call. */
const KEPT = [...LOCALS].filter(([value]) => value !== REDIS_CALL);

/**
 * The text of a function that returns another, `run`, which takes a verb, the keys and the arguments. In front of the verb stands `!` or
 * `?` for a call with care: see lib/guard.lua.
 */
export function compileLibrary(verbs: ReadonlyMap<string, string>, expanded: string): string {
  const { functions, rest } = take(expanded);
  const bodies = [...verbs].flatMap(([name, text]) => [
    `function V.${name}()`,
    ...beginOf(take(text).own, text.includes('-- >>> lib/state.lua')),
    'end',
  ]);
  const top = rest.flatMap(({ file, lines }) => (file === '' ? [] : lines));
  const code = [...bodies, ...top, 'F.guardOf'].join('\n');
  const live = reachable(functions, code, true);
  const made = functions.filter(({ name }) => live.has(name)).flatMap(({ lines }) => lines);
  const { names, once } = statements(top);
  const isFirst = ({ file }: { readonly file: string }): boolean => FIRST.has(file);
  const linesOf = (parts: typeof rest): readonly string[] => parts.flatMap(({ lines }) => lines);
  const files = rest.filter(({ file }) => file !== '');
  const first = statements(linesOf(files.filter(isFirst))).step;
  const state = statements(linesOf(files.filter(({ file }) => file === STATE))).step;
  const others = files.filter((part) => !isFirst(part) && part.file !== STATE);
  const step = statements(linesOf(others)).step;
  const said = fieldsSet([...made, ...bodies].join('\n'));
  return [
    'local F, V, isMade = {}, {}, false',
    'local KEYS, ARGV, redisCall, redisPcall, guard',
    `local ${[...KEPT.map(([, name]) => name), ...names].join(', ')}`,
    ...withKept(made),
    ...withKept(bodies),
    'local function make()',
    ...KEPT.map(([value, name]) => `${name} = ${value}`),
    ...withKept(once),
    'end',
    'local function begin()',
    ...withKept(first),
    'end',
    'function F.beginStep()',
    'if hasBegun then return end',
    'hasBegun = true',
    ...withKept(state),
    'end',
    'function F.beginAll()',
    ...said.map((name) => `${name} = nil`),
    ...withKept(step),
    'end',
    'local function run(word, keys, args)',
    'if not isMade then make() isMade = true end',
    'KEYS, ARGV, guard, redisCall, redisPcall = keys, args, nil, redis.call, redis.pcall',
    'local verb = V[word]',
    'if not verb then',
    "guard, verb = F.guardOf(redis, string.sub(word, 1, 1) == '?'), V[string.sub(word, 2)]",
    'redisCall = guard.call',
    'end',
    'begin()',
    'return verb()',
    'end',
    'return run',
    '',
  ].join('\n');
}

/** The lines of a verb; one that has a step and does not say how it begins reads all that is known first. */
function beginOf(own: readonly string[], hasStep: boolean): readonly string[] {
  const lines = own.filter((line) => line !== '' && !line.startsWith('--'));
  const isTold = lines.some((line) => /F\.(?:beginUsual|readAll)\(\)/.test(line));
  return isTold || !hasStep ? lines : ['F.readAll()', ...lines];
}

/** The lines at the top of files, as assignments to names that stand before all functions. */
function statements(lines: readonly string[]): {
  readonly names: readonly string[];
  readonly once: readonly string[];
  readonly step: readonly string[];
} {
  const names: string[] = [];
  const [once, step]: [string[], string[]] = [[], []];
  let into = step;
  for (const line of lines) {
    if (line === '' || line.startsWith('--')) continue;
    const isFirst = /^\S/.test(line) && !/^(?:end|else|elseif)\b/.test(line);
    if (!isFirst) {
      into.push(line);
      continue;
    }
    if (line === 'local F = {}') continue;
    const isFunction = line.startsWith('local function ');
    into = isFunction || CONSTANT.test(line) ? once : step;
    const declared = /^local (?:function (\w+)|([\w, ]+?)(?= =|$))/.exec(line);
    if (declared === null) into.push(line);
    else if (isFunction) {
      names.push(declared[1] ?? '');
      into.push(line.replace(/^local function (\w+)/, '$1 = function'));
    } else {
      names.push(...(declared[2] ?? '').split(', '));
      into.push(line.slice('local '.length));
    }
  }
  return { names, once, step };
}

/** Fields of the table of functions that a step sets for itself. */
function fieldsSet(code: string): readonly string[] {
  const set = /(?:^\s*|\b(?:then|do|else|end) )((?:[\w.]+, )*F\.\w+(?:, [\w.]+)*) = /gm;
  const found = [...code.matchAll(set)].flatMap(([, names = '']) => names.split(', '));
  return [...new Set(found.filter((name) => name.startsWith('F.')))];
}

function withKept(lines: readonly string[]): readonly string[] {
  return lines.map((line) => {
    if (line.trimStart().startsWith('--')) return line;
    const called = line.replaceAll(/(?<![\w.])redis\.(call|pcall)\b/g, (_, name: string) =>
      name === 'call' ? 'redisCall' : 'redisPcall',
    );
    return KEPT.reduce(
      (text, [value, name]) =>
        text.replaceAll(new RegExp(`(?<![\\w.])${value.replace('.', '\\.')}\\b`, 'g'), name),
      called,
    );
  });
}
