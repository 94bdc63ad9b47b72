/** Types of a configuration: as loaded, and as input. */

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
  /** File of this client's certificate. */
  readonly cert?: string | undefined;
  /** File of its private key. */
  readonly key?: string | undefined;
  /** Expected name in the server's certificate. Default: the host of the URL. */
  readonly servername?: string | undefined;
  /** False: accept any certificate. Default true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** Connection to Redis. */
export interface RedisConfig {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS, or the path of a socket. */
  readonly url?: Secret | undefined;
  /** Overrides the user name of the URL. */
  readonly username?: string | undefined;
  /** Overrides the password of the URL. */
  readonly password?: Secret | undefined;
  /** Prefix of every key. Default `fq`. */
  readonly keyPrefix: string;
  /** Timeout of one attempt to connect. Default 5 s. */
  readonly connectTimeout: Duration;
  /** Turns TLS on, also with `redis://`. */
  readonly tls?: TlsConfig | undefined;
}

/** Storage without a server; see `docs/guide/deployment.md`. */
export interface DataConfig {
  /** Absolute path of the data folder. */
  readonly folder?: string | undefined;
  /** `always`: writes are synced to disk before the answer; otherwise at most this long after it. Default `always`. */
  readonly sync: 'always' | Duration;
  /** Largest size of the folder; writes beyond it are refused. Default: the size of the disk. */
  readonly maxBytes?: number | undefined;
}

/** Encryption of data of users and handlers; see `docs/guide/encryption.md`. */
export interface EncryptionConfig {
  /** Keys as `id:base64`, separated by spaces or commas; the first encrypts, all decrypt. */
  readonly keys?: Secret | undefined;
  /** File with one key per line, in place of `keys`. */
  readonly keysFile?: string | undefined;
  /** Also read unencrypted values. Default false. */
  readonly acceptUnencrypted?: boolean | undefined;
}

/** Defaults of tasks that are plain data. */
export interface DefaultsConfig extends Omit<DefaultOptions, 'backoff'> {
  /** Default exponential from 1 s to 1 h with full jitter. */
  readonly backoff?: BackoffOptions | undefined;
}

/** Options of a worker that are plain data, for `loom.worker` and `loom.serve`. */
export type WorkerConfig = Omit<WorkerOptions, 'decider'>;

/** Content of `/metrics` of a worker or scheduler of the command line. */
export interface MetricsConfig {
  /** Users with their own figures. Default `none`. */
  readonly users?: UserSelection | undefined;
}

/** A configuration, checked and frozen, with its defaults. */
export interface Config {
  /** Backend. Default `memory`; `file` if `data.folder` is set, or `redis` if `redis.url` is. */
  readonly backend: 'memory' | 'file' | 'redis';
  /** Connection to Redis. */
  readonly redis: RedisConfig;
  /** Storage without a server. */
  readonly data: DataConfig;
  /** Encryption of data of users and handlers. Default none: it is stored in plain text. */
  readonly encryption?: EncryptionConfig | undefined;
  /** Refuse tasks without a user. Default false. */
  readonly requireUser: boolean;
  /** Lowest level of logged lines. */
  readonly logLevel: LogLevel;
  /** Lines about failures contain the message of the error. */
  readonly logErrors: boolean;
  /** Processes count what they store and run by minute and hour. Default true. */
  readonly series: boolean;
  /** Defaults of tasks without an option of the enqueue or the definition. */
  readonly defaults: DefaultsConfig;
  /** How long ended tasks are kept. */
  readonly retention: RetentionOptions;
  /** Defaults of schedules. */
  readonly scheduler: ScheduleDefaults;
  /** Options of XCom. */
  readonly xcom: XComOptions;
  /** Options of metrics. */
  readonly metrics: MetricsConfig;
  /** Workers, at least one. */
  readonly workers: readonly WorkerConfig[];
  /** Settings by queue; `applySettings` stores them. */
  readonly queues: Readonly<Record<string, QueueOptions>>;
  /** Settings by user; `applySettings` stores them. */
  readonly users: Readonly<Record<string, UserOptions>>;
}

/** Input of {@link RedisConfig}. */
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

/** Input of {@link DataConfig}. */
export interface DataInput {
  /** See {@link DataConfig}; relative to the current folder. */
  readonly folder?: string | undefined;
  /** See {@link DataConfig}. */
  readonly sync?: 'always' | Duration | undefined;
  /** See {@link DataConfig}. */
  readonly maxBytes?: number | undefined;
}

/** Input of {@link EncryptionConfig}. */
export interface EncryptionInput {
  /** See {@link EncryptionConfig}; a text, or the secret of another configuration. */
  readonly keys?: string | Secret | undefined;
  /** See {@link EncryptionConfig}. */
  readonly keysFile?: string | undefined;
  /** See {@link EncryptionConfig}. */
  readonly acceptUnencrypted?: boolean | undefined;
}

/** Input of {@link Config}; every part is optional. */
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
  /** Lowest level of logged lines. Default `info`. */
  readonly logLevel?: LogLevel | undefined;
  /** Lines about failures contain the message of the error. Default true. */
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
  /** One worker; changes these fields of each worker from other sources. */
  readonly worker?: WorkerConfig | undefined;
  /** Workers, in place of all from other sources. */
  readonly workers?: readonly WorkerConfig[] | undefined;
  /** Settings by queue. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined;
  /** Settings by user. */
  readonly users?: Readonly<Record<string, UserOptions>> | undefined;
}
