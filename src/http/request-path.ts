/** The path of a request, and what of it is the route. */
import { Refusal } from '../operations/refusal.ts';

/** Up to the first `/api/v1` of a path: what is behind a second one is never a route, so rules by path hold. */
const OF_API = /^.*?\/api\/v1(\/.*)?$/s;

/** Below `/api/v1`, wherever that is mounted; `undefined`: it is of the page. */
export function routePathOf(url: string): string | undefined {
  const found = OF_API.exec(pathIn(url));
  if (found === null) return undefined;
  const [, rest = '/'] = found;
  return rest;
}

/** What a URL drops or reads as something else: a backslash as `/`, `#` as its end, control characters as nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const REWRITTEN = /[\\#\u0000-\u0020\u007f]/;

/** The steps of a path that a URL takes out, however they are written. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i;

/**
 * Judges the path as it came, since rules by path in front of the API have judged that one. `target` is the request
 * target where the host tells it; the URL of a `Request` is rewritten already.
 *
 * @throws {@link Refusal} for a path that leads elsewhere than its words say, or that cannot be decoded.
 */
export function demandLiteralPath(url: string, target: string | undefined): void {
  const path = target === undefined ? pathIn(url) : target.replace(/\?.*$/s, '');
  if (REWRITTEN.test(path) || DOT_SEGMENT.test(path)) {
    const detail =
      'the path has to be without "\\", "#", control characters, and "." or ".." as a segment';
    throw new Refusal('INVALID_PATH', detail);
  }
  if (decoded(path) === undefined) {
    throw new Refusal('INVALID_PATH', 'the path has to be percent-encoded UTF-8');
  }
}

/** Its text is used: a bundler drops a call whose answer is not, with what it throws. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** As it was sent: nothing is decoded, and no dots are taken out. */
function pathIn(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
}
