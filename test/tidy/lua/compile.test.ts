/** What the bundler makes of an expanded script: by itself, as a short script, and of all together. */
import { describe, expect, it } from 'vitest';
import { compileHot, compileVerb } from '../../../scripts/lua/compile.ts';
import { compileLibrary } from '../../../scripts/lua/library.ts';

/** The text of a file as an expanded script has it. */
function included(file: string, ...lines: readonly string[]): readonly string[] {
  return [`-- >>> ${file}`, ...lines, `-- <<< ${file}`];
}

const STATE = included('lib/state.lua', 'local F = {}', 'local Step, Tag = {}, {} -- subjects');
const WORKING = included('lib/working.lua', 'local tasks, changed = {}, {}');

interface Verb {
  readonly header?: readonly string[];
  readonly files: readonly (readonly string[])[];
  readonly own: readonly string[];
}

function textOf({ header = [], files, own }: Verb): string {
  const head = ['-- Does it.', ...header];
  return [...head, ...STATE, ...WORKING, ...files.flat(), '', ...own].join('\n');
}

const compiled = (verb: Verb): string => compileVerb(textOf(verb));
const short = (verb: Verb): string => compileHot(textOf(verb)) ?? '';

/** Names of the functions of each block, in order. */
function blocksOf(text: string): Readonly<Record<string, readonly string[]>> {
  const found = text.matchAll(/^local (\w+) = function\(\)\n([\s\S]*?)^end\n(?!\n*function)/gm);
  return Object.fromEntries(
    [...found].map(([, name = '', body = '']) => [
      name,
      [...body.matchAll(/^function ([\w.]+)/gm)].map(([, called = '']) => called),
    ]),
  );
}

/** Names of all functions that are left. */
function functionsOf(text: string): readonly string[] {
  return [...text.matchAll(/^\s*function ([\w.]+)/gm)].map(([, name = '']) => name);
}

const STEPS = included(
  'lib/step.lua',
  'function Step.close()',
  '  return Step.one()',
  'end',
  'function Step.one() return 1 end',
  'function Step.other()',
  '  tasks = {}',
  '  return Tag.of()',
  'end',
  'function Step.unused() return 1 end',
);
const TAGS = included('lib/tags.lua', 'function Tag.of() return 1 end');

describe('tables of subjects', () => {
  const text = compiled({ files: [STEPS, TAGS], own: ['return Step.close()'] });

  it('are one table, so that a script makes one', () => {
    expect(text).toContain('return F.Step_close()');
    expect(text).toContain('function F.Step_one() return 1 end');
    expect(text).not.toMatch(/\b(?:Step|Tag)\.|subjects/);
  });

  it('are left alone in texts and behind a dot', () => {
    const own = ["local word, t = 'Step.close', x.Step.close", 'return Step.one()'];
    const kept = compiled({ files: [STEPS, TAGS], own });
    expect(kept).toContain(own[0]);
    expect(kept).toContain('return F.Step_one()');
  });

  it('get room for the functions that every run makes', () => {
    expect(text).toContain('local F = { Step_close = 0, Step_one = 0 }');
  });
});

describe('a verb by itself', () => {
  it('makes what it reaches, and what is rare when that is called', () => {
    const optional = included('lib/rare.lua', '-- @rare', 'function Tag.seldom() return 1 end');
    const own = ['if x then return Tag.seldom() end', 'return Step.close()'];
    const text = compiled({ files: [STEPS, optional], own });
    expect(blocksOf(text)).toEqual({
      library: ['F.Step_close', 'F.Step_one'],
      more: ['F.Tag_seldom'],
    });
    expect(text).toContain('local rich = true');
    expect(text).toContain('local tasks, changed = {}, {}');
  });
});

describe('the short script of a verb', () => {
  const header = [
    '-- @hot F.Step_close F.Step_one',
    '-- @often lib/tags.lua',
    '-- @rich F.Step_other',
  ];
  const own = [
    'if rich then return Step.other() end',
    'if x then Tag.of() end',
    'return Step.close()',
  ];
  const text = short({ header, files: [STEPS, TAGS], own });

  it('has in place what it names @hot, makes what it names @often when that is called, and no more', () => {
    expect(text).toMatch(/return \(?1\)?\b/);
    expect(functionsOf(text)).toEqual(['F.Tag_of__1']);
    expect(text.indexOf('setmetatable(F, { __index = function(F, name)')).toBeLessThan(
      text.indexOf('function F.Tag_of'),
    );
    expect(text).not.toMatch(/Step_|unused|@hot|@often/);
  });

  it('knows nothing of what a step works on, nor of what is done if it is rich', () => {
    expect(text).not.toMatch(/local tasks|rich/);
  });

  it('leaves functions marked @rare out of a file that is hot, unless they are named', () => {
    const mixed = included(
      'lib/mixed.lua',
      'function Step.fast() return 1 end',
      '-- @rare',
      'function Step.slow() return 2 end',
    );
    const of = (line: string): string =>
      short({
        header: ['-- @hot lib/mixed.lua', line],
        files: [mixed],
        own: ['if x then Step.slow() end', 'return Step.fast()'],
      });
    expect(() => of('--')).toThrow(/calls F\.Step_slow/);
    expect(functionsOf(of('-- @often F.Step_slow'))).toEqual(['F.Step_slow__1']);
    expect(functionsOf(of('-- @hot F.Step_slow'))).toEqual([]);
  });

  it('makes together what a line names @often, and gives the number of the line to their names', () => {
    const grouped = short({
      header: ['-- @hot F.Step_one', '-- @often lib/tags.lua', '-- @often F.Tag_of F.Step_close'],
      files: [STEPS, TAGS],
      own: ['return Step.close(Tag.of())'],
    });
    expect(grouped).toContain('F.Step_close__2(F.Tag_of__1())');
    const [first = '', second = ''] = grouped.split('if group == 50 then');
    expect(functionsOf(first)).toEqual(['F.Tag_of__1']);
    expect(functionsOf(second)).toEqual(['F.Step_close__2']);
  });

  it('is none where a verb names nothing @hot', () => {
    expect(compileHot(textOf({ files: [STEPS], own: ['return Step.close()'] }))).toBeUndefined();
  });
});

describe('a local that a short script has not', () => {
  const using = (...body: readonly string[]): (() => string) => {
    const file = included('lib/hot.lua', 'function Step.hot(t)', ...body, 'end');
    return () =>
      short({ header: ['-- @hot lib/hot.lua'], files: [file], own: ['return Step.hot()'] });
  };

  it('is refused where a hot function uses it, which would find a global that there is not', () => {
    expect(using('  return tasks')).toThrow(
      'F.Step_hot stands in the short script, and uses tasks,',
    );
    expect(using('  t.n, changed = 1, {}')).toThrow('uses changed,');
    expect(using('  return { tasks, of = changed }')).toThrow('uses tasks, changed,');
    expect(using('  if rich then return tasks[t] end')).toThrow('uses tasks,');
    expect(using("  return 'a' .. tasks[1]")).toThrow('uses tasks,');
    expect(using('  return t..tasks')).toThrow('uses tasks,');
  });

  it('is refused in a function that is made often, and in the lines of the verb itself', () => {
    const often = included('lib/tags.lua', 'function Tag.of() return #tasks end');
    const header = ['-- @hot F.Step_close F.Step_one', '-- @often lib/tags.lua'];
    const close = ['return Step.close()'];
    expect(() => short({ header, files: [STEPS, often], own: close })).toThrow(
      'F.Tag_of stands in',
    );
    const own = ['tasks = Step.close()'];
    expect(() => short({ header, files: [STEPS, TAGS], own })).toThrow('the verb itself stands in');
  });

  it('is no fault as a field, a key, a word of a text or comment, or a local of the same name', () => {
    expect(using('  return t.tasks, { tasks = 1, changed = 2 }')).not.toThrow();
    expect(using("  return 'tasks' -- changed")).not.toThrow();
    const own = ['  local tasks = {}', '  for i, changed in ipairs(tasks) do t = i end'];
    expect(using(...own)).not.toThrow();
  });
});

describe('a function that a short script has not', () => {
  const calling = (line: string, ...header: readonly string[]): (() => string) => {
    return () =>
      short({ header: ['-- @hot F.Step_one', ...header], files: [STEPS, TAGS], own: [line] });
  };

  it('is refused where it is called, which would break the script in the middle of a step', () => {
    const message = 'the verb itself stands in the short script, and calls F.Tag_of,';
    expect(calling('return Tag.of() + Step.one()')).toThrow(message);
    expect(calling('return Tag.of()', '-- @often F.Tag_of')).not.toThrow();
  });

  it('is no fault where the header says that only the other script calls it', () => {
    const line = 'if rich then return Tag.of() end';
    expect(calling(line)).toThrow('calls F.Tag_of,');
    expect(calling(line, '-- @rich F.Tag_of')).not.toThrow();
  });
});

describe('all verbs together', () => {
  const files = [
    ...included('lib/state.lua', 'local F = {}', 'local Step, Tag = {}, {} -- subjects'),
    ...included('lib/working.lua', 'local LIMITS = { 1 }', 'local tasks, changed = {}, {}'),
    ...STEPS,
    ...included(
      'lib/tags.lua',
      'local function half(n) return n / 2 end',
      'function Tag.of()',
      '  Tag.last = half(1)',
      '  return string.sub("a", 1)',
      'end',
    ),
  ];
  const one = textOf({
    files: [STEPS],
    own: ['local a = redis.call("TIME")', 'return Step.close()'],
  });
  const two = textOf({ files: [TAGS], own: ['return Tag.of()'] });
  const verbs = new Map([
    ['one', one],
    ['two', two],
  ]);
  const text = compileLibrary(verbs, files.join('\n'));
  const block = (name: string): string =>
    new RegExp(`^local function ${name}\\([^)]*\\)\n([\\s\\S]*?)^end$`, 'm').exec(text)?.[1] ?? '';

  it('are one text with a function for each', () => {
    expect(text).toContain(
      'function V.one()\nlocal a = redisCall("TIME")\nreturn F.Step_close()\nend',
    );
    expect(text).toContain('function V.two()\nreturn F.Tag_of()\nend');
    expect(functionsOf(text)).not.toContain('F.Step_unused');
    expect(text.trimEnd()).toMatch(/return run$/);
  });

  it("make constants and local functions once, and what is a step's own at each call", () => {
    expect(block('make')).toContain('LIMITS = { 1 }\nhalf = function(n) return n / 2 end');
    expect(block('begin')).toContain('tasks, changed = {}, {}');
    expect(block('begin')).not.toContain('LIMITS');
  });

  it('forget what a function noted among the functions', () => {
    expect(block('begin')).toContain('F.Tag_last = nil');
  });

  it('keep what is called often in locals', () => {
    expect(text).toContain('return stringSub("a", 1)');
    expect(block('make')).toContain('stringSub = string.sub');
  });
});
