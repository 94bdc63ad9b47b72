/**
 * Bundles src/ beside the declarations that the compiler has put into temp/build/, and replaces
 * dist/ with the result (a failed build leaves dist/ unchanged): a file for each entry point of
 * package.json and for its command, and dist/pieces/ with the code that they share. So a program loads a dozen
 * files instead of hundreds, and each class exists once, for all entry points.
 * Nothing is minified: stack traces name functions, and thrown or printed objects keep the name of
 * their class.
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
/** `cli/main.js` in dist/ is `cli/main.ts` in src/. */
const names = built.map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''));

await build({
  cwd: ROOT,
  input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  transform: { target: engines.node.replace('>=', 'node') },
  // Packages are not bundled: users install their own versions.
  external: /^[^./]/,
  output: {
    dir: STAGE,
    format: 'esm',
    chunkFileNames: 'pieces/[name]-[hash].js',
    // Almost every entry needs the rules: one file of them instead of a piece for each set of entries.
    codeSplitting: { groups: [{ name: 'domain', test: /[\\/]src[\\/](?:base|domain)[\\/]/ }] },
  },
});
rmSync(DIST, { recursive: true, force: true });
renameSync(STAGE, DIST);
