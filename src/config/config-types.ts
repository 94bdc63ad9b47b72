/** A configuration as callers read it, and as code writes it. */

import type { Duration } from '../base/time.ts';
import type { QueueOptions, UserOptions } from '../client/facades/settings-options.ts';
import type { UserSelection } from '../client/facades/user-selection.ts';
import type {
  DefaultOptions,
  RetentionOptions,
  ScheduleDefaults,
  XComOptions,
} from '../core/options.ts';
import type { LogLevel } from '../logging/logger.ts';
import type { WorkerOptions } from '../worker/worker-options.ts';
import type { BackoffOptions } from '../workflow/task-options.ts';
import type { Secret } from './secret.ts';

/** TLS for the connection to Redis; files are PEM. Paths in a file are relative to its folder. */
export interface TlsConfig {
  /** File of the authority that signed the server's certificate. Default: those of Node. */
  readonly ca?: string | undefined;
  /** File of the certificate that this client shows. */
  readonly cert?: string | undefined;
  /** File of its private key. */
  readonly key?: string | undefined;
  /** The name that the server's certificate must have. Default: the host of the URL. */
  readonly servername?: string | undefined;
  /** False: take any certificate. Default true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** How to reach Redis. */
export interface RedisConfig {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS, or the path of a socket. */
  readonly url?: Secret | undefined;
  /** Goes before that of the URL. */
  readonly username?: string | undefined;
  /** Goes before that of the URL. */
  readonly password?: Secret | undefined;
  /** Begins every key. Default `fq`. */
  readonly keyPrefix: string;
  /** How long one attempt to connect may take. Default 5 s. */
  readonly connectTimeout: Duration;
  /** Turns TLS on, also with `redis://`. */
  readonly tls?: TlsConfig | undefined;
}

/** Where tasks are kept without a server; see `docs/guide/deployment.md`. */
export interface DataConfig {
  /** The data folder, absolute. */
  readonly folder?: string | undefined;
  /** When what was answered survives a loss of power: `always`, before it is; or so long after it. Default `always`. */
  readonly sync: 'always' | Duration;
  /** Of the folder: beyond, what would store more is refused. Default: as much as the disk has. */
  readonly maxBytes?: number | undefined;
}

/** Keys for what users and handlers write; see `docs/guide/encryption.md`. */
export interface EncryptionConfig {
  /** `id:base64` of each, parted by spaces or commas; the first encrypts, all decrypt. */
  readonly keys?: Secret | undefined;
  /** A file that has them, in place of `keys`: one on each line. */
  readonly keysFile?: string | undefined;
  /** Reads also what is not encrypted. Default false. */
  readonly acceptUnencrypted?: boolean | undefined;
}

/** Defaults of tasks, as far as they are data. */
export interface DefaultsConfig extends Omit<DefaultOptions, 'backoff'> {
  /** Default exponential from 1 s to 1 h with full jitter. */
  readonly backoff?: BackoffOptions | undefined;
}

/** One worker, as far as it is data; `loom.worker` and `loom.serve` take it as it is. */
export type WorkerConfig = Omit<WorkerOptions, 'decider'>;

/** What a worker or scheduler that the command line starts shows on `/metrics`. */
export interface MetricsConfig {
  /** Users with figures of their own. Default `none`. */
  readonly users?: UserSelection | undefined;
}

/** A configuration, checked and frozen, with its defaults. */
export interface Config {
  /** Where tasks live. Default `memory`, `file` where `data.folder` is given, or `redis` where `redis.url` is. */
  readonly backend: 'memory' | 'file' | 'redis';
  /** How to reach Redis. */
  readonly redis: RedisConfig;
  /** Where tasks are kept without a server. */
  readonly data: DataConfig;
  /** Keys for what users and handlers write. Default none: it is stored as it is. */
  readonly encryption?: EncryptionConfig | undefined;
  /** Refuse tasks without a user. Default false. */
  readonly requireUser: boolean;
  /** How loud a line of log must be. */
  readonly logLevel: LogLevel;
  /** Lines about failures have the messages of what handlers threw. */
  readonly logErrors: boolean;
  /** Processes count what they store and run by minute and hour. Default true. */
  readonly series: boolean;
  /** What holds where neither an enqueue nor a definition says anything. */
  readonly defaults: DefaultsConfig;
  /** How long ended tasks are kept. */
  readonly retention: RetentionOptions;
  /** What holds for schedules that do not say otherwise. */
  readonly scheduler: ScheduleDefaults;
  /** Of values that tasks hand on by name. */
  readonly xcom: XComOptions;
  /** Of figures. */
  readonly metrics: MetricsConfig;
  /** At least one. */
  readonly workers: readonly WorkerConfig[];
  /** Settings by queue; `applySettings` stores them. */
  readonly queues: Readonly<Record<string, QueueOptions>>;
  /** Settings by user; `applySettings` stores them. */
  readonly users: Readonly<Record<string, UserOptions>>;
}

/** How to reach Redis, as code writes it. */
export interface RedisInput {
  /** See {@link RedisConfig}; a text, or the secret of another configuration. */
  readonly url?: string | Secret | undefined;
  /** See {@link RedisConfig}. */
  readonly username?: string | undefined;
  /** See {@link RedisConfig}; a text, or the secret of another configuration. */
  readonly password?: string | Secret | undefined;
  /** See {@link RedisConfig}. */
  readonly keyPrefix?: string | undefined;
  /** See {@link RedisConfig}. */
  readonly connectTimeout?: Duration | undefined;
  /** See {@link TlsConfig}. */
  readonly tls?: TlsConfig | undefined;
}

/** Where tasks are kept without a server, as code writes it. */
export interface DataInput {
  /** See {@link DataConfig}; relative to the current folder. */
  readonly folder?: string | undefined;
  /** See {@link DataConfig}. */
  readonly sync?: 'always' | Duration | undefined;
  /** See {@link DataConfig}. */
  readonly maxBytes?: number | undefined;
}

/** Keys, as code writes them. */
export interface EncryptionInput {
  /** See {@link EncryptionConfig}; a text, or the secret of another configuration. */
  readonly keys?: string | Secret | undefined;
  /** See {@link EncryptionConfig}. */
  readonly keysFile?: string | undefined;
  /** See {@link EncryptionConfig}. */
  readonly acceptUnencrypted?: boolean | undefined;
}

/** A part of a configuration, as code writes it; everything may be left out. */
export interface ConfigInput {
  /** See {@link Config}. */
  readonly backend?: 'memory' | 'file' | 'redis' | undefined;
  /** See {@link RedisConfig}. */
  readonly redis?: RedisInput | undefined;
  /** See {@link DataConfig}. */
  readonly data?: DataInput | undefined;
  /** See {@link EncryptionConfig}. */
  readonly encryption?: EncryptionInput | undefined;
  /** See {@link Config}. */
  readonly requireUser?: boolean | undefined;
  /** How loud a line of log must be. Default `info`. */
  readonly logLevel?: LogLevel | undefined;
  /** Lines about failures have the messages of what handlers threw. Default true. */
  readonly logErrors?: boolean | undefined;
  /** See {@link Config}. */
  readonly series?: boolean | undefined;
  /** See {@link DefaultsConfig}. */
  readonly defaults?: DefaultsConfig | undefined;
  /** See `RetentionOptions`. */
  readonly retention?: RetentionOptions | undefined;
  /** See `ScheduleDefaults`. */
  readonly scheduler?: ScheduleDefaults | undefined;
  /** See `XComOptions`. */
  readonly xcom?: XComOptions | undefined;
  /** See {@link MetricsConfig}. */
  readonly metrics?: MetricsConfig | undefined;
  /** One worker; over workers from elsewhere it changes these fields of each. */
  readonly worker?: WorkerConfig | undefined;
  /** Workers in place of all from elsewhere. */
  readonly workers?: readonly WorkerConfig[] | undefined;
  /** Settings by queue. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined;
  /** Settings by user. */
  readonly users?: Readonly<Record<string, UserOptions>> | undefined;
}
