/** What the bundler makes of an expanded script: its blocks, and tables of functions that are one. */
import { describe, expect, it } from 'vitest';
import { compileLua } from '../../scripts/lua-compile.ts';

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

function compiled({ header = [], files, own }: Verb): string {
  const head = ['-- Does it.', ...header];
  return compileLua([...head, ...STATE, ...WORKING, ...files.flat(), '', ...own].join('\n'));
}

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

describe('a verb without tiers', () => {
  it('makes what it reaches, and what is rare when that is called', () => {
    const rare = included('lib/rare.lua', '-- @rare', 'function Tag.seldom() return 1 end');
    const own = ['if x then return Tag.seldom() end', 'return Step.close()'];
    const text = compiled({ files: [STEPS, rare], own });
    expect(blocksOf(text)).toEqual({
      library: ['F.Step_close', 'F.Step_one'],
      rare: ['F.Tag_seldom'],
    });
    expect(text).toContain('local rich = true');
    expect(text).toContain('local tasks, changed = {}, {}');
  });
});

describe('a verb with tiers', () => {
  const header = ['-- @hot Step.close', '-- @often lib/tags.lua'];
  const own = ['if x then return Step.other() end', 'return Step.close()'];
  const text = compiled({ header, files: [STEPS, TAGS], own });

  it('makes at once what it names @hot, then @often, then all else that it reaches', () => {
    expect(blocksOf(text)).toEqual({
      library: ['F.Step_close'],
      often: ['F.Tag_of'],
      rare: ['F.Step_one', 'F.Step_other'],
    });
    expect(text).not.toMatch(/unused|@hot|@often/);
  });

  it('makes what a step works on with the rare block, and says so', () => {
    const rare = text.slice(text.indexOf('local rare = function()'));
    expect(text.indexOf('local rich = false')).toBeLessThan(text.indexOf('local library'));
    expect(rare).toMatch(/^local rare = function\(\)\n\nrich = true\nlocal tasks, changed/);
    expect(text.match(/local tasks/g)).toHaveLength(1);
  });

  it('makes the next block when a function is asked for that there is not yet', () => {
    expect(text).toContain('setmetatable(F, { __index = function(functions, name)');
    expect(text).toContain('local make = often or rare');
    const without = compiled({ header: ['-- @hot Step.close'], files: [STEPS, TAGS], own });
    expect(without).toContain('local often\n');
    expect(blocksOf(without)).toMatchObject({ rare: ['F.Step_one', 'F.Step_other', 'F.Tag_of'] });
  });

  it('leaves functions marked @rare out of a file that is hot', () => {
    const mixed = included(
      'lib/mixed.lua',
      'function Step.fast() return 1 end',
      '-- @rare',
      'function Step.slow() return 2 end',
    );
    const both = compiled({
      header: ['-- @hot lib/mixed.lua'],
      files: [mixed],
      own: ['return Step.fast() + Step.slow()'],
    });
    expect(blocksOf(both)).toEqual({ library: ['F.Step_fast'], rare: ['F.Step_slow'] });
  });
});

describe('a local of the rare block', () => {
  const using = (...body: readonly string[]): (() => string) => {
    const file = included('lib/hot.lua', 'function Step.hot(t)', ...body, 'end');
    return () =>
      compiled({ header: ['-- @hot lib/hot.lua'], files: [file], own: ['return Step.hot()'] });
  };

  it('is refused where a hot function uses it, which would find a global that there is not', () => {
    expect(using('  return tasks')).toThrow(
      'F.Step_hot is made before the rare block, and uses tasks',
    );
    expect(using('  t.n, changed = 1, {}')).toThrow('uses changed of it');
    expect(using('  return { tasks, of = changed }')).toThrow('uses tasks, changed of it');
    expect(using('  if rich then return tasks[t] end')).toThrow('uses tasks');
    expect(using("  return 'a' .. tasks[1]")).toThrow('uses tasks');
  });

  it('is refused in a function that is made often, and in the lines of the verb itself', () => {
    const often = included('lib/tags.lua', 'function Tag.of() return #tasks end');
    const header = ['-- @hot Step.close', '-- @often lib/tags.lua'];
    expect(() =>
      compiled({ header, files: [STEPS, often], own: ['return Tag.of() + Step.close()'] }),
    ).toThrow('F.Tag_of is made before the rare block');
    expect(() => compiled({ header, files: [STEPS, TAGS], own: ['tasks = Step.close()'] })).toThrow(
      'the verb itself is made before the rare block, and uses tasks',
    );
  });

  it('is no fault as a field, a key, a word of a text or comment, or a local of the same name', () => {
    expect(using('  return t.tasks, { tasks = 1, changed = 2 }')).not.toThrow();
    expect(using("  return 'tasks' -- changed")).not.toThrow();
    expect(
      using('  local tasks = {}', '  for i, changed in ipairs(tasks) do t = i end'),
    ).not.toThrow();
    expect(using('  return t..tasks')).toThrow('uses tasks');
  });

  it('may be used by rare functions', () => {
    const file = included(
      'lib/hot.lua',
      'function Step.hot() return Step.cold() end',
      '-- @rare',
      'function Step.cold() return tasks end',
    );
    expect(() =>
      compiled({ header: ['-- @hot lib/hot.lua'], files: [file], own: ['return Step.hot()'] }),
    ).not.toThrow();
  });
});
