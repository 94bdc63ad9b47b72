/** The API before encrypted values: readable with the key, said to be encrypted without it, and never a fault. */
import { randomBytes } from 'node:crypto';
import { encrypted, type Fairloom, ask as question, signal, task, waitFor } from 'fairloom';
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(`logged ${words}`, { words });
  await ctx.stream('out').write({ words });
  return { words };
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  throw new RangeError(`failed with ${words}`);
});
const asks = question({ title: 'sure of the secret?', choices: ['yes', 'no'], name: 'asks' });
const line = say.pipe(task('then', async ({ words }: { words: string }) => words)).as('line');
const waits = waitFor(signal<string>('go')).as('waits');
const TASKS = [say, fail, line, waits, asks];

const codec = () => encrypted({ keys: [{ id: 'k1', key: KEY }] });
const KEY = randomBytes(32);

eachStore(({ open, beside }) => {
  let loom: TestLoom;
  let keylessLoom: Fairloom;
  let otherLoom: Fairloom;
  let withKey: Ask;
  let without: Ask;
  let withOther: Ask;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    loom = await open(TASKS, { codec: codec() });
    const said = await loom.enqueue(say, 'secret', { user: 'acme' });
    const failed = await loom.enqueue(fail, 'secret', { user: 'acme' });
    const run = await loom.enqueue(line, 'secret', { user: 'acme' });
    await loom.enqueue(asks, undefined, { user: 'acme' });
    await loom.enqueue(waits, undefined, { user: 'acme' });
    const later = await loom.enqueue(say, 'secret', { user: 'acme', delay: '1d' });
    await loom.schedules.set('nightly', { every: '1h', task: say, input: 'secret', user: 'acme' });
    await loom.drain({ allowFailures: true });
    await loom.tasks.cancel(later.id, { reason: 'secret reason' });
    const [asked] = (await loom.asks.list({ user: 'acme' })).items;
    ids.set('said', said.id).set('failed', failed.id).set('run', run.id).set('later', later.id);
    ids.set('ask', asked?.id ?? '');
    withKey = askerOf(loom);
    keylessLoom = beside(loom, TASKS);
    without = askerOf(keylessLoom);
    const other = encrypted({ keys: [{ id: 'k2', key: randomBytes(32) }] });
    otherLoom = beside(loom, TASKS, { codec: other });
    withOther = askerOf(otherLoom);
  });

  const id = (name: string): string => ids.get(name) ?? '';
  const paths = (): readonly string[] => [
    `/tasks/${id('said')}`,
    `/tasks/${id('said')}/attempts`,
    `/tasks/${id('said')}/logs`,
    `/tasks/${id('said')}/streams`,
    `/tasks/${id('said')}/streams/out`,
    `/tasks/${id('said')}/explain`,
    `/tasks/${id('said')}/dependents`,
    `/tasks/${id('failed')}`,
    `/tasks/${id('failed')}/attempts`,
    `/tasks/${id('failed')}/explain`,
    `/tasks/${id('later')}`,
    `/tasks/${id('later')}/explain`,
    `/runs/${id('run')}`,
    `/runs/${id('run')}/graph`,
    `/runs/${id('run')}/timeline`,
    `/runs/${id('run')}/explain`,
    '/tasks?where=',
    '/tasks?where=user:acme',
    '/tasks?where=error:RangeError',
    '/tasks?where=secret',
    '/tasks?state=failed',
    '/runs?state=finished',
    '/dead',
    '/dead/groups',
    '/schedules',
    '/schedules/nightly',
    '/schedules/nightly/next',
    '/asks',
    `/asks/${id('ask')}`,
    '/audit',
    '/overview',
    '/users',
    '/users/acme',
    '/users/acme/history',
    '/series?step=minute',
    '/queues',
    '/versions',
    '/workers',
    '/bulk',
  ];

  it('shows what was written with the key', async () => {
    const shown: string[] = [];
    for (const path of paths()) {
      const { status, text } = await withKey(path);
      expect([path, status]).toEqual([path, 200]);
      expect([path, text]).toEqual([path, expect.not.stringMatching(/encrypted/)]);
      if (text.includes('secret')) shown.push(path.replace(/[\w-]{36}(\.\w+)?/, '{id}'));
    }
    expect(shown).toEqual([
      '/tasks/{id}',
      '/tasks/{id}/logs',
      '/tasks/{id}/streams/out',
      '/tasks/{id}',
      '/tasks/{id}/attempts',
      '/tasks/{id}/explain',
      '/tasks/{id}',
      '/tasks/{id}/explain',
      '/runs/{id}',
      '/tasks?where=',
      '/tasks?where=user:acme',
      '/tasks?where=error:RangeError',
      '/tasks?where=secret',
      '/tasks?state=failed',
      '/dead',
      '/dead/groups',
      '/schedules',
      '/schedules/nightly',
      '/asks',
      '/asks/{id}',
    ]);
    expect((await withKey('/tasks?where=error:RangeError')).body).toMatchObject({
      items: [{ id: id('failed') }],
    });
    expect((await withKey('/dead/groups')).body).toMatchObject({
      items: [{ error: 'RangeError', message: 'failed with secret', failed: 1 }],
    });
  });

  it.each(['no key', 'another key'])('says with %s that it is encrypted', async (which) => {
    const ask = which === 'no key' ? without : withOther;
    const refused: string[] = [];
    for (const path of paths()) {
      const { status, text, body } = await ask(path);
      expect([path, text]).toEqual([path, expect.not.stringMatching(/secret/)]);
      if (status === 200) continue;
      expect([path, body]).toMatchObject([path, { status: 422, code: 'DECRYPTION_FAILED' }]);
      refused.push(path.replace(/[\w-]{36}(\.\w+)?/, '{id}'));
    }
    // All of what these answer is encrypted.
    expect(refused).toEqual([
      '/tasks/{id}/logs',
      '/tasks/{id}/streams/out',
      '/runs/{id}/graph',
      '/runs/{id}/explain',
    ]);
    expect((await ask(`/tasks/${id('said')}`)).body).toMatchObject({ encryptedWith: 'k1' });
    expect((await ask(`/tasks/${id('failed')}`)).body).toMatchObject({
      attempts: [{ error: { message: '(encrypted with key k1)' } }],
    });
    const [group] = Object(Reflect.get(Object((await ask('/dead/groups')).body), 'items'));
    expect(group).toMatchObject({ failed: 1, message: '(encrypted with key …)' });
    expect((await ask(`/dead?error=${group.id}`)).body).toMatchObject({
      items: [{ id: id('failed') }],
    });
  });

  it.each(['no key', 'another key'])('pages, changes and audits with %s', async (which) => {
    const keyless = which === 'no key' ? keylessLoom : otherLoom;
    const acme = askerOf(keyless, { access: () => ({ can: 'all', users: ['acme'] }) });
    const all = askerOf(keyless);
    // The key of cursors is in the store, and encrypted.
    await askerOf(loom, { access: () => ({ can: 'all', users: ['acme'] }) })(
      '/tasks?where=&limit=1',
    );
    const seen = new Set<unknown>();
    let cursor: unknown = '';
    while (typeof cursor === 'string') {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const { status, body } = await acme(`/tasks?where=user:acme&limit=2${query}`);
      expect(status).toBe(200);
      for (const one of Object(Reflect.get(Object(body), 'items'))) seen.add(one.id);
      cursor = Reflect.get(Object(body), 'cursor');
    }
    expect(seen.size).toBe(7);
    const later = await loom.enqueue(say, 'secret', { user: 'acme', delay: '1d' });
    const post = (ask: Ask, path: string, json: object) => ask(path, { method: 'POST', json });
    expect((await post(all, `/tasks/${later.id}/cancel`, { reason: 'x' })).status).toBe(200);
    const again = await post(all, `/runs/${id('run')}/rerun`, { input: 'x' });
    expect(again.body).toMatchObject({ status: 422, code: 'DECRYPTION_FAILED' });
    await post(withKey, `/tasks/${later.id}/remove`, {});
    // Each reads what it can, and says of the others when they were made.
    const entries = async (ask: Ask) =>
      Object(Reflect.get(Object((await ask('/audit')).body), 'items')).map(
        ({ outcome }: { readonly outcome: string }) => outcome,
      );
    expect(await entries(withKey)).toEqual(
      expect.arrayContaining(['removed', 'DECRYPTION_FAILED']),
    );
    expect(await entries(all)).toEqual(expect.arrayContaining(['DECRYPTION_FAILED', 'canceled']));
  });
});
