/** A client behind HTTP, with its page, on a port of its own. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fairloom } from '../../../src/client/client.ts';
import { type HttpApiOptions, httpApi, nodeHandler } from '../../../src/http.ts';

/** What listens. */
export interface Served {
  /** Where the page is; ends with a slash. */
  readonly base: string;
  /** It does not answer any more, until it is started again. */
  stop(): Promise<void>;
  /** On the port that it had. */
  start(): Promise<void>;
}

/** Everything may be done unless it is said otherwise. Mounted below a path, as most are. */
export async function serve(loom: Fairloom, options: HttpApiOptions = {}): Promise<Served> {
  const handler = nodeHandler(httpApi(loom, { access: () => 'all', ...options }));
  let server: Server;
  let port = 0;
  const start = async (): Promise<void> => {
    server = createServer(handler);
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
    ({ port } = server.address() as AddressInfo);
  };
  await start();
  return {
    base: `http://127.0.0.1:${port}/internal/queue/`,
    start,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
