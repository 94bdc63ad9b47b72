/**
 * Under which names probes and scrapes are answered. A page of the web can give a name of its own the address of
 * this machine, and would then read what stands there; its browser sends that name as `Host`. Probes come under an
 * address, or under a name that no public name server has.
 */
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Ends of names that are never public. */
const PRIVATE = ['.localhost', '.local', '.internal', '.svc'];

/** Whether it is an address, a name of one word or of a private network, or one that is allowed. */
export function isProbeHost(host: string | undefined, allowed: ReadonlySet<string>): boolean {
  // Browsers always send one.
  if (host === undefined) return true;
  const name = nameOf(host);
  if (name === '') return false;
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  if (isAddress || !name.includes('.') || PRIVATE.some((end) => name.endsWith(end))) return true;
  return name === hostname().toLowerCase() || allowed.has(name);
}

/** In lower case, without its port and the dot that ends a name. */
export function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** A name or an address without a port. */
export function isHostName(word: string): boolean {
  return isIP(word) !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(word);
}
