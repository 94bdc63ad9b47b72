/** The HTTP API and its page on a port, for commands. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import type { Fairloom } from '../../client/client.ts';
import type { Access } from '../../http/calls/view.ts';
import type { Service } from '../../worker/serve.ts';
import type { Shell } from '../session/session.ts';
import { portArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';

/** Where it listens, and whom it lets in. */
export interface DashboardOptions {
  readonly port: number;
  readonly host: string;
  readonly token?: string;
  readonly insecureNoAuth?: boolean;
}

/** Names of this machine for itself: what asks under them runs here, and no page of the web does. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]', '::1']);

/** What the token may be, too. */
const TOKEN_VARIABLE = 'FAIRLOOM_HTTP_TOKEN';

/** Adds the options. */
export function withDashboard(command: Command): Command {
  return command
    .option('--port <n>', 'where it listens; 0: any that is free', portArgument, 4_400)
    .option('--host <address>', 'by which address of the machine', '127.0.0.1')
    .option('--token <text>', `what callers have to send; default: ${TOKEN_VARIABLE}`)
    .option('--insecure-no-auth', 'let everybody in who can reach it');
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
  if (token === '') throw new CliError(EXIT.usage, 'the token is empty');
  if (token !== undefined) {
    const expected = digest(`Bearer ${token}`);
    return ({ headers }) => {
      const sent = digest(headers.get('authorization') ?? '');
      return timingSafeEqual(sent, expected) ? 'all' : 'deny';
    };
  }
  if (insecureNoAuth === true) return () => 'all';
  if (!LOOPBACK.has(host)) {
    throw new CliError(
      EXIT.usage,
      `--host ${host}: others could reach it, and nothing keeps them out`,
      `give --token <text> or set ${TOKEN_VARIABLE}, or say --insecure-no-auth`,
    );
  }
  // A page of the web whose name was made to mean this machine has still its own name.
  return ({ url }) => (LOOPBACK.has(new URL(url).hostname) ? 'all' : 'deny');
}

/** Of one length whatever it is made of, so that comparing it takes the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Listens from its start to its stop; `say` is told where. */
export async function dashboardService(
  loom: Fairloom,
  { port, host }: DashboardOptions,
  { access, namespace, say }: DashboardAround,
): Promise<Service> {
  const [{ httpApi }, { nodeHandler }] = await Promise.all([
    import('../../http/http-api.ts'),
    import('../../http/node-handler.ts'),
  ]);
  const server = createServer(nodeHandler(httpApi(loom, { access, namespace })));
  return {
    start: async () => {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host }, resolve);
      }).catch((error: unknown) => {
        throw new CliError(EXIT.failed, `port ${port} cannot be listened on: ${String(error)}`);
      });
      const { port: chosen } = server.address() as AddressInfo;
      say(`http://${host.includes(':') ? `[${host}]` : host}:${chosen}/`);
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
