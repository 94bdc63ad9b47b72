/** What only looks changes nothing: what was looked at is not written down, and is not there after a crash. */
import { expect, it } from 'vitest';
import { partsOn } from '../../../src/backends/memory/parts.ts';
import { Store } from '../../../src/backends/memory/store/store.ts';
import { newTask } from '../../support/file/some-state.ts';
import { stateText } from '../../support/file/state-text.ts';
import { HandClock } from '../../support/hand-clock.ts';

it('a look at users and their tasks leaves the state as it was', async () => {
  const store = new Store(new HandClock());
  const { tasks, users, inspect } = partsOn(store);
  await tasks.enqueue([newTask({ id: 'a' }), newTask({ id: 'b' })], { atomic: true });
  const before = stateText(store);
  await users.get('ann', 'default');
  await users.list('default', { limit: 10 });
  await inspect.facts('b');
  expect(stateText(store)).toBe(before);
});
