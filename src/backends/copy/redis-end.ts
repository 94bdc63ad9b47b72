/** The end of a copy that is a namespace of Redis: loaded only where there is one, since it stands on `ioredis`. */
import type { Store } from '../memory/store/store.ts';
import { newClient, type RedisClient } from '../redis/connection/client.ts';
import { failure } from '../redis/connection/failures.ts';
import { connectionTo } from '../redis/connection/target.ts';
import { checkPrefix } from '../redis/wire/keys.ts';
import { type CopyOptions, storeFromRedis, storeToRedis } from './copy.ts';

/** A namespace, by the URL of its server. */
export interface RedisEnd {
  readonly url: string;
  readonly prefix: string;
}

/** Reads all of it into an empty store. `force`: also while workers live there. */
export function readRedis(end: RedisEnd, store: Store, force: boolean): Promise<void> {
  const { prefix } = end;
  return connected(end, (client) => storeFromRedis({ client, prefix }, store, { force }));
}

/** Writes a store into it. */
export function writeRedis(end: RedisEnd, store: Store, options: CopyOptions): Promise<void> {
  const { prefix } = end;
  return connected(end, (client) => storeToRedis(store, { client, prefix }, options));
}

async function connected(
  { url, prefix }: RedisEnd,
  act: (client: RedisClient) => Promise<void>,
): Promise<void> {
  checkPrefix(prefix);
  const client = newClient(connectionTo(url));
  let trouble: unknown;
  client.on('error', (error) => {
    trouble = error;
  });
  try {
    await client.connect().catch((cause: unknown) => {
      throw failure('copy', trouble ?? cause);
    });
    await act(client);
  } finally {
    client.disconnect();
  }
}
