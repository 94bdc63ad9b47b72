/** Libraries of functions on servers: a process loads its own, beside those of other versions. */
import { flat, text } from '../wire/decode.ts';
import { LIBRARIES, type Library } from '../wire/scripts.ts';
import { nodesOf, type RedisClient } from './client.ts';
import { isKnownLibrary } from './failures.ts';

/** Loads a library on every server of the client; one that another process has loaded meanwhile exists already. */
export async function loadLibrary(client: RedisClient, library: Library): Promise<void> {
  await Promise.all(
    nodesOf(client).map((node) =>
      node.call('FUNCTION', ['LOAD', library.text]).catch((cause: unknown) => {
        if (!isKnownLibrary(cause)) throw cause;
      }),
    ),
  );
}

/**
 * Names of the libraries of other versions, which `remove` deletes: a process that needs one loads
 * it again. Empty where the server does not list them for this account.
 */
export async function otherLibraries(
  client: RedisClient,
  { name }: Library,
  remove: boolean,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const node of nodesOf(client)) {
    for (const one of await librariesOf(node)) {
      if (one === name) continue;
      found.add(one);
      if (remove) await node.call('FUNCTION', ['DELETE', one]).catch(ignore);
    }
  }
  return [...found].sort();
}

/** Each is listed as `['library_name', <name>, …]`. */
async function librariesOf(node: RedisClient): Promise<readonly string[]> {
  const reply = await node.call('FUNCTION', ['LIST', 'LIBRARYNAME', `${LIBRARIES}*`]).catch(ignore);
  return flat(reply ?? []).map((one) => text(flat(one)[1]));
}

function ignore(): undefined {
  // An account without this right, a server without functions, or another process was faster.
}
