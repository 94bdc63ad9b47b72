/** Mounts an HTTP API on servers of Node: `node:http`, Express, Fastify, Nest. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { Refusal } from '../operations/refusal.ts';
import { readHost, unreadableHost } from './hosts.ts';
import type { HttpApi } from './http-api.ts';
import { OpenStreams } from './open-streams.ts';

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
  const streams = new OpenStreams();
  return (request, response) => {
    const client = request.socket.remoteAddress;
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const answering = async (): Promise<void> => {
      const { url, originalUrl: target = url } = request;
      const answer = await api.fetch(webRequest(request, abort.signal), { client, target });
      if (isStream(answer) && !response.destroyed) streams.add(request, response, abort);
      await send(response, answer);
    };
    answering().catch((error: unknown) => refuse(response, error));
  };
}

/** A body without an end of its own. */
function isStream({ body, headers }: Response): boolean {
  return body !== null && headers.get('content-type') === 'text/event-stream';
}

/** A request that is none, or a client that has gone, to which nothing can be said any more. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = error instanceof Refusal ? `${error.message}\n` : '';
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

function webRequest(request: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', originalUrl = url } = request;
  const headers = new Headers();
  for (const [name, value = ''] of Object.entries(request.headersDistinct)) {
    if (!name.startsWith(':')) for (const one of value) headers.append(name, one);
  }
  const host = readHost(headers.get('host') ?? undefined);
  if (host === undefined) throw unreadableHost();
  // A proxy is asked with a whole URL, whose host would count.
  if (!originalUrl.startsWith('/')) throw new Refusal('NOT_FOUND', 'the path has to begin with /');
  const target = new URL(`http://${host}${originalUrl}`);
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
    // A client that has gone ends it, too. It is in no race: a promise as long-lived as the answer would keep all of it.
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
