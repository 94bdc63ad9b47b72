/** The API and the page behind each server, mounted at a path of it. */
import 'reflect-metadata';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { task } from 'fairloom';
import { httpApi, nodeHandler } from 'fairloom/http';
import { testLoom } from 'fairloom/testing';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, describe, expect, it } from 'vitest';

/** It brings no types. */
interface Express extends RequestListener {
  use(...parts: readonly unknown[]): Express;
}
const express: (() => Express) & { json(): unknown } = createRequire(import.meta.url)('express');

const greet = task('greet', async (name: string) => `hello ${name}`);
const loom = testLoom([greet]);
const api = httpApi(loom, { access: () => 'all' });
const handler = nodeHandler(api);

interface Mounted {
  readonly url: string;
  close(): Promise<unknown>;
}

async function listening(listener: RequestListener): Promise<Mounted> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Route handlers of Next.js get a web request, and answer one. */
const route = {
  GET: (request: Request) => api.fetch(request),
  POST: (request: Request) => api.fetch(request),
};

const MOUNTS: Readonly<Record<string, () => Promise<Mounted>>> = {
  'node:http': () => listening(handler),
  'Express 5': () => listening(express().use('/fairloom', handler)),
  'Express 5 behind its parser of JSON': () =>
    listening(express().use(express.json()).use('/fairloom', handler)),
  'Fastify 5': async () => {
    const app = fastify();
    app.all('/fairloom/*', (request, reply) => {
      reply.hijack();
      handler(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return {
      url,
      close: () => {
        app.server.closeAllConnections();
        return app.close();
      },
    };
  },
  Hono: () => {
    const app = new Hono().all('/fairloom/*', ({ req }) => api.fetch(req.raw));
    return listening(getRequestListener(app.fetch));
  },
  NestJS: async () => {
    class AppModule {}
    Module({})(AppModule);
    const app = await NestFactory.create(AppModule, { logger: false });
    app.use('/fairloom', handler);
    await app.listen(0, '127.0.0.1');
    return {
      url: await app.getUrl(),
      close: () => {
        Object(app.getHttpServer()).closeAllConnections();
        return app.close();
      },
    };
  },
  'route handlers of Next.js': () =>
    listening(
      getRequestListener((request) =>
        request.method === 'POST' ? route.POST(request) : route.GET(request),
      ),
    ),
};

afterAll(() => loom.close());

describe.each(Object.entries(MOUNTS))('%s', (_name, mount) => {
  it('reads, changes, streams, and shows the page', async () => {
    const { url, close } = await mount();
    try {
      const base = `${url}/fairloom/`;
      const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'greet', input: 'ann ☂' });
      const made = await fetch(`${base}api/v1/tasks`, { method: 'POST', headers, body });
      expect(made.status).toBe(201);
      const id = String(Reflect.get(Object(await made.json()), 'id'));
      const got = await fetch(`${base}api/v1/tasks/${id}`);
      expect(await got.json()).toMatchObject({ id, input: 'ann ☂' });
      expect(got.headers.get('x-content-type-options')).toBe('nosniff');
      expect((await fetch(`${base}api/v1/tasks/none`)).status).toBe(404);
      const stop = new AbortController();
      const stream = await fetch(`${base}api/v1/events?watch=task:${id}`, { signal: stop.signal });
      const reader = stream.body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('retry:');
      stop.abort();
      const page = await fetch(base);
      // The page may not be built where the tests run; that it is asked for is what counts here.
      expect([200, 503]).toContain(page.status);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    } finally {
      await close();
    }
  });
});
