/** What `redact` and `hidePayloads` keep back, by every route that could show it, by streams and exports. */
import { ask as question, task } from 'fairloom';
import { type HttpApiOptions, httpApi } from 'fairloom/http';
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

/** Under a key that is redacted; and the same where only words are. */
const SECRET = 'opensesame';

const login = task(
  'login',
  { keepLogs: 'always', retries: 0 },
  async (input: { readonly password: string; readonly fails: boolean }, ctx) => {
    ctx.log.info(`login password=${input.password}`, { password: input.password });
    ctx.progress(0.5, `half of password: ${input.password}`);
    await ctx.stream('out').write({ user: 'ann', password: input.password });
    if (input.fails) throw new Error(`refused password=${input.password} at once`);
    return { password: input.password, token: 'shown' };
  },
);
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });
const again = task('again', async (input: { readonly password: string }) => input);
const line = login.pipe(again).as('line');

const OPTIONS = {
  redact: { redact: ['*.password'] },
  hidePayloads: { hidePayloads: true },
} satisfies Record<string, HttpApiOptions>;

eachStore(({ open, quiet }) => {
  let loom: TestLoom;
  const ids = new Map<string, string>();
  const id = (name: string): string => ids.get(name) ?? '';

  beforeAll(async () => {
    loom = await open([login, line, asks]);
    const input = { password: SECRET, fails: false };
    const user = { user: 'acme' };
    ids.set('done', (await loom.enqueue(login, input, user)).id);
    ids.set('failed', (await loom.enqueue(login, { ...input, fails: true }, user)).id);
    ids.set('run', (await loom.enqueue(line, input, user)).id);
    ids.set('broken', (await loom.enqueue(line, { ...input, fails: true }, user)).id);
    ids.set('later', (await loom.enqueue(login, input, { ...user, delay: '1d' })).id);
    await loom.enqueue(asks, undefined, user);
    await loom.schedules.set('nightly', { every: '1h', task: login, input, user: 'acme' });
    await loom.drain({ allowFailures: true });
    const [failed] = (await loom.tasks.list({ state: 'failed', name: 'login' })).items;
    ids.set('group', Reflect.get(Object(failed?.cause), 'fingerprint'));
    await loom.tasks.cancel(id('later'), { reason: `password=${SECRET}` });
    const [asked] = (await loom.asks.list()).items;
    ids.set('ask', asked?.id ?? '');
    const form = { password: SECRET };
    const comment = `password=${SECRET}`;
    await loom.asks.answer(id('ask'), { choice: 'yes', by: 'ann', form, comment });
    await loom.drain();
  });

  /** Each shows the secret to whom nothing is hidden. */
  const shown = (): readonly string[] => [
    ...['done', 'failed', 'later'].map((name) => `/tasks/${id(name)}`),
    `/tasks/${id('failed')}/attempts`,
    `/tasks/${id('done')}/logs`,
    `/tasks/${id('done')}/streams/out`,
    `/tasks/${id('later')}/explain`,
    `/tasks/${id('failed')}/explain`,
    `/runs/${id('run')}`,
    `/runs/${id('broken')}`,
    `/runs/${id('broken')}/explain`,
    '/tasks?where=',
    `/tasks?where=${SECRET}`,
    '/tasks?state=failed',
    '/runs?state=failed',
    '/dead',
    '/dead/groups',
    '/schedules',
    '/schedules/nightly',
    `/asks/${id('ask')}`,
    '/export/tasks?where=',
    '/export/tasks?where=&format=csv',
    '/export/dead',
    '/export/dead?format=csv',
    '/export/runs?state=failed&format=csv',
  ];

  const subjects = () =>
    [
      `task:${id('done')}`,
      `task:${id('failed')}`,
      `log:${id('done')}`,
      `explain:${id('later')}`,
      `run:${id('run')}`,
      `run:${id('broken')}`,
      'tasks:state%3Afailed',
      'dead',
      'errors',
      'schedules',
    ].join();

  const error = (): string => ids.get('group') ?? '';

  /** Each would find, group or count by the words of errors, in which the secret stands. */
  const refused = (): readonly string[] => [
    ...['tasks', 'export/tasks'].flatMap((list) =>
      [
        SECRET,
        `-${SECRET}`,
        `state:failed "ref"`,
        `error:${error()}`,
        `-error:Error,${error()}`,
      ].map((where) => `/${list}?where=${encodeURIComponent(where)}`),
    ),
    `/tasks?where=${SECRET}`,
    '/dead/groups',
    `/dead?error=${error()}`,
    `/export/dead?error=${error()}`,
  ];

  // F106
  it.each(Object.entries(OPTIONS))(
    '%s: nothing is found, grouped or counted by what is not shown',
    async (_, options) => {
      for (const access of ['all', { can: 'all', users: ['acme'] }] as const) {
        const ask: Ask = askerOf(loom, { access: () => access, ...options });
        for (const path of refused()) {
          const { status, body } = await ask(path);
          expect([path, status, body]).toEqual([
            path,
            400,
            expect.objectContaining({
              code: 'INVALID_OPTION',
              option: expect.stringMatching(/^(where|error|groups)$/),
              detail: expect.stringContaining('the words of errors are not shown here'),
            }),
          ]);
        }
        for (const path of ['where=error:Error', 'where=name:login', `where=id:${id('failed')}`]) {
          expect((await ask(`/tasks?${path}`)).body).toMatchObject({
            items: expect.arrayContaining([expect.objectContaining({ id: id('failed') })]),
          });
        }
        // A hash of them would let guesses be tried.
        const { text } = await ask(`/tasks/${id('failed')}`);
        expect(text).not.toContain(error());
        expect((await ask('/')).body).toMatchObject({
          features: expect.not.arrayContaining(['errors']),
        });
      }
      const json = { where: SECRET, action: 'remove', dryRun: true };
      expect((await askerOf(loom, options)('/bulk', { method: 'POST', json })).status).toBe(400);
      const watched = await streamed(options, `tasks:${SECRET},errors`);
      expect(watched).toContain('the words of errors are not shown here');
      expect(watched).not.toContain('"items"');
    },
  );

  async function streamed(options: HttpApiOptions, watch = subjects()): Promise<string> {
    const api = httpApi(loom, { access: () => 'all', ...options });
    const url = `http://h/api/v1/events?watch=${encodeURIComponent(watch)}`;
    const reader = (await api.fetch(new Request(url))).body?.getReader();
    let text = '';
    const reading = (async () => {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) return;
        text += new TextDecoder().decode(value);
      }
    })();
    for (let at = 0; at < 8; at++) {
      await loom.clock.advance('250ms');
      await quiet();
    }
    await reader?.cancel();
    await reading;
    return text;
  }

  it('everything is shown where nothing is hidden, so that what follows can fail', async () => {
    const ask = askerOf(loom);
    const without = [];
    for (const path of shown()) {
      const { text } = await ask(path);
      if (!text.includes(SECRET)) without.push(path);
    }
    expect(without).toEqual([]);
    expect(await streamed({})).toContain(SECRET);
  });

  it.each(Object.entries(OPTIONS))('%s', async (name, options) => {
    for (const access of ['all', { can: 'all', users: ['acme'] }] as const) {
      const ask: Ask = askerOf(loom, { access: () => access, ...options });
      for (const path of shown().filter((one) => !refused().includes(one))) {
        const { status, text } = await ask(path);
        const isWhole = status === 403 && access !== 'all';
        expect([path, isWhole ? 200 : status]).toEqual([path, 200]);
        expect([path, text]).toEqual([path, expect.not.stringContaining(SECRET)]);
      }
    }
    const text = await streamed(options);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('fingerprint');
    expect(text).toContain('event: change');
    if (name === 'redact') expect(text).toContain('[redacted]');
    // What changes answer, and what the audit keeps of them.
    const ask = askerOf(loom, options);
    const json = { name: 'login', input: { password: SECRET, fails: false }, delay: '1d' };
    const made = await ask('/tasks', { method: 'POST', json });
    const made2 = await ask('/tasks', { method: 'POST', json: { ...json, name: SECRET, odd: 1 } });
    expect([made.status, made2.status]).toEqual([201, 400]);
    const reason = { reason: `password=${SECRET}` };
    const one = String(Reflect.get(Object(made.body), 'id'));
    const canceled = await ask(`/tasks/${one}/cancel`, { method: 'POST', json: reason });
    const schedule = await ask('/schedules/nightly/pause', { method: 'POST' });
    const audit = await ask('/audit');
    for (const { text } of [made, canceled, schedule, audit]) expect(text).not.toContain(SECRET);
    await ask('/schedules/nightly/resume', { method: 'POST' });
  });
});
