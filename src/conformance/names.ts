import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

const QUEUES = ['one', 'two'] as const;

/** Who had the turns of a queue, by the places of the names. */
type History = (kit: Kit, queue: string, names: readonly string[]) => Promise<readonly number[]>;

/** The same history under other names, in a queue of its own, must give the same turns. */
async function sameUnder(
  kit: Kit,
  history: History,
  namings: readonly (readonly string[])[],
): Promise<void> {
  const turns: (readonly number[])[] = [];
  for (const [at, names] of namings.entries()) turns.push(await history(kit, `q${at}`, names));
  for (const each of turns) kit.expect(each).toEqual(turns[0]);
}

function slot(queue: string): { readonly queues: { queue: string; weight: 1; pass: 0 }[] } {
  return { queues: [{ queue, weight: 1, pass: 0 }] };
}

/** One slot. The loop enqueues its next task while the last runs; now and then the guest has one. */
const loopAndGuest: History = async (kit, queue, [loop = '', guest = '']) => {
  const turns: number[] = [];
  await kit.add({ queue, user: loop });
  for (let turn = 0; turn < 24; turn++) {
    const leased = await kit.leaseOne(slot(queue));
    turns.push([loop, guest].indexOf(leased.user));
    if (leased.user === loop) await kit.add({ queue, user: loop });
    if (turn % 5 === 1) await kit.add({ queue, user: guest });
    await kit.finish(leased);
  }
  return turns;
};

/** As that, but the loop enqueues its next task when the last has ended, which the guest's may see. */
const loopAtTheEnd: History = async (kit, queue, [loop = '', guest = '']) => {
  const turns: number[] = [];
  await kit.add({ queue, user: loop });
  for (let turn = 0; turn < 24; turn++) {
    const leased = await kit.leaseOne(slot(queue));
    turns.push([loop, guest].indexOf(leased.user));
    if (turn % 5 === 1) await kit.add({ queue, user: guest });
    await kit.finish(leased);
    if (leased.user === loop) await kit.add({ queue, user: loop });
  }
  return turns;
};

/** Users of several weights that come, go and come back, by a rule that knows no names. */
const comingAndGoing: History = async (kit, queue, names) => {
  const turns: number[] = [];
  for (const [at, user] of names.entries()) {
    await kit.setUser(user, { weight: [100, 200, 100, 400][at % 4] ?? 100 }, queue);
  }
  for (let round = 0; round < 40; round++) {
    for (const [at, user] of names.entries()) {
      if ((round * 7 + at * 5) % 11 < 3) await kit.addMany(1 + (at % 2), { queue, user });
    }
    for (const leased of await kit.lease(1 + (round % 3), slot(queue))) {
      turns.push(names.indexOf(leased.user));
      await kit.finish(leased);
    }
  }
  return turns;
};

const SIX = ['ann', 'bob', 'cem', 'dan', 'eve', 'fay'];
const OTHERS = ['eve', 'bob', 'fay', 'ann', 'dan', 'cem'];

/** A name gives no advantage: the user that comes first is served first under any name. */
export const names: Cases = {
  // F5
  'a guest beside a user in a loop waits as long under any name': async (kit) => {
    const namings = [
      ['a', 'z'],
      ['a', '0'],
    ];
    await sameUnder(kit, loopAndGuest, namings);
    await kit.rest();
    await sameUnder(
      kit,
      (again, queue, pair) => loopAtTheEnd(again, `${queue}-end`, pair),
      namings,
    );
  },

  // F5
  'users of several weights that come and go have the same turns under any names': async (kit) => {
    await sameUnder(kit, comingAndGoing, [SIX, OTHERS, SIX.toReversed()]);
  },

  // F5
  'users of one weight are served in the order they came, in every round': async (kit, expect) => {
    const order = ['m', 'z', 'b', 'y', 'a', 'n', '0', 'é'];
    for (const [at, queue] of QUEUES.entries()) {
      const users = at === 0 ? order : order.toReversed();
      for (const user of users) await kit.addMany(3, { queue, user });
      const served = (await kit.lease(24, slot(queue))).map(({ user }) => user);
      expect(served).toEqual([...users, ...users, ...users]);
    }
  },

  // F5
  'of one batch too, also while others have work': async (kit, expect) => {
    await kit.addMany(20, { user: 'k' });
    await kit.serve(5);
    await kit.send(...['t', 'c', 'x', 'a'].map((user) => ({ user })));
    const served = (await kit.lease(6)).map(({ user }) => user);
    expect(served.filter((user) => user !== 'k')).toEqual(['t', 'c', 'x', 'a']);
  },

  // F5
  'in a list of assigned users, where names do not break a tie either': async (kit, expect) => {
    for (const [at, [one = '', two = '']] of [
      ['a', 'z'],
      ['z', 'a'],
    ].entries()) {
      const queue = QUEUES[at] ?? '';
      await kit.worker(`w${at}`, { queues: [queue], assignedUsers: [one, two] });
      await kit.setUser(two, { weight: 200 }, queue);
      await kit.addMany(3, { queue, user: one });
      await kit.addMany(6, { queue, user: two });
      // The second turn of two would end when the first of one does, which began before.
      const served = await kit.lease(3, { worker: `w${at}`, ...slot(queue) });
      expect(served.map(({ user }) => user)).toEqual([two, one, two]);
    }
    await kit.worker('w2', { queues: ['three'], assignedUsers: ['n', 'b', 'x'] });
    for (const user of ['x', 'b', 'n']) await kit.addMany(2, { queue: 'three', user });
    const served = await kit.lease(6, { worker: 'w2', ...slot('three') });
    expect(served.map(({ user }) => user)).toEqual(['x', 'b', 'n', 'x', 'b', 'n']);
  },
};
