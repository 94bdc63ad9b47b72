/** Tests of what is built run what is built of the files that are here. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { isStale } from '../../scripts/ensure-build.ts';
import config from '../../vitest.config.ts';
import { LAYERS } from '../support/layers.ts';

const root = mkdtempSync(join(tmpdir(), 'fairloom-stale-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A file that was last written at this second. */
function write(path: string, at: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), '');
  utimesSync(join(root, path), at, at);
}

// F137
it('a build is stale when a file of the sources is newer, or there is none', () => {
  write('src/deep/one.ts', 100);
  write('dashboard/main.tsx', 100);
  for (const folder of ['src/deep', 'src', 'dashboard']) utimesSync(join(root, folder), 100, 100);
  expect(isStale(root)).toBe(true);
  write('dist/cli/main.js', 200);
  expect(isStale(root)).toBe(false);
  write('src/deep/one.ts', 300);
  expect(isStale(root)).toBe(true);
});

// F137
it('every layer that runs the build makes it first, also when vitest runs it alone', () => {
  const { projects = [] } = config.test ?? {};
  const making = projects.flatMap((project) => {
    const { test } = project as { readonly test?: { name: string; globalSetup: string[] } };
    return test?.globalSetup.some((path) => path.includes('built-setup')) ? [test.name] : [];
  });
  expect(making).toEqual(LAYERS.filter(({ built }) => built).map(({ name }) => name));
});
