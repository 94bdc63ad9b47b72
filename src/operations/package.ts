/** Where the package of this code is, and which version of it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../base/records.ts';

let found: Found | undefined;

/** The folder of the package: the first above this file with its manifest, bundled or not. */
export function packageRoot(): URL {
  return known().root;
}

/** As that manifest says. */
export function packageVersion(): string {
  return known().version;
}

function known(): Found {
  // Bundlers take a URL beside import.meta.url for a file that they have to bring along.
  found ??= search(pathToFileURL(`${dirname(fileURLToPath(import.meta.url))}/`));
  return found;
}

interface Found {
  readonly root: URL;
  readonly version: string;
}

function search(folder: URL): Found {
  const file = new URL('package.json', folder);
  if (existsSync(fileURLToPath(file))) {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isRecord(manifest) && manifest['name'] === 'fairloom') {
      return { root: folder, version: String(manifest['version']) };
    }
  }
  const above = new URL('../', folder);
  // A bundler has put this elsewhere, without the manifest.
  return above.href === folder.href ? { root: folder, version: 'unknown' } : search(above);
}
