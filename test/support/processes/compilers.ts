/** The versions of TypeScript that our types are for. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** One compiler. */
export interface Compiler {
  /** As its `--version` begins. */
  readonly version: string;
  /** Its command line, to be run by Node. */
  readonly tsc: string;
}

const require = createRequire(import.meta.url);
// In folders of their own, so that their `tsc` does not take the place of ours.
const oldest = createRequire(require.resolve('typescript-5.9/package.json'));
const newest = createRequire(require.resolve('typescript-7/package.json'));

/** The oldest, ours, and the newest: what `npm install typescript` gives. */
export const COMPILERS: readonly Compiler[] = [
  { version: '5.9', tsc: tscOf(oldest) },
  { version: '6.0', tsc: tscOf(require) },
  { version: '7.0', tsc: tscOf(newest) },
];

/** The command line of the newest. */
export function newestCompiler(): string {
  return tscOf(newest);
}

function tscOf(from: NodeJS.Require): string {
  return join(dirname(from.resolve('typescript/package.json')), 'bin/tsc');
}
