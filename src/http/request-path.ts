/** The path of a request, and what of it is the route. */

/** Up to the first `/api/v1` of a path: what is behind a second one is never a route, whatever rules by path say. */
const OF_API = /^.*?\/api\/v1(\/.*)?$/s;

/** Below `/api/v1`, wherever that is mounted; `undefined`: it is of the page. */
export function routePathOf(url: string): string | undefined {
  const found = OF_API.exec(pathIn(url));
  if (found === null) return undefined;
  const [, rest = '/'] = found;
  return rest;
}

/** As it was sent: nothing is decoded, and no dots are taken out. */
function pathIn(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
}
