/** The HTTP API and its page on a port, for commands. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Fairloom } from '../../client/client.ts';
import { readHost } from '../../http/hosts.ts';
import type { Access } from '../../operations/view.ts';
import type { Service } from '../../worker/serve.ts';
import { portArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { Shell } from '../terminal/session.ts';

/** Where it listens, and whom it lets in. */
export interface DashboardOptions {
  readonly port: number;
  readonly host: string;
  readonly token?: string;
  readonly insecureNoAuth?: boolean;
  readonly allowHost?: readonly string[];
}

/** Names of this machine for itself: what asks under them runs here, and no page of the web does. */
const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** All addresses of the machine. */
const ANY: readonly string[] = ['0.0.0.0', '::'];

/** What the token may be, too. */
const TOKEN_VARIABLE = 'FAIRLOOM_HTTP_TOKEN';

/** Adds the options. */
export function withDashboard(command: Command): Command {
  return command
    .option('--port <n>', 'where it listens; 0: any that is free', portArgument, 4_400)
    .option('--host <address>', 'by which address of the machine', '127.0.0.1')
    .option('--token <text>', `what callers have to send; default: ${TOKEN_VARIABLE}`)
    .option('--insecure-no-auth', 'let everybody in who can reach it')
    .option(
      '--allow-host <name>',
      'a name by which it may be asked too, as queue.example or localhost:8080; may be repeated',
      hostArgument,
    );
}

/**
 * What callers may: all who send the token; without one, all of this machine.
 *
 * @throws {@link CliError} when others could reach it and nothing keeps them out.
 */
export function dashboardAccess(
  { host, token: given, insecureNoAuth }: Omit<DashboardOptions, 'port'>,
  { env }: Pick<Shell, 'env'>,
): (request: Request) => Access {
  const token = given ?? env[TOKEN_VARIABLE];
  if (token?.trim() === '') throw new CliError(EXIT.usage, 'the token is blank');
  if (token !== undefined) {
    const expected = digest(`Bearer ${token}`);
    return ({ headers }) => {
      const sent = digest(headers.get('authorization') ?? '');
      return timingSafeEqual(sent, expected) ? 'all' : 'deny';
    };
  }
  if (insecureNoAuth === true) return () => 'all';
  if (!LOOPBACK.includes(inUrl(host))) {
    throw new CliError(
      EXIT.usage,
      `--host ${host}: others could reach it, and nothing keeps them out`,
      `give --token <text> or set ${TOKEN_VARIABLE}, or say --insecure-no-auth`,
    );
  }
  return () => 'all';
}

/**
 * Names by which it may be asked: a page of the web whose name was made to mean this machine still sends its own.
 * Addresses are no such names, so those of the machine are known.
 */
function knownHosts({ host, allowHost = [] }: DashboardOptions, port: number): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const reached = ANY.includes(host) ? addresses.map(({ address }) => address) : [host];
  const names = [...new Set([...LOOPBACK, ...reached.map(inUrl)])];
  const here = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  return [...here.filter((name) => readHost(name) !== undefined), ...allowHost];
}

/** @throws {@link InvalidArgumentError} */
function hostArgument(text: string, before: readonly string[] = []): readonly string[] {
  if (readHost(text) !== undefined) return [...before, text];
  throw new InvalidArgumentError('Expected a host such as queue.example or localhost:8080.');
}

/** An address as it stands in a URL. */
function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Of one length for every text, so that comparing it takes the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Listens from its start to its stop; `say` is told where. */
export async function dashboardService(
  loom: Fairloom,
  options: DashboardOptions,
  { access, namespace, say }: DashboardAround,
): Promise<Service> {
  const [{ httpApi }, { nodeHandler }] = await Promise.all([
    import('../../http/http-api.ts'),
    import('../../http/node-handler.ts'),
  ]);
  const { port, host } = options;
  const server = createServer();
  const listen = (): void => {
    const { port: chosen } = server.address() as AddressInfo;
    const hosts = knownHosts(options, chosen);
    server.on('request', nodeHandler(httpApi(loom, { access, namespace, hosts })));
  };
  return {
    start: async () => {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.once('listening', listen).listen({ port, host }, resolve);
      }).catch((error: unknown) => {
        throw new CliError(EXIT.failed, `port ${port} cannot be listened on: ${String(error)}`);
      });
      const { port: chosen } = server.address() as AddressInfo;
      say(`http://${inUrl(host)}:${chosen}/`);
    },
    stop: async () => {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      return { unfinished: [] };
    },
  };
}

/** What it is not told by options. */
interface DashboardAround {
  readonly access: (request: Request) => Access;
  readonly namespace: string | undefined;
  readonly say: (text: string) => void;
}
