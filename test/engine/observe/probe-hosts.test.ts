/** Probes and figures by the name under which they are asked: no page of the web reads them by a name of its own. */
import { request } from 'node:http';
import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { type MonitoringServer, serveMonitoring } from '../../../src/metrics.ts';

const metrics = { contentType: 'text/plain', text: async () => 'secret 1\n' };
const loom = new Fairloom({ backend: memory() });
let server: MonitoringServer;

beforeAll(async () => {
  const allowHosts = ['Worker.example', 'other.example'];
  server = await serveMonitoring(loom, { port: 0, host: '127.0.0.1', metrics, allowHosts });
});

afterAll(async () => {
  await server.close();
  await loom.close();
});

/** Status and text of an answer to a request under a name. */
function under(host: string, path: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers: { host } };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    sent.on('error', reject).end();
  });
}

it.each([
  '127.0.0.1:9090',
  '10.1.2.3',
  '[::1]:9090',
  'localhost:9090',
  'worker',
  'worker:9090',
  'worker.jobs.svc:9090',
  'worker.jobs.svc.cluster.local',
  'worker.internal',
  'WORKER.example:9090',
  'other.example.',
  hostname(),
])('figures are shown under %s', async (host) => {
  expect(await under(host, '/metrics')).toEqual({ status: 200, text: 'secret 1\n' });
  expect(await under(host, '/readyz')).toMatchObject({ status: 200 });
});

it.each([
  'evil.example',
  'evil.example:9090',
  'worker.example.evil.example',
  'a.worker.example',
  '127.0.0.1.evil.example',
  'localhost.evil.example:9090',
  'evil.svc.example',
])('nothing but that it lives is said under %j', async (host) => {
  for (const path of ['/metrics', '/readyz', '/metrics?x', '/']) {
    const { status, text } = await under(host, path);
    expect([path, status, text]).toEqual([path, 400, expect.not.stringMatching(/secret|backend/)]);
  }
  expect(await under(host, '/livez')).toEqual({ status: 200, text: 'alive\n' });
});

it.each(['worker.example', ['a:80'], ['http://a'], [''], [7], ['ok', 'a/b']] as const)(
  'allowHosts that are %j are refused',
  async (value) => {
    const allowHosts = value as never;
    await expect(serveMonitoring(loom, { port: 0, allowHosts })).rejects.toThrow(
      InvalidOptionError,
    );
  },
);
