/** The API and the page behind each server, mounted at a path of it. */
import 'reflect-metadata';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type HttpApi, nodeHandler } from 'fairloom/http';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, expect, it } from 'vitest';
import { expectMounted } from '../support/http/mounted.ts';

/** It brings no types. */
interface Express extends RequestListener {
  use(...parts: readonly unknown[]): Express;
}
const express: (() => Express) & { json(): unknown } = createRequire(import.meta.url)('express');

/** The one that servers mount which are no devDependencies; it has no types. */
const FIXTURE = '../fixtures/web-servers/api.mjs';
const { api, close }: { readonly api: HttpApi; close(): Promise<void> } = await import(FIXTURE);
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

const MOUNTS: Readonly<Record<string, () => Promise<Mounted>>> = {
  'node:http': () => listening(handler),
  'Express 5': () => listening(express().use('/fairloom', handler)),
  'Express 5 behind its parser of JSON': () =>
    listening(express().use(express.json()).use('/fairloom', handler)),
  'Fastify 5': async () => {
    const app = fastify();
    for (const path of ['/fairloom', '/fairloom/*']) {
      app.all(path, (request, reply) => {
        reply.hijack();
        handler(Object.assign(request.raw, { body: request.body }), reply.raw);
      });
    }
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
};

afterAll(close);

/** With a `Host` that `fetch` would not send. */
function statusUnder(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

// F102
// What a server before it has stored and removed is not in the way of the next.
it.each(Object.entries(MOUNTS))(
  '%s reads, changes, streams, and shows the page',
  async (_, mount) => {
    const mounted = await mount();
    try {
      // The page may not be built where these tests run.
      await expectMounted(`${mounted.url}/fairloom/`, 'perhaps');
      for (const path of ['', 'api/v1/', 'mark.svg']) {
        for (const host of ['a+b.evil.example', 'a, b', "it's", '127.1']) {
          const url = `${mounted.url}/fairloom/${path}`;
          expect([url, host, await statusUnder(url, host)]).toEqual([url, host, 400]);
        }
      }
    } finally {
      await mounted.close();
    }
  },
);
