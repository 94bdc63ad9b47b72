/** The API behind a server of Node. */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { task } from 'fairloom';
import { httpApi, nodeHandler } from 'fairloom/http';
import { testLoom } from 'fairloom/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const greet = task('greet', async (name: string) => `hello ${name}`);
const loom = testLoom([greet]);
const api = httpApi(loom, { access: () => 'all' });
let server: Server;
let base = '';

beforeAll(async () => {
  server = createServer(nodeHandler(api));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/api/v1`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  await loom.close();
});

const POST = {
  method: 'POST',
  headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
};

it('reads, and changes', async () => {
  const made = await fetch(`${base}/tasks`, { ...POST, body: '{"name":"greet","input":"ann"}' });
  expect(made.status).toBe(201);
  const id = String(Reflect.get(Object(await made.json()), 'id'));
  const got = await fetch(`${base}/tasks/${id}`);
  expect(await got.json()).toMatchObject({ id, input: 'ann' });
  expect((await fetch(`${base}/tasks/none`, { method: 'HEAD' })).status).toBe(404);
});

it('takes no more of a body than it has to', async () => {
  const answer = await fetch(`${base}/tasks`, { ...POST, body: 'x'.repeat(3_000_000) }).then(
    ({ status }) => status,
    // The server need not read to the end of what it has refused.
    () => 413,
  );
  expect(answer).toBe(413);
  expect((await fetch(`${base}/`)).status).toBe(200);
});

it('takes strange paths for what they are', async () => {
  const ask = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { port } = new URL(base);
      const sent = httpRequest({ port, path, headers: { host: 'ok' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
  expect(await ask('/x/api/v1/../../api/v1/')).toBe(400);
  expect(await ask('/api/v1/tasks/%ff')).toBe(400);
  expect(await ask('//evil/api/v1/overview')).toBe(200);
});

// F113
it('a server that is closed as the guide says ends its streams, and is closed then', async () => {
  const own = testLoom([greet]);
  const closing = createServer(nodeHandler(httpApi(own, { access: () => 'all' })));
  await new Promise<void>((resolve) => {
    closing.listen(0, '127.0.0.1', resolve);
  });
  const { port } = closing.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/v1/events?watch=overview`;
  const reader = (await fetch(url)).body?.getReader();
  await reader?.read();
  // One that never reads does not stop it either.
  const deaf = httpRequest(url, (response) => response.pause());
  deaf.on('error', () => undefined).end();
  const connections = (): Promise<number> =>
    new Promise((resolve) => closing.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(2);
  const closed = new Promise<void>((resolve, reject) => {
    closing.close(() => {
      own.close().then(resolve, reject);
    });
  });
  let isOver = false;
  while (!isOver) isOver = (await reader?.read())?.done ?? true;
  await closed;
  deaf.destroy();
});

it('a stream ends for the API when its reader goes', async () => {
  const stop = new AbortController();
  const response = await fetch(`${base}/events?watch=overview`, { signal: stop.signal });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(new TextDecoder().decode(first?.value)).toContain('retry:');
  stop.abort();
  await expect(reader?.read()).rejects.toThrow();
});

// F113
it('a stream that is not read, and does not end by itself, keeps no server from closing', async () => {
  const chunk = new Uint8Array(1_000_000);
  const body = new ReadableStream<Uint8Array>({ pull: (out) => out.enqueue(chunk) });
  const headers = { 'content-type': 'text/event-stream' };
  const closing = createServer(nodeHandler({ fetch: async () => new Response(body, { headers }) }));
  await new Promise<void>((resolve) => {
    closing.listen(0, '127.0.0.1', resolve);
  });
  const { port } = closing.address() as AddressInfo;
  const deaf = httpRequest({ port, host: '127.0.0.1' });
  deaf.on('error', () => undefined).end();
  await new Promise<void>((resolve) => {
    deaf.once('response', (response) => {
      response.pause();
      resolve();
    });
  });
  await new Promise((resolve) => closing.close(resolve));
  const left = new Promise((resolve) => closing.getConnections((_, count) => resolve(count)));
  expect(await left).toBe(0);
  deaf.destroy();
});

it('a stream that goes on keeps nothing of what it has sent', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('nothing can be collected');
  const chunks: WeakRef<Uint8Array>[] = [];
  let out: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      out = controller;
    },
  });
  const endless = createServer(nodeHandler({ fetch: async () => new Response(body) }));
  await new Promise<void>((resolve) => {
    endless.listen(0, '127.0.0.1', resolve);
  });
  const { port } = endless.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  const reader = answer.body?.getReader();
  for (let at = 0; at < 100; at++) {
    const chunk = new Uint8Array(1_000);
    chunks.push(new WeakRef(chunk));
    out?.enqueue(chunk);
    await reader?.read();
  }
  // What a turn of the event loop has seen of a WeakRef it keeps.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const kept = chunks.filter((chunk) => chunk.deref() !== undefined).length;
  expect(kept).toBeLessThan(20);
  await reader?.cancel();
  endless.closeAllConnections();
  endless.close();
});
