/** Requests under names of others: by no route, and not for the page. */
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Fairloom } from 'fairloom';
import { type HttpApi, httpApi, nodeHandler } from 'fairloom/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const KNOWN = ['queue.example:8080', '127.0.0.1:8080', '[::1]:8080'];

/** Not known, or not to be read at all; what stands for them must not be a name that is known. */
const FOREIGN: readonly string[] = [
  'evil.example:8080',
  'queue.example',
  'queue.example:80',
  'queue.example:08080',
  'queue.example.:8080',
  'queue.example:8080.evil.example',
  'evil.queue.example:8080',
  'x@queue.example:8080',
  'queue.example:8080@evil.example',
  'queue.example:8080/evil',
  'a+b.evil.example:8080',
  'a~b.evil.example:8080',
  "it's.evil.example:8080",
  '{x}.evil.example:8080',
  'a&b.evil.example:8080',
  'a,b.evil.example:8080',
  'queue.example:8080, evil.example',
  'queue.example:8080 evil.example',
  'a b',
  '2130706433:8080',
  '127.1:8080',
  '0.0.0.0:8080',
  '[0:0:0:0:0:0:0:1]:8080',
  ' ',
];

const PAGE = ['/', '/mark.svg', '/users/default', '/assets/index-A1.js', '/..%2fsecret'];

eachStore(({ open, beside }) => {
  const calls: string[] = [];
  let api: HttpApi;
  let things: Walked;
  let loom: Fairloom;

  beforeAll(async () => {
    const owner = await open(WALKED_TASKS);
    things = await walkedThings(owner, 'acme');
    loom = beside(owner, WALKED_TASKS, { wrap: noted(calls) });
    api = httpApi(loom, { access: () => 'all', hosts: KNOWN });
  });

  // F102
  it.each(named(EVERY_ROUTE))(
    '%s answers 400 under every name that is not known',
    async (_, one) => {
      const path = `/api/v1${addressOf(one, things)}`;
      calls.length = 0;
      for (const method of [one.method, 'HEAD']) {
        for (const host of FOREIGN) {
          const request = requestFor(method, `http://queue.example:8080${path}`, { host });
          const about = `${method} ${path} ${host}`;
          const answer = await api.fetch(request);
          if (method !== 'HEAD') await expectProblem(answer, [about, 400, 'UNKNOWN_HOST']);
          else expect([about, answer.status, answer.body]).toEqual([about, 400, null]);
        }
      }
      expect(calls).toEqual([]);
    },
  );

  // F102
  it('the page, its files and what is missing answer the same', async () => {
    for (const path of PAGE) {
      for (const host of FOREIGN) {
        const request = requestFor('GET', `http://queue.example:8080${path}`, { host });
        await expectProblem(await api.fetch(request), [`${path} ${host}`, 400, 'UNKNOWN_HOST']);
      }
    }
  });

  // F102
  it('a known name is known in capitals too, and from the address where there is no header', async () => {
    for (const host of [...KNOWN, 'QUEUE.example:8080']) {
      const request = requestFor('GET', 'http://other/api/v1/', { host });
      expect([host, (await api.fetch(request)).status]).toEqual([host, 200]);
      const bare = new Request(`http://${host}/api/v1/`);
      expect([host, (await api.fetch(bare)).status]).toEqual([host, 200]);
    }
    expect((await api.fetch(new Request('http://evil.example/api/v1/'))).status).toBe(400);
  });
});

describe('behind a server of Node', () => {
  const seen: string[] = [];
  const handler = nodeHandler({
    fetch: async ({ url }) => {
      seen.push(url);
      return new Response('here');
    },
  });
  const server = createServer(handler);

  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const port = (): number => (server.address() as AddressInfo).port;

  /** What the server says to these bytes, in its first line. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port(), '127.0.0.1');
      let said = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        said += part;
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(said.split('\r\n')[0] ?? ''));
      socket.end(text);
    });
  }

  // F102
  it('a Host that is missing, said twice, or cannot be read is no other one', async () => {
    const end = 'Connection: close\r\n\r\n';
    const sent = [
      'GET / HTTP/1.0\r\n\r\n',
      `GET / HTTP/1.1\r\n${end}`,
      `GET / HTTP/1.1\r\nHost:\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: a, b\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: a+b.evil.example\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: 2130706433\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: 0x7f.1:80\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: [0:0:0:0:0:0:0:1]\r\n${end}`,
      `GET / HTTP/1.1\r\nHost: a:99999\r\n${end}`,
      `GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n${end}`,
      `OPTIONS * HTTP/1.1\r\nHost: a\r\n${end}`,
    ];
    for (const text of sent) {
      expect([text, await raw(text)]).toEqual([text, expect.stringMatching(/^HTTP\/1\.1 400 /)]);
    }
    expect(seen).toEqual([]);
    expect(await raw(`GET /x HTTP/1.1\r\nHost: A.example:1\r\n${end}`)).toContain('200');
    expect(seen).toEqual(['http://a.example:1/x']);
  });

  // F102
  it('says in words what is wrong', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { host: 'a b' };
      httpRequest({ port: port(), host: '127.0.0.1', headers }, (response) => {
        response.setEncoding('utf8').once('data', resolve);
      })
        .once('error', reject)
        .end();
    });
    expect(text).toContain('Host');
  });
});
