/** The page: the files that were built beside this package, served from wherever it is mounted. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** One file of the page. */
interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with what is in it. */
  readonly isHashed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
};

/** A year, in seconds: longer is not asked for. */
const YEAR_S = 31_536_000;

const NOT_BUILT = `The page of Fairloom is not beside this package: it was not built (npm run build).
The API is there all the same, below api/v1/.
`;

/** Serves the page from a folder, which is read once, on the first request. */
export class PageFiles {
  readonly #folder: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined;

  constructor(folder: URL, frameAncestors: readonly string[]) {
    this.#folder = folder;
    const ancestors = frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ');
    this.#headers = {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        `frame-ancestors ${ancestors}`,
      ].join('; '),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    };
  }

  /**
   * A file whose name ends the path; else the page itself, at any path that ends like a folder, so that what
   * it names beside itself is found. Nothing but what was read of the folder is ever served.
   */
  async answer({ url, method, headers }: Request): Promise<Response> {
    if (method !== 'GET' && method !== 'HEAD') {
      return this.#text(405, 'only GET and HEAD\n', { allow: 'GET, HEAD' });
    }
    const files = await this.#known();
    const index = files.get('index.html');
    if (index === undefined) return this.#text(503, NOT_BUILT);
    const { pathname, search } = new URL(url);
    const file = fileAt(files, pathname);
    if (file !== undefined) return this.#file(file, headers);
    const last = pathname.slice(pathname.lastIndexOf('/') + 1);
    if (last === '') return this.#file(index, headers);
    if (last.includes('.')) return this.#text(404, 'there is no such file\n');
    return this.#text(308, '', { location: `./${last}/${search}` });
  }

  #file({ bytes, type, etag, isHashed }: PageFile, asked: Headers): Response {
    const headers = {
      ...this.#headers,
      'content-type': type,
      'cache-control': isHashed ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
      etag,
    };
    if (asked.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers });
  }

  #text(status: number, text: string, more: Readonly<Record<string, string>> = {}): Response {
    const type = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
    return new Response(text, { status, headers: { ...this.#headers, ...type, ...more } });
  }

  /** A folder that is not there yet is looked for again. */
  async #known(): Promise<ReadonlyMap<string, PageFile>> {
    this.#files ??= filesIn(this.#folder);
    const files = await this.#files;
    if (files.size === 0) this.#files = undefined;
    return files;
  }
}

/** The longest end of the path that is the name of a file. */
function fileAt(files: ReadonlyMap<string, PageFile>, path: string): PageFile | undefined {
  const parts = path.split('/');
  for (const count of [2, 1]) {
    const file = files.get(parts.slice(-count).join('/'));
    if (file !== undefined) return file;
  }
  return undefined;
}

async function filesIn(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  if (!existsSync(fileURLToPath(folder))) return new Map();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, PageFile>();
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/');
    const name = path.slice(fileURLToPath(folder).replaceAll('\\', '/').length).replace(/^\/+/, '');
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const bytes = new Uint8Array(await readFile(path));
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
    const isHashed = name.startsWith('assets/');
    files.set(name, { bytes, type, etag: `"${digest}"`, isHashed });
  }
  return files;
}
