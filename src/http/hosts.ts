/** The names under which a server may be asked: a page of another site makes browsers ask under its own. */
import { Refusal } from '../operations/refusal.ts';

/** A name or an address, with a port or without. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** In lower case; `undefined` for what is missing, several, or not written as browsers write a host. */
export function readHost(sent: string | undefined): string | undefined {
  const host = sent?.toLowerCase() ?? '';
  if (!HOST.test(host)) return undefined;
  // What a URL reads differently, as 2130706433 for 127.0.0.1, would be another host for `access`.
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : '';
  return url === host.replace(/:80$/, '') ? host : undefined;
}

/** @throws {@link Refusal} for a `Host` that cannot be read, and for one that is not known where some are. */
export function demandHost(request: Request, known: ReadonlySet<string> | undefined): void {
  const host = readHost(request.headers.get('host') ?? new URL(request.url).host);
  if (host === undefined) throw unreadableHost();
  if (known === undefined || known.has(host)) return;
  const add = 'add it to the option hosts of httpApi, or start fairloom with --allow-host';
  throw new Refusal('UNKNOWN_HOST', `this server is not known as ${host}: ${add} ${host}`);
}

/** The refusal of a request without a `Host` that can be read. */
export function unreadableHost(): Refusal {
  return new Refusal('UNKNOWN_HOST', 'the request has to have one Host, as name:port');
}
