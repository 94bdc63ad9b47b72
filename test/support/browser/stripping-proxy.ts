/** A proxy that hands requests below a prefix on without it, as many are set up to do. */
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Its address without a slash, as `http://127.0.0.1:1234/tools/queue`. */
export interface StrippingProxy {
  readonly base: string;
  stop(): Promise<void>;
}

/** `target`: where requests go. */
export async function stripping(prefix: string, target: string): Promise<StrippingProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer(({ url = '/', method, headers }, response) => {
    if (!url.startsWith(prefix)) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('another site');
      return;
    }
    const path = url.slice(prefix.length).replace(/^(?!\/)/, '/');
    const sent = httpRequest({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy()).end();
    response.once('close', () => sent.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
