/** How files of Lua become one library. */
import { describe, expect, it } from 'vitest';
import { luaKeys } from '../../../scripts/lua/layout.ts';
import { compileLibrary, stripLua } from '../../../scripts/lua/library.ts';
import { parseLua } from '../../../scripts/lua/names.ts';
import { luaRules } from '../../../scripts/lua/rules.ts';
import { SCRIPTS } from '../../../src/backends/redis/wire/scripts.ts';
import { read } from '../../support/files.ts';

const RUN = 'local function run(word) begin() return V[word]() end';
const MADE = [
  'local K = {}',
  "function K.task(id) return p .. 'task:' .. id end",
  'function K.both(a, b) return K.task(a .. b) end',
].join('\n');

function compile(lines: readonly string[], verb: readonly string[] = ['return 1']): string {
  const lib = [
    { name: 'lib/base/run.lua', text: `local p = string.rep('fq:', 1)\n${RUN}` },
    { name: 'lib/a.lua', text: `local F = {}\n${lines.join('\n')}\n` },
  ];
  return compileLibrary(MADE, lib, [{ name: 'doIt', text: `${verb.join('\n')}\n` }]);
}

/** The lines from one on, up to the next that ends a function. */
function block(text: string, first: string): string {
  const from = text.indexOf(`${first}\n`);
  return from < 0 ? '' : text.slice(from, text.indexOf('\nend', from));
}

describe('a library', () => {
  it('has a function for each verb', () => {
    const text = compile([], ['-- Does it.', 'local n = 1', 'return n']);
    expect(text).toContain('function V.doIt()\n-- Does it.\nlocal n = 1\nreturn n\nend');
    expect(text).toMatch(/\nreturn run\n$/);
  });

  it('makes constants and functions once, with what is said of them', () => {
    const text = compile([
      '-- Of all.',
      'local INF, Step = 1, {}',
      '-- Ends it.',
      'function Step.close()',
      '  return INF',
      'end',
      'local function half(n) return n / 2 end',
      'function F.use() return half(2) end',
    ]);
    expect(text).toContain('\n-- Of all.\nlocal INF, Step = 1, {}\n');
    expect(text).toContain(
      '\n-- Ends it.\nfunction Step.close()\n  return INF\nend\nlocal function half',
    );
    expect(block(text, 'function begin()')).not.toMatch(/INF|half/);
  });

  it("sets a step's own at the begin of each call, or when all is read", () => {
    const text = compile([
      '-- What it changes.',
      'local tasks, changed = {}, {}',
      'local late',
      'F.seen = false',
      'if p then',
      '  tasks.a = 1',
      'end',
      'function F.of() return tasks, changed, late end',
    ]);
    expect(text).toContain('\nlocal p, tasks, changed, late\n');
    expect(text).toContain(
      "\nfunction begin()\np = string.rep('fq:', 1)\nend\n".replace('string.r', 'stringR'),
    );
    expect(text).toContain(
      '\nfunction F.beginAll()\n-- What it changes.\ntasks, changed = {}, {}\nlate = nil\nF.seen = false\nif p then\n  tasks.a = 1\nend\nend\nreturn run',
    );
  });

  it('puts a function of one expression where it is called with what needs no working out', () => {
    const text = compile([
      'function F.a(t, i)',
      "  return K.task(t.ids[i]), K.task('a'), K.task(F.a(1)), K.both(i, 2), K.task(i .. 1)",
      'end',
    ]);
    expect(text).toContain(
      "return (p .. 'task:' .. t.ids[i]), (p .. 'task:' .. 'a'), K.task(F.a(1)), (K.task(i .. 2)), K.task(i .. 1)",
    );
    expect(text).toContain("function K.task(id) return p .. 'task:' .. id end");
  });

  it('keeps functions of Lua in locals, and asks those of each call to send commands', () => {
    const text = compile([
      "function F.a(s, call) return string.sub(s, 1), s.string.x, redis.call('DEL', s), redis.sha1hex(s) end",
    ]);
    expect(text).toContain(
      "return stringSub(s, 1), s.string.x, redisCall('DEL', s), redis.sha1hex(s)",
    );
    expect(text).toContain('\nlocal stringSub, stringRep = string.sub, string.rep\n');
  });

  it('is refused when it names what nothing declares there, or two functions alike', () => {
    expect(() => compile(['function F.a() return tsaks end'])).toThrow('nothing declares tsaks');
    expect(() => compile([], ['do local n = 1 end', 'return n'])).toThrow('nothing declares n');
    expect(() => compile(['function F.a() end', 'function F.a() end'])).toThrow(
      'two functions are named F.a',
    );
    expect(() => compile(['local ONE = 1', 'local ONE = 2'])).toThrow('two files declare ONE');
  });
});

it('comments and indentation are left out, line by line', () => {
  const text =
    "-- one\nlocal a = '-- not a comment' -- two\n\n  local b = 1\n  -- three\nreturn a\n";
  expect(stripLua(text)).toBe("\nlocal a = '-- not a comment'\n\nlocal b = 1\n\nreturn a\n");
});

describe('the library of all verbs', () => {
  const readable = read('src/backends/redis/lua/expanded/library.lua');

  it('has the lines that Redis has', () => {
    const sent = SCRIPTS.library.text.split('\n');
    const lines = stripLua(readable).split('\n').slice(2, -1);
    expect(lines.length).toBeGreaterThan(10_000);
    expect(sent.slice(2, 2 + lines.length)).toEqual(lines);
  });

  it('has at most 450 kB', () => {
    expect(SCRIPTS.library.text.length).toBeLessThanOrEqual(450_000);
  });

  it('calls each of its functions', () => {
    const code = stripLua(readable);
    const counts = new Map<string, number>();
    for (const [name] of code.matchAll(/\b[A-Z]\w*\.\w+/g))
      counts.set(name, (counts.get(name) ?? 0) + 1);
    const names = [...code.matchAll(/^function ((?!(?:V|K|May|Rate|Turn|Tag)\.)[A-Z]\w*\.\w+)/gm)];
    expect(names.length).toBeGreaterThan(500);
    const unused = names.map(([, name = '']) => name).filter((name) => counts.get(name) === 1);
    expect(unused).toEqual([]);
  });

  it('declares once what functions of one expression name, so that these mean the same everywhere', () => {
    const declared: string[] = [];
    parseLua(readable, { scope: true, onLocalDeclaration: (name) => declared.push(String(name)) });
    const made = `${luaKeys()}${luaRules()}`.matchAll(
      /^function \S+\(([\w, ]*)\) return (.+) end$/gm,
    );
    const free = [...made].flatMap(([, list = '', value = '']) => {
      const words = value.replaceAll(/'[^']*'/g, '').match(/(?<![\w.])[a-zA-Z]\w*/g) ?? [];
      return words.filter((word) => !list.split(', ').includes(word));
    });
    const names = [...new Set(free)].filter((word) => !/^(?:and|or|nil|math)$/.test(word));
    expect(names).toEqual(expect.arrayContaining(['prefix', 'CODES', 'K', 'Tag']));
    const times = names.map((name) => [name, declared.filter((one) => one === name).length]);
    expect(times.filter(([, count]) => count !== 1)).toEqual([]);
  });

  it('forgets what a step notes in a table of functions', () => {
    // Texts beside what was made of them, which is the same in every step.
    const lasting = ['F.numbered', 'F.number', 'F.quotedText', 'F.quotedAs'];
    const begin = readable.slice(readable.indexOf('\nfunction begin()'));
    const body = readable.slice(0, readable.indexOf('\nfunction begin()'));
    const set =
      /(?:^ *|\b(?:then|do|else|end) )((?:[\w.[\]]+, )*[A-Z]\w+\.\w+(?:, [\w.[\]]+)*) = /gm;
    const noted = [
      ...new Set([...body.matchAll(set)].flatMap(([, names = '']) => names.split(', '))),
    ];
    const tables = noted.filter((name) => /^(?:F|[A-Z][a-z]\w+)\.\w+$/.test(name));
    expect(tables.length).toBeGreaterThan(5);
    const kept = tables.filter((name) => !lasting.includes(name) && !begin.includes(name));
    expect(kept).toEqual([]);
  });
});
