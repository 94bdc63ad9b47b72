/** Which version of the package this is. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../base/records.ts';

let version: string | undefined;

/** As the manifest of the package says: the first above this file, bundled or not. */
export function packageVersion(): string {
  version ??= search(new URL('./', import.meta.url));
  return version;
}

function search(folder: URL): string {
  const file = new URL('package.json', folder);
  if (existsSync(fileURLToPath(file))) {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isRecord(manifest) && manifest['name'] === 'fairloom') {
      return String(manifest['version']);
    }
  }
  const above = new URL('../', folder);
  // A bundler has put this elsewhere, without the manifest.
  return above.href === folder.href ? 'unknown' : search(above);
}
