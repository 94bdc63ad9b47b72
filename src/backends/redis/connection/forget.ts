import { flat, text } from '../wire/decode.ts';
import { newClient } from './client.ts';
import { hold } from './connection.ts';
import { failure } from './failures.ts';
import { connectionTo } from './target.ts';

/** Keys per scan: a millisecond of the server's time. */
const SCAN_KEYS = 1_000;

/**
 * Deletes everything below a prefix, on its own connection. For short-lived prefixes, as the
 * demo's; no process may use it meanwhile.
 *
 * @throws {@link BackendUnavailableError} when the server cannot be reached.
 */
export async function forgetPrefix(url: string, prefix: string): Promise<void> {
  const client = newClient(connectionTo(url));
  client.on('error', () => undefined);
  try {
    await client.connect();
    hold(client, true);
    let cursor = '0';
    do {
      const scan = [cursor, 'MATCH', `${prefix}:*`, 'COUNT', SCAN_KEYS];
      const [next, found] = flat(await client.call('SCAN', scan));
      const keys = flat(found).map(text);
      if (keys.length > 0) await client.call('UNLINK', keys);
      cursor = text(next);
    } while (cursor !== '0');
  } catch (cause) {
    throw failure('forget', cause);
  } finally {
    client.disconnect();
  }
}
