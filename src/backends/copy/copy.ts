/** Copies everything of one backend into another: a store of the embedded backend, or a namespace of Redis. */
import { CopyRefusedError } from '../../domain/errors/errors.ts';
import type { Store } from '../memory/store/store.ts';
import type { RedisClient } from '../redis/connection/client.ts';
import {
  COPYING,
  checkLayoutNumber,
  checkVersion,
  LAYOUT,
} from '../redis/connection/server-check.ts';
import { type Keys, keysOf as namesOf } from '../redis/wire/keys.ts';

import { ask, bytesOf, KeysReader, keysOf, type Namespace } from './keys-reader.ts';
import { KeysWriter } from './keys-writer.ts';
import { COPIED_LAYOUT } from './layout-3.ts';
import { mustHaveNoWorkers, rowsOfRedis } from './rows-of-redis.ts';
import { storeIntoRedis } from './store-into-redis.ts';
import { storeOfFound } from './store-of-redis.ts';

/** A namespace of Redis. */
export interface RedisPlace {
  /** A connection that is open. */
  readonly client: RedisClient;
  /** Begins every key, without the colon. */
  readonly prefix: string;
  /** The time of the namespace, in ms since the epoch, when that is not the server's. */
  readonly clock?: (() => number) | undefined;
}

/** How Redis is read. */
export interface ReadOptions {
  /** Also while workers live there, which are no part of the copy. What changes meanwhile ends it all the same. */
  readonly force?: boolean | undefined;
}

/** How a copy into Redis is made. */
export interface CopyOptions {
  /** What is in the target goes first. Default: a target that is not empty is refused. */
  readonly overwrite?: boolean | undefined;
  /** Also while workers live there, whose tasks are taken away. */
  readonly force?: boolean | undefined;
  /** Hears how many tasks are written. */
  readonly onTasks?: ((count: number) => void) | undefined;
}

/** Keys that a namespace without anything in it may have: what every client writes, and the clock of a test. */
const EMPTY: ReadonlySet<string> = new Set(['meta', 'clock-by-hand']);

/** Keys that are taken away by one command. */
const AT_ONCE = 500;

/**
 * Tells an empty store of the embedded backend everything of a namespace of Redis, where nothing is changed. Who
 * works, who waits for work and who fires schedules is no part of it: they register anew.
 *
 * @throws `CopyRefusedError` when the namespace is not at rest: workers live there, or it changes meanwhile.
 */
export async function storeFromRedis(
  place: RedisPlace,
  store: Store,
  { force = false }: ReadOptions = {},
): Promise<void> {
  const namespace = namespaceOf(place);
  const layout = await layoutOf(new KeysReader(namespace));
  if (layout === COPYING) throw new CopyRefusedError(`${place.prefix}: ${BROKEN_OFF}`);
  if (layout === undefined) throw new CopyRefusedError(`${place.prefix}: there is no data`);
  if (Number(layout) !== COPIED_LAYOUT) checkLayoutNumber(Number(layout));
  storeOfFound(store, await rowsOfRedis(namespace, { clock: place.clock, force }));
}

const BROKEN_OFF = 'it is a copy that was broken off; copy into it again, with --overwrite';

/**
 * Writes everything that a store knows into a namespace of Redis. Until all of it is there the namespace is
 * marked as incomplete, and cannot be opened.
 *
 * @throws `CopyRefusedError` before anything is written, when the namespace is not empty, or workers live
 * there.
 */
export async function storeToRedis(
  store: Store,
  place: RedisPlace,
  { overwrite = false, force = false, onTasks = ignore }: CopyOptions = {},
): Promise<void> {
  const namespace = namespaceOf(place);
  const reader = new KeysReader(namespace);
  checkVersion(await reader.info());
  const now = place.clock === undefined ? await reader.now() : place.clock();
  if (!overwrite) await mustBeEmpty(namespace, place.prefix, reader);
  else if (!force) await mustHaveNoWorkers(reader, now, 'target');
  const keys = namesOf(place.prefix);
  await say(namespace, keys, COPYING);
  if (overwrite) await clear(namespace);
  const writer = new KeysWriter(namespace);
  await storeIntoRedis({ writer, keys, now }, store, onTasks);
  await say(namespace, keys, String(LAYOUT));
}

function namespaceOf({ client, prefix }: RedisPlace): Namespace {
  return { client, base: `${prefix}:` };
}

async function mustBeEmpty(
  namespace: Namespace,
  prefix: string,
  reader: KeysReader,
): Promise<void> {
  if ((await layoutOf(reader)) === COPYING) throw new CopyRefusedError(`${prefix}: ${BROKEN_OFF}`);
  for await (const some of keysOf(namespace)) {
    if (some.every((key) => EMPTY.has(key))) continue;
    throw new CopyRefusedError(
      `the target is not empty: keys begin with ${namespace.base}; --overwrite takes them away first`,
    );
  }
}

async function layoutOf(reader: KeysReader): Promise<string | undefined> {
  return (await reader.hash('meta')).get('layout')?.toString();
}

async function say({ client }: Namespace, { meta }: Keys, layout: string): Promise<void> {
  await ask(bytesOf(client), 'HSET', [meta, 'layout', layout]);
}

async function clear(namespace: Namespace): Promise<void> {
  for await (const some of keysOf(namespace)) {
    const gone = some.filter((key) => !EMPTY.has(key)).map((key) => namespace.base + key);
    for (let at = 0; at < gone.length; at += AT_ONCE) {
      await ask(bytesOf(namespace.client), 'UNLINK', gone.slice(at, at + AT_ONCE));
    }
  }
}

function ignore(): void {
  // Progress was not requested.
}
