/** An error group by its name, however many stand before it. */
import { Fatal, task } from 'fairloom';
import type { HttpApiOptions } from 'fairloom/http';
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
  it('is found by its id on every page, by callers of all users and of some', async () => {
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

  it('the name of an error is no group: refused by every call that takes one, and found by a filter', async () => {
    const loom = await open([fail]);
    const { id } = await loom.enqueue(fail, 'no luck', { user: 'acme' });
    await loom.drain({ allowFailures: true });
    const [group] = (await loom.dead.groups()).items;
    const words = { code: 'INVALID_OPTION', detail: expect.stringContaining('error group') };
    const calls: readonly HttpApiOptions[] = [
      {},
      { redact: ['*.password'] },
      { hidePayloads: true },
      { access: () => ({ can: ['read'], users: ['acme'] }) },
      { access: () => ({ can: ['read'], users: [] }) },
    ];
    for (const options of calls) {
      const ask = askerOf(loom, options);
      for (const path of ['/dead?error=Fatal', '/export/dead?error=Fatal', '/dead?error=Error']) {
        const { status, body } = await ask(path);
        expect([path, status, body]).toMatchObject([path, 400, { ...words, option: 'error' }]);
      }
      expect((await ask('/dead?error=fatal:fail')).body).toEqual({ items: [] });
    }
    const all = askerOf(loom);
    expect((await all('/dead/groups?group=Fatal')).body).toMatchObject({
      ...words,
      option: 'group',
    });
    expect((await all(`/dead?error=${group?.id}`)).body).toMatchObject({ items: [{ id }] });
    const found = '/tasks?where=state:failed+error:Fatal';
    expect((await all(found)).body).toMatchObject({ items: [{ id }] });
    expect((await askerOf(loom, { hidePayloads: true })(found)).body).toMatchObject({
      items: [{ id }],
    });
    const hidden = await askerOf(loom, { redact: ['*.password'] })(`/dead?error=${group?.id}`);
    expect(hidden.body).toMatchObject({
      option: 'error',
      detail: expect.stringContaining('GET /tasks?where=state:failed+error:TypeError'),
    });
    for (const call of [
      () => loom.dead.list({ error: 'Fatal' }),
      () => loom.dead.redrive({ error: 'Fatal' }),
      () => loom.dead.remove({ error: 'Fatal' }),
      () => loom.tasks.list({ state: 'failed', error: 'Fatal' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'error' });
    }
  });
});
