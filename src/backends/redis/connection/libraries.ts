/** Libraries of functions that servers keep: a process loads its own, and those of other versions stay beside it. */
import { flat, text } from '../wire/decode.ts';
import { LIBRARIES, type Library } from '../wire/scripts.ts';
import { nodesOf, type RedisClient } from './client.ts';
import { isKnownLibrary } from './failures.ts';

/** Loads a library on every server that may be asked; one that another process has loaded meanwhile is there already. */
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
 * Names of the libraries of other versions, of which `remove` leaves none: a process that needs one loads it again.
 * None where the server does not tell them to this account.
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

/** Each is told as `['library_name', <name>, …]`. */
async function librariesOf(node: RedisClient): Promise<readonly string[]> {
  const reply = await node.call('FUNCTION', ['LIST', 'LIBRARYNAME', `${LIBRARIES}*`]).catch(ignore);
  return flat(reply ?? []).map((one) => text(flat(one)[1]));
}

function ignore(): undefined {
  // An account that may not do this, a server without functions, another process that was faster.
}
