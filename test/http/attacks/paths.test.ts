/** Addresses that lead elsewhere than rules by path see: behind another route, or by what a URL takes out of them. */
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fairloom } from 'fairloom';
import { type HttpApi, httpApi, nodeHandler } from 'fairloom/http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  addressOf,
  EVERY_ROUTE,
  expectProblem,
  named,
  noted,
  requestFor,
  WALKED_TASKS,
  type Walked,
  walkedThings,
} from '../../support/http/every-route.ts';
import { eachStore } from '../../support/http/stores.ts';

const BEFORE = ['/overview', '', '/nothing', '/tasks/a', '/events'];

/** Ways to write the address of a route that a URL makes that address of, and some that cannot be decoded. */
function bent(address: string): readonly string[] {
  const [path = '', query] = address.split('?');
  const rest = query === undefined ? '' : `?${query}`;
  const base = '/fairloom/api/v1';
  const dots = ['.', '%2e', '%2E', 'x/..', 'x/%2e%2e', 'x/.%2E', 'x/%2e.'];
  return [
    ...dots.flatMap((step) => [
      `${base}/${step}${path}`,
      `/${step}${base}${path}`,
      `/fairloom/${step}/api/v1${path}`,
      `${base}${path}/${step}`.replace('//', '/'),
    ]),
    `${base}${path.replace('/', '\\')}`,
    `/fairloom\\api\\v1${path}`,
    `${base}/tasks/..\\${path.slice(1)}`,
    `${base}/tasks\\..${path}`,
    `${base}${path}#x`,
    `${base}${path}/%zz`,
    `${base}${path}/%ff`,
    `${base}${path}%`,
  ].map((one) => `${one}${rest}`);
}

eachStore(({ open, beside }) => {
  const calls: string[] = [];
  let api: HttpApi;
  let things: Walked;
  let loom: Fairloom;
  const asked: string[] = [];
  const server = createServer();

  beforeAll(async () => {
    const owner = await open(WALKED_TASKS);
    things = await walkedThings(owner, 'acme');
    loom = beside(owner, WALKED_TASKS, { wrap: noted(calls) });
    const access = ({ url }: Request): 'all' => {
      asked.push(url);
      return 'all';
    };
    api = httpApi(loom, { access, rate: { limit: 1_000_000, per: '1s' } });
    server.on('request', nodeHandler(api));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sent as it is, which `fetch` does not do. */
  function sent(method: string, path: string): Promise<Response> {
    const { port } = server.address() as AddressInfo;
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      httpRequest({ port, host: '127.0.0.1', method, path, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () =>
          resolve(new Response(text, { status: response.statusCode ?? 0 })),
        );
      })
        .once('error', reject)
        .end();
    });
  }

  // F103
  it.each(named(EVERY_ROUTE))('%s is not found behind another route', async (_, one) => {
    calls.length = 0;
    for (const first of BEFORE) {
      const path = `/fairloom/api/v1${first}/api/v1${addressOf(one, things)}`;
      const answer = await api.fetch(requestFor(one.method, `http://host${path}`));
      await expectProblem(answer, [path, 404, 'NOT_FOUND']);
    }
    expect(calls).toEqual([]);
  });

  // F103
  it.each(named(EVERY_ROUTE))('%s is not found by dots and backslashes', async (_, one) => {
    calls.length = 0;
    asked.length = 0;
    for (const target of bent(addressOf(one, things))) {
      const about = `${one.method} ${target}`;
      await expectProblem(await sent(one.method, target), [about, 400, 'INVALID_PATH']);
      const request = requestFor(one.method, 'http://host/fairloom/api/v1/overview');
      await expectProblem(await api.fetch(request, { target }), [about, 400, 'INVALID_PATH']);
    }
    expect([...asked, ...calls]).toEqual([]);
  });

  // F103
  it('the page is not found so either, and what only looks so is an ordinary path', async () => {
    for (const target of ['/x/../', '/fairloom\\', '/%2e/mark.svg', '/%zz']) {
      await expectProblem(await sent('GET', target), [target, 400, 'INVALID_PATH']);
    }
    for (const id of ['...', '.a', '%252e', '%2F..', 'a%5Cb', '..%5Cb', 'a%23b', '%20']) {
      const { status } = await sent('GET', `/fairloom/api/v1/users/${id}`);
      expect([id, status]).toEqual([id, 404]);
    }
    const query = 'state=queued&user=a\\..&name=/../x%zz';
    const answer = await sent('GET', `/fairloom/api/v1/tasks?${query}`);
    expect(await answer.text()).not.toContain('INVALID_PATH');
  });
});
