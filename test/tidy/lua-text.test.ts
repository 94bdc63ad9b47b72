/** The bundler's two text steps. */
import { expect, it } from 'vitest';
import { expandLua, stripLua } from '../../scripts/lua-text.ts';
import { headerOf, useOf } from '../support/lua-header.ts';

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
