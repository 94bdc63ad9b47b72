/**
 * Builds the page of `dashboard/` into dist/dashboard/, hashed files with relative addresses, so that it works
 * under any mount path. With `--serve` it is served during development, and calls a Fairloom at
 * `FAIRLOOM_HTTP` (default http://127.0.0.1:4400) for everything below `api/`.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, createServer, type InlineConfig } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { serve: { type: 'boolean', default: false } } });

const config: InlineConfig = {
  root: `${ROOT}dashboard`,
  configFile: false,
  base: './',
  logLevel: values.serve ? 'info' : 'warn',
  build: {
    outDir: `${ROOT}dist/dashboard`,
    emptyOutDir: true,
    target: 'es2023',
    // No inline script or style: the policy of the page forbids them.
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
  },
};

if (values.serve) {
  const api = process.env['FAIRLOOM_HTTP'] ?? 'http://127.0.0.1:4400';
  const server = await createServer({ ...config, server: { port: 4401, proxy: { '/api': api } } });
  await server.listen();
  server.printUrls();
} else {
  await build(config);
}
