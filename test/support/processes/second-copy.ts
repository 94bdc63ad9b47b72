/** Another copy of this package in the same process: its classes are others than those of `src/`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

/** The copy, which handlers of threads and processes can import too. */
export interface SecondCopy {
  readonly url: string;
  remove(): void;
}

export async function secondCopy(): Promise<SecondCopy> {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-copy-'));
  await build({
    input: { index: fileURLToPath(new URL('../../../src/index.ts', import.meta.url)) },
    platform: 'node',
    external: /^node:/,
    output: {
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name].mjs',
    },
  });
  return {
    url: pathToFileURL(join(folder, 'index.mjs')).href,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
