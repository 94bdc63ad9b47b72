/** What is kept of users with a record, and of tasks that are tried again, when many go at once. */
import { expect, inject, it } from 'vitest';
import type { Decision, Leased } from '../../../src/domain/port/backend.ts';
import { adminOf, freshPrefix, kitOn } from '../faults/kit.ts';

const FINISH: Decision = { type: 'finish', result: 'null' };

async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  await kit.worker('w', { concurrency: 20 });
  const settle = (leased: readonly Leased[], decision: Decision) =>
    kit.backend.tasks.settle({
      worker: 'w',
      settlements: leased.map(({ id, token }) => ({ id, token, decision })),
    });
  const drift = async () => (await kit.backend.inspect.reconcile({ repair: false })).drift;
  return { prefix, kit, settle, drift };
}

function retry(error: string): Decision {
  const cause = { type: 'attempts', failure: 'error', made: 1, of: 9 } as const;
  return {
    type: 'retry',
    delayMs: 0,
    cause,
    error: JSON.stringify({ name: 'Error', message: error }),
  };
}

it('several tasks of a user who is counted begin and end in one call', async () => {
  const { kit, settle, drift } = await setUp();
  await kit.backend.users.set('ann', { maxRunning: 500 }, { queue: 'default' });
  await kit.send(...Array.from({ length: 12 }, () => ({ user: 'ann' })));
  const leased = await kit.lease(5);
  expect((await kit.backend.users.get('ann', 'default'))?.running).toBe(5);
  await settle(leased, FINISH);
  expect((await kit.backend.users.get('ann', 'default'))?.running).toBe(0);
  expect(await drift()).toEqual([]);
});

it('the record of a user of several levels goes with its tasks', async () => {
  const { prefix, kit, settle, drift } = await setUp();
  await kit.send({ user: 'ann', level: 5 }, { user: 'ann', level: 5 }, { user: 'ann', level: 4 });
  await settle(await kit.lease(3), FINISH);
  await kit.send({ user: 'ann', level: 5 }, { user: 'ann', level: 3 });
  await settle(await kit.lease(2), FINISH);
  expect(await adminOf().keys(`${prefix}:user:*`)).toEqual([]);
  expect(await drift()).toEqual([]);
});

it('many that are tried again keep one long error each, and know their former tokens', async () => {
  const { kit, settle } = await setUp();
  await kit.send(...Array.from({ length: 3 }, (_, nth) => ({ user: `u${nth}` })));
  const first = await kit.lease(3);
  await settle(first, retry('x'.repeat(9_000)));
  const second = await kit.lease(3);
  await settle(second, retry('y'.repeat(9_000)));
  const waiting = await settle(first.slice(1, 2), FINISH);
  expect(waiting.answers).toMatchObject([{ kind: 'ok', state: 'queued', repeated: true }]);
  const third = await kit.lease(3);
  const again = await settle(
    [first[0], second[0]].flatMap((one) => one ?? []),
    FINISH,
  );
  expect(again.answers).toMatchObject([{ kind: 'leaseLost' }, { kind: 'ok', repeated: true }]);
  for (const { id } of third) {
    const attempts = await kit.backend.inspect.attempts(id);
    expect(attempts.map(({ error }) => error !== undefined && error.length > 8_000)).toEqual([
      false,
      true,
    ]);
  }
  expect((await settle(third, FINISH)).answers.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
});
