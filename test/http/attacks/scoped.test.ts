/** A caller of some users, by the ways on which no body or no single answer is read: HEAD and streams. */
import { type HttpApi, httpApi } from 'fairloom/http';
import { beforeAll, expect, it } from 'vitest';
import { KINDS } from '../../../src/http/events/subject.ts';
import type { TestLoom } from '../../../src/testing/test-loom.ts';
import {
  addressOf,
  CURSOR_ROUTES,
  EVERY_ROUTE,
  named,
  requestFor,
  WALKED_TASKS,
  type Walked,
  walkedThings,
} from '../../support/http/every-route.ts';
import { eachStore } from '../../support/http/stores.ts';

const READS = EVERY_ROUTE.filter(({ method }) => method === 'GET');

/** What each kind of subject that has an id is an id of. */
const NOUNS: Readonly<Record<string, string>> = {
  task: 'tasks',
  log: 'tasks',
  explain: 'tasks',
  run: 'runs',
  graph: 'runs',
  timeline: 'runs',
  bulk: 'bulk',
};

/** What a filter, a state or a queue may be, by its place. */
const SAID: Readonly<Record<string, string>> = {
  '?queue': 'default',
  queue: 'default',
  '?state': 'failed',
  '?where': 'secret',
};

eachStore(({ open, quiet }) => {
  let loom: TestLoom;
  let api: HttpApi;
  let zeta: Walked;

  beforeAll(async () => {
    loom = await open(WALKED_TASKS);
    await walkedThings(loom, 'acme');
    zeta = await walkedThings(loom, 'zeta');
    api = httpApi(loom, { access: () => ({ can: 'all', users: ['acme'] }) });
  });

  const ask = (method: string, path: string): Promise<Response> =>
    api.fetch(requestFor(method, `http://host/api/v1${path}`));

  // F104
  it.each(named(READS))('HEAD of %s says no more of others than GET', async (_, one) => {
    const path = addressOf(one, zeta);
    const got = await ask('GET', path);
    const { status, body, headers } = await ask('HEAD', path);
    expect([path, status, body]).toEqual([path, got.status, null]);
    for (const [name, value] of headers)
      expect([name, value]).toEqual([name, expect.not.stringMatching(/zeta/)]);
    await got.body?.cancel();
  });

  it.each(Object.entries(KINDS))(
    'what is watched as %s tells nothing of others',
    async (kind, [, ...places]) => {
      const parts = places.map((place) => {
        if (place === 'user') return zeta.user;
        return SAID[place] ?? zeta.ids[NOUNS[kind] ?? ''] ?? '';
      });
      const watch = [kind, ...parts].join(':');
      const answer = await ask('GET', `/events?watch=${watch}`);
      expect([watch, answer.status]).toEqual([watch, 200]);
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('event: change')) {
        await loom.clock.advance('1s');
        await quiet();
        text += (await reader?.read())?.value ?? '';
      }
      await reader?.cancel();
      // What was asked for may be named.
      const told = text.replaceAll(watch, '').replaceAll('user zeta', '');
      const [asked = ''] = parts;
      expect([watch, told.replaceAll(asked === 'secret' ? '\n' : asked, '')]).toEqual([
        watch,
        expect.not.stringMatching(/zeta|secret of zeta/),
      ]);
    },
  );

  // Rules of cursors are asked of each list here.
  it.each(named(CURSOR_ROUTES))('%s takes no cursor that no list has given', async (_, one) => {
    const path = addressOf(one, { ...zeta, user: 'acme' });
    for (const cursor of ['odd', '%5B%5D', '1', 'AAAA']) {
      const address = `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
      const { status } = await ask('GET', address);
      // What is of others, or of all, is refused before that.
      expect([address, status]).toEqual([
        address,
        expect.toSatisfy((code) => [400, 403, 404].includes(code)),
      ]);
    }
  });
});
