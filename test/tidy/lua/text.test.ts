/** The bundler's text steps. */
import { expect, it } from 'vitest';
import { shortenLua } from '../../../scripts/lua/short.ts';
import { expandLua, stripLua } from '../../../scripts/lua/text.ts';
import { SCRIPTS } from '../../../src/backends/redis/wire/scripts.ts';
import { headerOf, useOf } from '../../support/docs/lua-header.ts';

function reader(files: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`no file ${path}`);
    return text;
  };
}

it('includes each file once, in order of first mention, however deep', () => {
  const read = reader({
    'verb.lua': '-- Does it all.\n-- @include lib/b.lua\n-- @include lib/a.lua\nreturn b()\n',
    'lib/b.lua': '-- @include lib/a.lua\nlocal function b() return a() end\n',
    'lib/a.lua': '-- @include lib/b.lua\nlocal function a() return 1 end\n',
  });
  const code = stripLua(expandLua('verb.lua', read));
  expect(code).toBe(
    'local function a() return 1 end\nlocal function b() return a() end\nreturn b()\n',
  );
});

it('makes names of functions and locals short, and leaves out blanks that say nothing', () => {
  const text = [
    "local count, other = { count = F.Step_close__12( 'count = b', KEYS ), F.other() }",
    'for at, value in pairs(count) do count.at, value = value .. at, - 1 end',
    'F.Step_close__12(function(value) return value end)',
    '',
  ].join('\n');
  expect(shortenLua(text)).toBe(
    [
      "local b,d={count=F.A__12('count = b',KEYS),F.B()}",
      'for c,a in pairs(b)do b.at,a=a .. c,- 1 end',
      'F.A__12(function(a)return a end)',
      '',
    ].join('\n'),
  );
});

it('refuses a text that it could not tell from code', () => {
  expect(() => shortenLua('local x = "a"\n')).toThrow('not a text in single quotes');
  expect(() => shortenLua("local x = 'it\\'s'\n")).toThrow('not a text in single quotes');
});

it('sends Redis a library of at most 270 kB', () => {
  expect(SCRIPTS.library.text.length).toBeLessThanOrEqual(270_000);
});

it('refuses an include that does not exist', () => {
  const read = reader({ 'verb.lua': '-- @include lib/gone.lua\n' });
  expect(() => expandLua('verb.lua', read)).toThrow('lib/gone.lua');
});

it('strips comment lines, blank lines and indentation, and never the inside of a string', () => {
  const source = [
    '-- comment',
    '  local a = "-- not a comment" -- kept',
    '',
    'local b = [[',
    '  -- text',
    '',
    "]] .. '[['",
    '  --[==[ a long',
    '-- comment ]==] local c = 1',
    '    -- comment with [[ in it',
    'return a',
  ].join('\n');
  expect(stripLua(source)).toBe(
    [
      'local a = "-- not a comment" -- kept',
      'local b = [[',
      '  -- text',
      '',
      "]] .. '[['",
      '--[==[ a long',
      '-- comment ]==] local c = 1',
      'return a',
      '',
    ].join('\n'),
  );
});

it('reads a header, and the use that a script can reach', () => {
  const source = [
    '-- Ends a task that has run.',
    '--',
    '-- KEYS[1]  clock     hash',
    '-- ARGV[1]  id        the task',
    '-- ARGV[2]  now_ms    when',
    '-- Reads    task,',
    '--          user',
    '-- Writes   state, task',
    '-- Returns  {"ok"}',
    '-- Cost     O(1)',
    '',
    'local function unused()',
    '  return K.fair()',
    'end',
    'local function record(id)',
    "  return redis.call('HGET', keys.task(id), 'r')",
    'end',
    'local clock = KEYS[1]',
    'local id, nowMs = ARGV[1], tonumber(ARGV[2])',
    'return { record(id), key.state(id), keys.user(id), clock, nowMs }',
  ].join('\n');
  const header = headerOf(source);
  expect([...header.args]).toEqual([
    [1, 'id'],
    [2, 'now_ms'],
  ]);
  expect(header).toMatchObject({ returns: true, cost: true, more: false });
  const used = useOf(source);
  expect([...used.families].sort()).toEqual(['state', 'task', 'user']);
  expect([...used.names.values()]).toEqual(['clock', 'id', 'nowMs']);
  expect(used).toMatchObject({ anyArgs: false });
});

it('a script that names what nothing declares is refused', () => {
  expect(() => shortenLua('local a = b\n')).toThrow('names what nothing declares: b');
});
