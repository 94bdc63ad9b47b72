/** An error group by its name, however many stand before it. */
import { Fatal, task } from 'fairloom';
import { expect, it } from 'vitest';
import { askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

/** More than a page of the dashboard has. */
const GROUPS = 60;

const fail = task('fail', async (words: string) => {
  throw new Fatal(words);
});

eachStore(({ open }) => {
  // F136
  it('is found by its id on whatever page it stands, by callers of all users and of some', async () => {
    const loom = await open([fail]);
    for (let at = 0; at < GROUPS; at++) {
      // Words, since groups do not tell numbers apart.
      const words = [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
      await loom.enqueue(fail, `no ${words} here`, { user: 'acme' });
    }
    await loom.drain({ allowFailures: true });
    const all = askerOf(loom);
    const own = askerOf(loom, { access: () => ({ can: ['read'], users: ['acme'] }) });
    const none = askerOf(loom, { access: () => ({ can: ['read'], users: ['zeta'] }) });
    const known = (await loom.dead.groups({ limit: 500 })).items;
    expect(known).toHaveLength(GROUPS);
    const last = known.at(-1);
    expect((await all('/dead/groups')).text).not.toContain(last?.id);
    for (const group of [known[0], known[30], last]) {
      const path = `/dead/groups?group=${group?.id}`;
      expect((await all(path)).body).toEqual({ items: [group] });
      expect((await own(path)).body).toMatchObject({ items: [group] });
      expect((await none(path)).body).toMatchObject({ items: [] });
    }
    expect((await all('/dead/groups?group=0000000000000000')).body).toEqual({ items: [] });
  });
});
