/** One task, or one settlement, is sent as it would be among many: its arguments are written without lists of them. */
import { expect, it } from 'vitest';
import { INLINE, pushSettlements, pushTasks } from '../../src/backends/redis/wire/encode.ts';
import type { ScriptArgument } from '../../src/backends/redis/wire/script.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Settlement } from '../../src/domain/port/leasing.ts';
import type { NewTask } from '../../src/domain/task/task.ts';

function taskOf(id: string, fields: Partial<NewTask> = {}): NewTask {
  return {
    id,
    ...{ name: 'job', queue: 'q', user: 'ann', level: 3, cost: 1, payload: '1', options: '{}' },
    dependsOn: [],
    edges: { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse', allowCrossUser: false },
    ...fields,
  };
}

function tasksSent(...tasks: readonly NewTask[]): readonly ScriptArgument[] {
  const args: ScriptArgument[] = [];
  pushTasks(args, tasks);
  return args;
}

function settlementsSent(...settlements: readonly Settlement[]): readonly ScriptArgument[] {
  const args: ScriptArgument[] = [];
  pushSettlements(args, settlements);
  return args;
}

const TASKS: Readonly<Record<string, Partial<NewTask>>> = {
  'as most are': {},
  'of another level': { level: 1 },
  'with a payload of its own': { payload: `"${'x'.repeat(INLINE)}"` },
  'that starts later': { delayMs: 5 },
};

it.each(Object.entries(TASKS))('a task %s', (_, fields) => {
  const [counts, user, queue, id, blob, ...more] = tasksSent(taskOf('a', fields));
  const [both, ...others] = tasksSent(taskOf('a', fields), taskOf('b'));
  expect(both).toBe(String(counts).replace(/^1 (.*) 1$/, '2 $1 2'));
  expect(others).toEqual([user, queue, id, 'b', blob, expect.any(String), ...more]);
});

const SETTLEMENTS: Readonly<Record<string, Settlement>> = {
  'as most are': { id: 'a', token: 't', decision: { type: 'finish', result: '1' } },
  'with a long result': {
    ...{ id: 'a', token: 't' },
    decision: { type: 'finish', result: 'x'.repeat(LIMITS.apartBytes + 1) },
  },
  'with writes': {
    ...{ id: 'a', token: 't', decision: { type: 'finish', result: '1' } },
    channel: { run: 'r', writes: [{ type: 'delete', field: 'f' }] },
  },
  'that is no end': {
    ...{ id: 'a', token: 't' },
    decision: { type: 'release', cause: { type: 'shutdown' } },
  },
};

it.each(Object.entries(SETTLEMENTS))('a settlement %s', (_, settlement) => {
  const usual: Settlement = { id: 'b', token: 't', decision: { type: 'finish', result: '2' } };
  const [counts, token, id, first, ...more] = settlementsSent(settlement);
  const [both, ...others] = settlementsSent(settlement, usual);
  expect(both).toBe(String(counts).replace(/^1 (.*) 1$/, '2 $1 2'));
  expect(others).toEqual([token, id, 'b', first, '2', ...more]);
});

it('a task that stands in a call twice is not settled as most are the second time', () => {
  const usual: Settlement = { id: 'a', token: 't', decision: { type: 'finish', result: '1' } };
  expect(settlementsSent(usual, usual)).toEqual([
    '2 1 2',
    ...['t', 'a', 'a', '1', '1'],
    ...[2, 'finish', '', ''],
  ]);
});
