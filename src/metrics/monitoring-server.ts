import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../base/message-of.ts';
import type { Fairloom } from '../client/client.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { isHostName, isProbeHost, nameOf } from './probe-host.ts';
import type { Prometheus } from './prometheus.ts';

/** Address and content of the monitoring server. */
export interface MonitoringOptions {
  /** Port; 0 takes any free one. */
  readonly port: number;
  /** Address to listen on. Default: all addresses of the machine, since probes come from outside. */
  readonly host?: string | undefined;
  /**
   * Additional host names, without a port, for `/readyz` and `/metrics`. Always allowed: addresses, names of one
   * word, names that end in `.local`, `.internal`, `.svc` or `.localhost`, and the name of the machine.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** Content of `/metrics`; absent: there is no such page. */
  readonly metrics?: Pick<Prometheus, 'contentType' | 'text'> | undefined;
}

const KEYS: OptionKeys<MonitoringOptions> = keysOf<MonitoringOptions>()({
  port: true,
  host: true,
  allowHosts: true,
  metrics: true,
});

/** A server that answers probes. */
export interface MonitoringServer {
  /** Port that it listens on. */
  readonly port: number;
  /** Finishes open requests, and accepts no more. */
  close(): Promise<void>;
}

/** A page: a status, a content type and a text. */
type Page = readonly [status: number, type: string, text: string];

const PORT_MAX = 65_535;

const UNKNOWN_HOST =
  'the Host of the request is not allowed: use an address, or add the name to allowHosts or --health-allow-host\n';

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

/**
 * Answers `/livez` (this process is alive; never calls the backend), `/readyz` (the backend answers
 * and every worker here leases: 503 otherwise, also while a worker drains) and `/metrics`. It keeps
 * no process alive.
 *
 * @throws `InvalidOptionError`; the error of `listen`, such as EADDRINUSE.
 */
export async function serveMonitoring(
  loom: Fairloom,
  options: MonitoringOptions,
): Promise<MonitoringServer> {
  checkOptions('serveMonitoring', options, KEYS);
  const { port, host, metrics } = options;
  const allowed = allowedIn(options);
  if (typeof loom?.health !== 'function') throw new InvalidOptionError('loom', 'a Fairloom', loom);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw new InvalidOptionError('port', `a whole number from 0 to ${PORT_MAX}`, port);
  }
  if (host !== undefined && typeof host !== 'string') {
    throw new InvalidOptionError('host', 'an address', host);
  }
  if (metrics !== undefined && typeof metrics?.text !== 'function') {
    throw new InvalidOptionError('metrics', 'the result of prometheus()', metrics);
  }
  const server = createServer((request, response) => {
    void answer(request, response, () => {
      const isKnown = isProbeHost(request.headers.host, allowed);
      return pageOf(loom, metrics, { path: pathOf(request), isKnown });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, resolve);
  });
  server.unref();
  return {
    port: portOf(server.address()) ?? port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function allowedIn({ allowHosts = [] }: MonitoringOptions): ReadonlySet<string> {
  const words: unknown = allowHosts;
  const isName = (word: unknown): boolean => typeof word === 'string' && isHostName(word);
  if (!Array.isArray(words) || !words.every(isName)) {
    throw new InvalidOptionError(
      'allowHosts',
      'names without a port, as ["worker.example"]',
      words,
    );
  }
  return new Set(allowHosts.map(nameOf));
}

async function pageOf(
  loom: Fairloom,
  metrics: MonitoringOptions['metrics'],
  { path, isKnown }: { readonly path: string; readonly isKnown: boolean },
): Promise<Page> {
  if (path === '/livez') return [200, TEXT, 'alive\n'];
  if (!isKnown) return [400, TEXT, UNKNOWN_HOST];
  if (path === '/readyz') {
    const health = await loom.health();
    return [health.isHealthy ? 200 : 503, JSON_TYPE, `${JSON.stringify(health)}\n`];
  }
  if (path === '/metrics' && metrics !== undefined) {
    return [200, metrics.contentType, await metrics.text()];
  }
  return [404, TEXT, 'not found: the paths are /livez, /readyz and /metrics\n'];
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  page: () => Promise<Page>,
): Promise<void> {
  const [status, type, text] = await asked(request, page);
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}

async function asked(request: IncomingMessage, page: () => Promise<Page>): Promise<Page> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return [405, TEXT, 'only GET and HEAD\n'];
  }
  try {
    return await page();
  } catch (error) {
    return [500, TEXT, `${messageOf(error)}\n`];
  }
}

/** Path without the query, which is ignored. */
function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

/** The actual port; a socket of the file system has none. */
function portOf(address: AddressInfo | string | null): number | undefined {
  return typeof address === 'object' ? address?.port : undefined;
}
