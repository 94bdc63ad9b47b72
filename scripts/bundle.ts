/**
 * Bundles src/ beside the declarations that the compiler has put into temp/build/, and puts all of it
 * in the place of dist/, which a build that fails leaves as it was: a file for each entry point of
 * package.json and for its command, and dist/pieces/ with what they share. So a program loads a dozen
 * files instead of hundreds, and each class exists once, for all entry points.
 * Nothing is minified: stack traces name functions, and what is thrown or printed keeps the name of
 * its class.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

interface Manifest {
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where a build is made. */
const STAGE = `${ROOT}temp/build`;
const DIST = `${ROOT}dist`;
const { engines, exports, bin }: Manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const built = [
  ...Object.values(exports).flatMap((one) => (typeof one === 'string' ? [] : one.default)),
  ...Object.values(bin),
];
/** What stands in dist/ as `cli/main.js` is in src/ as `cli/main.ts`. */
const names = built.map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''));

await build({
  cwd: ROOT,
  input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  transform: { target: engines.node.replace('>=', 'node') },
  // Packages stay what the one who installs them has.
  external: /^[^./]/,
  output: { dir: STAGE, format: 'esm', chunkFileNames: 'pieces/[name]-[hash].js' },
});
rmSync(DIST, { recursive: true, force: true });
renameSync(STAGE, DIST);
