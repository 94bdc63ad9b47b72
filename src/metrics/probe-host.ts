/**
 * Host names that the monitoring server accepts. A web page can point its own domain name at this
 * machine and would then read the server's pages (DNS rebinding); its browser sends that name as
 * `Host`. Probes use an address, or a name that no public name server has.
 */
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Suffixes of names that are never public. */
const PRIVATE = ['.localhost', '.local', '.internal', '.svc'];

/** Whether a host is an address, a name of one word or of a private network, or an allowed one. */
export function isProbeHost(host: string | undefined, allowed: ReadonlySet<string>): boolean {
  // Browsers always send one.
  if (host === undefined) return true;
  const name = nameOf(host);
  if (name === '') return false;
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  if (isAddress || !name.includes('.') || PRIVATE.some((end) => name.endsWith(end))) return true;
  return name === hostname().toLowerCase() || allowed.has(name);
}

/** In lower case, without its port and a final dot. */
export function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** Whether a text is a name or an address without a port. */
export function isHostName(word: string): boolean {
  return isIP(word) !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(word);
}
