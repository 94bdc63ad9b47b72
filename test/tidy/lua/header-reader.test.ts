/** How the header of a verb is read, and what the verb uses. */
import { expect, it } from 'vitest';
import { headerOf, useOf } from '../../support/docs/lua-header.ts';

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
