/** Mounts an HTTP API on servers of Node: `node:http`, Express, Fastify, Nest. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import type { HttpApi } from './http-api.ts';

/** A request of a server of Node, also of a framework that has changed it on its way. */
export interface NodeRequest extends IncomingMessage {
  /** As it came, where the framework has cut its mount off. */
  readonly originalUrl?: string;
  /** As a parser of the framework has read it. */
  readonly body?: unknown;
}

/** A function for `createServer`, `app.use` and the like. */
export type NodeHandler = (request: NodeRequest, response: ServerResponse) => void;

/**
 * Hands requests of a server of Node to an API.
 *
 * @throws `InvalidOptionError` when that is none.
 */
export function nodeHandler(api: HttpApi): NodeHandler {
  if (typeof api?.fetch !== 'function') {
    throw new InvalidOptionError('api', 'what httpApi has made', api);
  }
  return (request, response) => {
    const client = request.socket.remoteAddress;
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const answering = async (): Promise<void> =>
      send(response, await api.fetch(webRequest(request, abort.signal), { client }));
    answering().catch(() => refuse(response));
  };
}

/** A request that is none, or a client that has gone: there is nothing to say to either. */
function refuse(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(400).end();
}

function webRequest(request: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', originalUrl = url } = request;
  const headers = new Headers();
  for (const [name, value = ''] of Object.entries(request.headersDistinct)) {
    if (!name.startsWith(':')) for (const one of value) headers.append(name, one);
  }
  const path = originalUrl.startsWith('/') ? originalUrl : '/';
  const target = new URL(`http://${hostOf(request)}${path}`);
  if (method === 'GET' || method === 'HEAD')
    return new Request(target, { method, headers, signal });
  return new Request(target, { method, headers, signal, body: bodyOf(request), duplex: 'half' });
}

/** As it came, or made anew of what the framework has read of it. */
function bodyOf(request: NodeRequest): ReadableStream | string | null {
  if (!request.readableDidRead) return Readable.toWeb(request);
  const { body } = request;
  if (body === undefined || body === null) return null;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Nothing depends on it but that it is a URL. */
function hostOf({ headers }: NodeRequest): string {
  const { host = '' } = headers;
  return /^[\w.:[\]-]+$/.test(host) ? host : 'localhost';
}

/** As fast as the other side reads, and no faster. */
async function send(response: ServerResponse, answer: Response): Promise<void> {
  const { status, headers, body } = answer;
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const gone = (): void => void reader.cancel().catch(() => undefined);
  const reader = body.getReader();
  response.once('close', gone);
  if (response.destroyed) gone();
  for (;;) {
    // Whoever has gone ends it, too. It is in no race: what lives as long as the answer would keep all of it.
    const next = await reader.read();
    if (next.done) break;
    if (!response.write(next.value)) await untilDrained(response);
  }
  response.off('close', gone);
  response.end();
}

/** It takes more again, or its reader has gone. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    if (response.destroyed) {
      resolve();
      return;
    }
    response.once('drain', done);
    response.once('close', done);
  });
}
