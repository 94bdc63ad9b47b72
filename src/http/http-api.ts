/** `httpApi`: a client behind web requests and answers. */

import { Hono } from 'hono';
import { isPlainObject } from '../base/records.ts';
import { elapsedMs } from '../base/time.ts';
import { coreOf, type Fairloom } from '../client/client.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { say } from '../logging/log-events.ts';
import { valuesOf } from '../operations/fields.ts';
import { Look } from '../operations/look.ts';
import { narrowError } from '../operations/narrow.ts';
import type { Operation } from '../operations/operation.ts';
import { packageRoot } from '../operations/package.ts';
import { Refusal } from '../operations/refusal.ts';
import { OPERATIONS } from '../operations/table.ts';
import { View } from '../operations/view.ts';
import { audited } from './audited.ts';
import { bodyOf } from './body.ts';
import { withEtag } from './etag.ts';
import { LiveChanges } from './events/live.ts';
import type { Subject } from './events/subject.ts';
import { EXPORT_FORMATS, EXPORT_ROWS, EXPORT_TYPES, exportBody, exportPage } from './export.ts';
import { EXPORT_FIELDS, EXPORT_ROUTES, type ExportRoute } from './export-routes.ts';
import { demandHost } from './hosts.ts';
import { type HttpApiOptions, type HttpSettings, httpSettings, isAccess } from './http-options.ts';
import { inTime } from './in-time.ts';
import { PageFiles } from './page-files.ts';
import { problemOf } from './problem.ts';
import { type Redaction, redaction } from './redaction.ts';
import { demandLiteralPath, routePathOf } from './request-path.ts';
import { RequestRate } from './request-rate.ts';
import { type PathParts, type RawCall, type Route, routesOf } from './routes.ts';
import { filledPath, listingOf, SealedCursors } from './sealed-cursor.ts';

/** What a server knows of a request that is not in it. */
export interface RequestOrigin {
  /** The address that it came from; for the limit on requests. */
  readonly client?: string | undefined;
  /** The path and query as they came: the URL of a `Request` has no backslashes and no dot segments any more. */
  readonly target?: string | undefined;
}

/** A client behind web requests: mount `fetch` wherever requests come from. */
export interface HttpApi {
  /** Answers a request: those below `…/api/v1` as the API, all others with the page. Never rejects. */
  fetch(request: Request, from?: RequestOrigin): Promise<Response>;
}

/**
 * The HTTP API and the page of a client, mounted at any path. Without `access` it answers 403 to
 * everything.
 *
 * @throws `InvalidOptionError` for the first option that is not what it should be.
 */
export function httpApi(loom: Fairloom, options: HttpApiOptions = {}): HttpApi {
  return apiOf(loom, options, OPERATIONS);
}

/** The same with a table of operations of one's own. */
export function apiOf(
  loom: Fairloom,
  options: HttpApiOptions,
  operations: readonly Operation[],
): HttpApi {
  if (typeof loom?.health !== 'function') throw new InvalidOptionError('loom', 'a Fairloom', loom);
  return new Api(loom, httpSettings(options), routesOf(operations));
}

/** Headers of every answer. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** How long `access` may take, in ms; a request has its own time besides. */
const ACCESS_MS = 10_000;

const NO_PARTS: PathParts = { get: () => '' };

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** What a stream watches it reads again and again: so long each reading looks for rows at most, in ms. */
const STREAM_LOOK_MS = 1_000;

/** What one request has with it on its way to its route. */
interface Around {
  readonly view: View;
  /** Whose it is, as far as that is known. */
  readonly client: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

class Api implements HttpApi {
  readonly #loom: Fairloom;
  readonly #settings: HttpSettings;
  readonly #rate: RequestRate;
  readonly #redact: Redaction;
  readonly #cursors: SealedCursors;
  readonly #page: PageFiles;
  readonly #live: LiveChanges;
  readonly #routes: readonly Route[];
  readonly #app: Hono<{ Bindings: Around }>;

  constructor(loom: Fairloom, settings: HttpSettings, routes: readonly Route[]) {
    this.#routes = routes;
    this.#loom = loom;
    this.#settings = settings;
    this.#rate = new RequestRate(settings.rate, coreOf(loom).clock);
    this.#page = new PageFiles(new URL('dist/dashboard/', packageRoot()), settings.frameAncestors);
    this.#cursors = new SealedCursors(loom);
    this.#redact = redaction(settings.redact, settings.hidesPayloads);
    const read = (subject: Subject, view: View): Promise<unknown> => this.#read(subject, view);
    const { clock, connection } = coreOf(loom);
    this.#live = new LiveChanges(read, clock, connection.ending);
    this.#app = this.#routed();
  }

  async fetch(request: Request, from: RequestOrigin = {}): Promise<Response> {
    const answer = await this.#respond(request, from);
    if (request.method !== 'HEAD' || answer.body === null) return answer;
    await answer.body.cancel();
    return new Response(null, answer);
  }

  async #respond(request: Request, from: RequestOrigin): Promise<Response> {
    const requestId = coreOf(this.#loom).newId();
    try {
      demandHost(request, this.#settings.hosts);
      demandLiteralPath(request.url, from.target);
      const client = this.#clientOf(request, from.client);
      this.#rate.demand(client);
      if (routePathOf(request.url) === undefined) return await this.#page.answer(request);
      const answered = await withEtag(request, await this.#inTime(request, { client, requestId }));
      answered.headers.set('x-request-id', requestId);
      return answered;
    } catch (error) {
      return this.#refused(error, requestId);
    }
  }

  #clientOf(request: Request, address: string | undefined): string {
    const { client } = this.#settings;
    if (client !== undefined) return client(request);
    return address ?? request.headers.get('authorization') ?? '';
  }

  /** @throws {@link Refusal} when the request may nothing, or that is not told in time; what `access` throws. */
  async #viewOf(request: Request): Promise<View> {
    const { clock } = coreOf(this.#loom);
    const access = await inTime({ clock, ms: ACCESS_MS }, async () =>
      this.#settings.access(request),
    );
    if (!isAccess(access)) throw new Refusal('INTERNAL', 'access has answered what is no access');
    if (access !== 'deny') return new View(access);
    throw new Refusal('FORBIDDEN', 'access to this API is not granted');
  }

  #routed(): Hono<{ Bindings: Around }> {
    const app = new Hono<{ Bindings: Around }>({
      getPath: (request: Request) => routePathOf(request.url) ?? '/',
    });
    for (const one of this.#routes) {
      app.on(one.method, one.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
        const part = (name: string): string => context.req.param(name) ?? '';
        return this.#answer(one, context.req.raw, context.env, part);
      });
    }
    for (const one of EXPORT_ROUTES) {
      app.get(one.path, async ({ req, env }) => this.#export(one, req.raw, env));
    }
    app.get('/openapi.json', ({ env }) => document(env, this.#routes));
    app.get('/events', ({ req, env }) => this.#events(req.raw, env));
    app.notFound((context) => {
      const path = routePathOf(context.req.url) ?? '/';
      const allowed = METHODS.filter((method) => app.router.match(method, path)[0].length > 0);
      if (allowed.length === 0) throw new Refusal('NOT_FOUND', 'there is no such route');
      const detail = `there is ${allowed.join(', ')}`;
      throw new Refusal('METHOD_NOT_ALLOWED', detail, { allow: allowed.join(', ') });
    });
    app.onError((error) => {
      throw error;
    });
    return app;
  }

  async #answer(
    one: Route,
    request: Request,
    { view, requestId }: Around,
    part: (name: string) => string,
  ): Promise<Response> {
    demandAllowed(one, view);
    const { maxBody } = this.#settings;
    const body: unknown = isSafe(request.method) ? {} : await bodyOf(request, maxBody);
    if (!isPlainObject(body)) throw new InvalidOptionError('body', 'a JSON object', body);
    const loom = this.#loom;
    const given = queryOf(request.url);
    const listing = listingOf(filledPath(one.path, part), given);
    const query = await this.#opened(given, view, listing);
    const [, word = ''] = /\{(\w+)\}/.exec(one.path) ?? [];
    const target = word === '' ? '' : part(word);
    const call = { ...this.#known(view), path: { get: part }, query, body };
    const answer = async (): Promise<unknown> => {
      try {
        return await one.answer(call);
      } catch (error) {
        throw await narrowError(call, { operation: operationOf(one), named: target }, error);
      }
    };
    const asked = { loom, one, requestId, by: view.by, caller: view.by ?? view.scope, target };
    const value = await (isSafe(request.method) ? answer() : audited(asked, answer));
    return jsonResponse(one.status, 'application/json', await this.#shown(value, view, listing));
  }

  /** An answer without what is not shown to this caller. */
  async #shown(value: unknown, view: View, listing: string): Promise<unknown> {
    const shown = this.#redact(value);
    if (!isPlainObject(shown)) return shown;
    const { cursor } = shown;
    if (typeof cursor !== 'string') return shown;
    return { ...shown, cursor: await this.#cursors.seal(view, listing, cursor) };
  }

  async #opened(
    query: Readonly<Record<string, unknown>>,
    view: View,
    listing: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { cursor } = query;
    if (typeof cursor !== 'string') return query;
    return { ...query, cursor: await this.#cursors.open(view, listing, cursor) };
  }

  /** What is the same for every call. */
  #known(view: View, lookMs?: number): Omit<RawCall, 'path' | 'query' | 'body'> {
    const { hidesPayloads, namespace, redact, timeoutMs } = this.#settings;
    const hidesWords = hidesPayloads || redact.length > 0;
    const { clock } = coreOf(this.#loom);
    const look = new Look(this.#loom, view, elapsedMs(clock) + (lookMs ?? timeoutMs / 2));
    return {
      loom: this.#loom,
      view,
      now: clock.now(),
      api: { hidesPayloads, hidesWords, namespace },
      look,
    };
  }

  /** Page after page of what the listing answers to this caller. */
  async #export(one: ExportRoute, request: Request, { view }: Around): Promise<Response> {
    demandAllowed(one, view);
    const asked = queryOf(request.url);
    const listing = listingOf(one.of.path, asked);
    const { format, limit, cursor, ...query } = await this.#opened(asked, view, listing);
    const given = { format, limit, cursor };
    const form = valuesOf(`the query of ${one.name}`, EXPORT_FIELDS, given);
    const type = form.format ?? EXPORT_FORMATS[0];
    const parts = {
      clock: coreOf(this.#loom).clock,
      format: type,
      columns: one.columns,
      rows: form.limit ?? EXPORT_ROWS.usual,
      cursor: form.cursor,
      read: async (page: { readonly limit: number; readonly cursor?: string }) => {
        const call = { ...this.#known(view), path: NO_PARTS, body: {} };
        return exportPage(
          this.#redact(await one.of.answer({ ...call, query: { ...query, ...page } })),
        );
      },
      seal: async (place: string) => this.#cursors.seal(view, listing, place),
      stillMay: async () => view.isLike(await this.#viewOf(request)),
    };
    const body = request.method === 'HEAD' ? null : await exportBody(parts);
    const name = `${one.of.path.slice(1)}.${type}`;
    return new Response(body, {
      headers: {
        ...HEADERS,
        'content-type': `${EXPORT_TYPES[type]}; charset=utf-8`,
        'content-disposition': `attachment; filename="${name}"`,
      },
    });
  }

  #events(request: Request, { view, client }: Around): Response {
    demandAllowed({ needs: 'read', users: 'rows' }, view);
    const { last } = queryOf(request.url);
    const lastId = request.headers.get('last-event-id') ?? (typeof last === 'string' ? last : '');
    const caller = view.users === undefined ? `${view.by ?? ''} ${client}` : view.scope;
    const viewOf = (): Promise<View> => this.#viewOf(request);
    const body = this.#live.stream(request, { view, caller, lastId, viewOf });
    return new Response(body, {
      headers: { ...HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
    });
  }

  /** What a route answers to a stream of changes; a mistake is an answer there. */
  async #read({ operation: name, parts, query }: Subject, view: View): Promise<unknown> {
    const one = this.#routes.find(({ operation }) => operation === name);
    const path = { get: (name: string): string => parts.get(name) ?? '' };
    try {
      if (one === undefined) throw new Refusal('NOT_FOUND', 'there is no such route');
      demandAllowed(one, view);
      const known = this.#known(view, STREAM_LOOK_MS);
      const value = await one.answer({ ...known, path, query, body: {} });
      return await this.#shown(value, view, listingOf(filledPath(one.path, path.get), query));
    } catch (error) {
      return { problem: problemOf(error, '') };
    }
  }

  /** Answers within the configured time, also while `access` or the backend hangs. */
  #inTime(request: Request, around: Pick<Around, 'client' | 'requestId'>): Promise<Response> {
    const { clock } = coreOf(this.#loom);
    const late = ({ body }: Response): void => void body?.cancel();
    return inTime({ clock, ms: this.#settings.timeoutMs, late }, async (signal) => {
      const view = await this.#viewOf(request);
      signal.throwIfAborted();
      if (!isSafe(request.method)) demandSameSite(request);
      return this.#app.fetch(request, { ...around, view, signal });
    });
  }

  #refused(error: unknown, requestId: string): Response {
    const problem = problemOf(error, requestId);
    if (problem.code === 'INTERNAL') {
      const { log } = coreOf(this.#loom);
      say(log, 'http.failed', 'a request failed', { requestId, error });
    }
    const response = jsonResponse(problem.status, 'application/problem+json', problem);
    response.headers.set('x-request-id', requestId);
    if (error instanceof Refusal) {
      for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value);
    }
    return response;
  }
}

async function document({ view }: Around, routes: readonly Route[]): Promise<Response> {
  demandAllowed({ needs: 'read', users: 'none' }, view);
  const { openApiDocument } = await import('./document.ts');
  return jsonResponse(200, 'application/json', openApiDocument(routes));
}

/** What a change does, in one word. */
function operationOf({ method, path }: Route): string {
  return method === 'DELETE' ? 'remove' : (path.split('/').at(-1) ?? '');
}

/** @throws {@link Refusal} for what the caller may not. */
function demandAllowed({ needs, users }: Pick<Route, 'needs' | 'users'>, view: View): void {
  if (!view.can.includes(needs)) {
    throw new Refusal('FORBIDDEN', `this needs the permission ${needs}`);
  }
  if (users === 'whole' && view.users !== undefined) {
    throw new Refusal('NOT_FOR_SOME_USERS', 'this is for callers that see all users');
  }
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * A page of another site can send neither of these headers: a browser says itself where a request comes from.
 *
 * @throws {@link Refusal} for a change that may have been sent by one.
 */
function demandSameSite({ headers }: Request): void {
  if (headers.get('sec-fetch-site') === 'same-origin' || headers.has('authorization')) return;
  const detail = 'a change needs Sec-Fetch-Site: same-origin, or an Authorization header';
  throw new Refusal('CROSS_SITE', detail);
}

/** Each parameter once. */
function queryOf(url: string): Readonly<Record<string, unknown>> {
  const query = new Map<string, string>();
  for (const [name, value] of new URL(url).searchParams) {
    if (query.has(name)) throw new InvalidOptionError(name, 'one value', 'several');
    query.set(name, value);
  }
  return Object.fromEntries(query);
}

function jsonResponse(status: number, type: string, value: unknown): Response {
  return new Response(`${JSON.stringify(value)}\n`, {
    status,
    headers: { ...HEADERS, 'content-type': `${type}; charset=utf-8` },
  });
}
