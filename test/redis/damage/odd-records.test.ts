/** What is kept of users with a record when many of their tasks go at once. */
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
