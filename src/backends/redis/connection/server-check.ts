import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import type { BackendInfo } from '../../../domain/port/backend.ts';
import { flat, text } from '../wire/decode.ts';
import type { Keys } from '../wire/keys.ts';
import type { Connection } from './connection.ts';
import { isWriteRefused, NODE_TEXT } from './failures.ts';

/** The oldest server with all commands of the scripts. */
const OLDEST = [6, 2] as const;

/** Version of the layout of keys; increases when older processes can no longer read them. */
export const LAYOUT = 4;

/** In place of the layout during a copy from another backend. */
export const COPYING = 'copying';

/** Present state of a server. */
export interface Standing {
  /** It appends each call to its file, and the last write succeeded. */
  readonly durable: boolean;
  /** Problems of a server that answers, one line each. */
  readonly problems: readonly string[];
}

/** Properties of a server that are read once. */
export interface Examined {
  readonly info: BackendInfo;
  readonly standing: Standing;
}

/** Checks the server once: its version, the layout of the namespace, and what may be lost. */
export async function examine(connection: Connection, keys: Keys): Promise<Examined> {
  const info = text(await connection.command('open', 'INFO', ['everything']));
  const version = checkVersion(info);
  if (field(info, 'cluster_enabled') === '1' && !connection.isCluster) {
    throw new BackendUnsupportedError(NODE_TEXT);
  }
  await checkLayout(connection, keys);
  const settings = await configOf(connection);
  const { line, warning } = durabilityOf(info, settings);
  const warnings = [policyWarning(info, settings), warning].filter((found) => found !== undefined);
  return { info: { description: `${version}; ${line}`, warnings }, standing: standingOf(info) };
}

/**
 * The server's name and version, from `INFO`.
 *
 * @throws `BackendUnsupportedError` when it is too old.
 */
export function checkVersion(info: string): string {
  const version = field(info, 'redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new BackendUnsupportedError(
      `the server is Redis ${version || 'of unknown version'}; ${OLDEST.join('.')} or newer is needed`,
    );
  }
  const valkey = field(info, 'valkey_version');
  return valkey === undefined ? `Redis ${version}` : `Valkey ${valkey}`;
}

async function checkLayout(connection: Connection, keys: Keys): Promise<void> {
  const found = await connection.command('open', 'HGET', [keys.meta, 'layout']);
  const said = found === null ? await markLayout(connection, keys) : text(found);
  if (said === COPYING) {
    throw new BackendUnsupportedError(
      'the data is a copy that is not complete: it is in progress, or was interrupted (fairloom copy --overwrite starts it anew)',
    );
  }
  checkLayoutNumber(Number(said));
}

/** A new namespace gets its mark, unless the server is read-only: it can be read all the same. */
async function markLayout(connection: Connection, keys: Keys): Promise<string> {
  try {
    await connection.command('open', 'HSETNX', [keys.meta, 'layout', LAYOUT]);
  } catch (error) {
    if (!isWriteRefused(error)) throw error;
    return String(LAYOUT);
  }
  return text(await connection.command('open', 'HGET', [keys.meta, 'layout']));
}

/** @throws `BackendUnsupportedError` when the data has a layout unknown to this process. */
export function checkLayoutNumber(found: number): void {
  if (found === LAYOUT) return;
  throw new BackendUnsupportedError(
    found > LAYOUT
      ? `the data has layout ${found}, this process knows ${LAYOUT}: update it first`
      : `the data has layout ${found} of an older version, this process knows ${LAYOUT}: fairloom copy converts it`,
  );
}

type Config = ReadonlyMap<string, string>;

/** The relevant settings; empty when the server does not reveal them. */
async function configOf(connection: Connection): Promise<Config> {
  const config = new Map<string, string>();
  for (const name of ['maxmemory-policy', 'appendonly', 'appendfsync', 'save']) {
    try {
      const [, value] = flat(await connection.command('open', 'CONFIG', ['GET', name]));
      if (value !== undefined) config.set(name, text(value));
    } catch {
      // Managed servers deny CONFIG; unknown settings are reported as unknown.
    }
  }
  return config;
}

function policyWarning(info: string, config: Config): string | undefined {
  const policy = config.get('maxmemory-policy') ?? field(info, 'maxmemory_policy');
  if (policy === 'noeviction') return undefined;
  if (policy === undefined) return 'maxmemory-policy is unknown; it should be noeviction';
  return `maxmemory-policy is ${policy}: the server may evict tasks; set it to noeviction`;
}

function durabilityOf(
  info: string,
  config: Config,
): { readonly line: string; readonly warning: string | undefined } {
  const appends = config.get('appendonly') ?? (field(info, 'aof_enabled') === '1' ? 'yes' : 'no');
  if (appends === 'yes') {
    const sync = config.get('appendfsync');
    const line = `append-only file, fsync ${sync ?? 'unknown'}`;
    return {
      line: `${line}: ${LOSS[sync ?? ''] ?? 'the loss on a crash is unknown'}`,
      warning: undefined,
    };
  }
  if ((config.get('save') ?? '') !== '') {
    const warning = 'no append-only file: a crash loses all changes since the latest snapshot';
    return { line: 'snapshots only', warning };
  }
  return {
    line: 'nothing is written to disk',
    warning: 'no persistence: a restart loses all tasks',
  };
}

/** State of a server, from `INFO`. */
export function standingOf(info: string): Standing {
  const number = (name: string): number => Number(field(info, name) ?? 0);
  const isAppending = field(info, 'aof_enabled') === '1';
  const canAppend = field(info, 'aof_last_write_status') !== 'err';
  const most = number('maxmemory');
  const used = number('used_memory') - number('mem_not_counted_for_evict');
  const isFull = most > 0 && used > most && field(info, 'maxmemory_policy') === 'noeviction';
  const problems = [
    isFull
      ? `memory is full (${used} of ${most} bytes): new tasks are refused, stored ones still run`
      : undefined,
    isAppending && !canAppend ? 'the server cannot write its append-only file' : undefined,
    field(info, 'rdb_last_bgsave_status') === 'err' ? 'the last snapshot failed' : undefined,
    field(info, 'role') === 'slave'
      ? 'this server is a replica: it answers reads and refuses changes'
      : undefined,
  ].filter((problem) => problem !== undefined);
  return { durable: isAppending && canAppend, problems };
}

/** What a crash of the server loses, by `appendfsync`. */
const LOSS: Readonly<Record<string, string>> = {
  always: 'a crash loses no answered call',
  everysec: 'a crash loses about the last second',
  no: 'a crash loses what the operating system had not written',
};

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}
