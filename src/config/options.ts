/** The schema: all options. An option of the library that is missing here fails to compile. */

import { checkFolder, checkMaxBytes, SYNC_BOUNDS } from '../backends/file/file-options.ts';
import { checkRedisUrl } from '../backends/redis/connection/address.ts';
import { checkPrefix, DEFAULT_PREFIX } from '../backends/redis/wire/keys.ts';
import {
  type QueueOptions,
  queuePatch,
  type UserOptions,
  userPatch,
} from '../client/facades/settings-options.ts';
import { checkUserSelection } from '../client/facades/user-selection.ts';
import { keysIn } from '../codec/key-text.ts';
import {
  defaultZoneOf,
  logLevelOf,
  type RetentionOptions,
  type ScheduleDefaults,
  type XComOptions,
  xcomTtlOf,
} from '../core/options.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { workerPlan } from '../worker/worker-options.ts';
import { durationOption } from '../workflow/task-options.ts';
import type {
  DataConfig,
  EncryptionConfig,
  MetricsConfig,
  RedisConfig,
  TlsConfig,
  WorkerConfig,
} from './config-types.ts';
import { defaults } from './default-options.ts';
import {
  checkBoolean,
  checkFilled,
  checkPassword,
  countLeaf,
  type Fields,
  fileLeaf,
  keptLeaf,
  leaf,
  oneOf,
  rateSection,
  settingLeaf,
  workerLeaf,
} from './leaves.ts';
import type { Dictionary, Leaf, Section } from './schema.ts';

/** Bounds of the connect timeout, in ms. */
const CONNECT_BOUNDS = { least: 1, most: 600_000 };

const backend: Leaf = leaf('text', {
  about: 'The store of tasks. `memory` ends with the process.',
  fallback: 'memory',
  otherwise: '`redis` where `redis.url` is given, `file` where `data.folder` is, else `memory`',
  check: oneOf('memory', 'file', 'redis'),
});

const tls: Fields<TlsConfig> = {
  ca: fileLeaf('File of the authority that signed the certificate of the server.', 'those of Node'),
  cert: fileLeaf('File of the certificate of this client.', 'none'),
  key: fileLeaf('File of its private key.', 'none'),
  servername: leaf('text', {
    about: 'Expected name in the certificate of the server.',
    otherwise: 'the host of the URL',
    check: checkFilled,
  }),
  rejectUnauthorized: leaf('boolean', {
    about: '`false` accepts any certificate, including that of an attacker.',
    otherwise: '`true`',
    check: checkBoolean,
  }),
};

const redis: Fields<RedisConfig> = {
  url: leaf('text', {
    about:
      'The server: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or the path of a socket.',
    otherwise: 'none',
    secret: 'url',
    check: checkRedisUrl,
  }),
  username: leaf('text', {
    about: 'User of the ACL. Overrides that of the URL.',
    otherwise: 'that of the URL',
    check: checkFilled,
  }),
  password: leaf('text', {
    about: 'Overrides that of the URL. Never shown.',
    otherwise: 'that of the URL',
    secret: 'whole',
    check: checkPassword,
  }),
  keyPrefix: leaf('text', {
    about: 'Prefix of every key, so that applications can share a server.',
    fallback: DEFAULT_PREFIX,
    check: (value) => checkPrefix(typeof value === 'string' ? value : ''),
  }),
  connectTimeout: leaf('duration', {
    about: 'Timeout of one attempt to connect.',
    fallback: LIMITS.connectMs,
    check: (value) => durationOption('connectTimeout', value, CONNECT_BOUNDS),
  }),
  tls: {
    kind: 'section',
    about: 'Turns TLS on, also with `redis://`. Files are PEM.',
    isOptional: true,
    fields: tls,
  },
};

const data: Fields<DataConfig> = {
  folder: leaf('text', {
    about: 'The data folder, on a local disk; it is created if it does not exist.',
    otherwise: 'none',
    isFile: true,
    check: checkFolder,
  }),
  sync: leaf('duration', {
    about:
      'When a write survives a loss of power: `always`, before its answer; else this long after it at the latest.',
    fallback: 'always',
    check: checkDataSync,
  }),
  maxBytes: leaf('number', {
    about:
      'Largest size of the folder: beyond it new tasks are refused, and stored ones still run.',
    otherwise: 'the size of the disk',
    check: checkMaxBytes,
  }),
};

const encryption: Fields<EncryptionConfig> = {
  keys: leaf('text', {
    about:
      'Keys as `id:base64`, separated by spaces or commas: the first encrypts, all decrypt. Never shown.',
    otherwise: 'none',
    secret: 'whole',
    check: keysIn,
  }),
  keysFile: fileLeaf('File with one key per line, in place of `keys`.', 'none'),
  acceptUnencrypted: leaf('boolean', {
    about: 'Also read unencrypted values, during a migration.',
    otherwise: '`false`',
    check: checkBoolean,
  }),
};

const retention: Fields<RetentionOptions> = {
  finished: keptLeaf('finished', LIMITS.retainFinishedMs),
  failed: keptLeaf('failed', LIMITS.retainFailedMs),
  canceled: keptLeaf('canceled', LIMITS.retainCanceledMs),
  finishedCount: countLeaf('finished'),
  failedCount: countLeaf('failed'),
  canceledCount: countLeaf('canceled'),
};

const scheduler: Fields<ScheduleDefaults> = {
  timeZone: leaf('text', {
    about: 'Default zone of cron patterns. A schedule keeps the zone that it was set with.',
    fallback: 'UTC',
    check: (value) => defaultZoneOf({ timeZone: typeof value === 'string' ? value : '' }),
  }),
};

const xcom: Fields<XComOptions> = {
  ttl: leaf('duration', {
    about: 'How long a value is kept after the end of the task that pushed it.',
    fallback: LIMITS.xcomTtlMs,
    check: (value) => xcomTtlOf({ ttl: value }),
  }),
};

const metrics: Fields<MetricsConfig> = {
  users: leaf('data', {
    about:
      'Users with their own figures: `none`, `all`, the `top:20` that wait longest, or a list.',
    fallback: 'none',
    check: (value) => checkUserSelection('', value),
  }),
};

const worker: Fields<WorkerConfig> = {
  id: workerLeaf('id', 'text', {
    about: 'Id of the worker, unique among live workers: a second one is refused, after 8 s.',
    otherwise: 'process id and random letters',
  }),
  concurrency: workerLeaf('concurrency', 'number', {
    about: 'Tasks that run at once.',
    fallback: LIMITS.concurrency,
  }),
  queues: workerLeaf('queues', 'data', {
    about: 'Queues that it serves: a list, or a mapping to weights, by which they share turns.',
    fallback: ['default'],
  }),
  assignedUsers: workerLeaf('assignedUsers', 'data', {
    about: 'Users that it serves first.',
    otherwise: 'all users alike',
  }),
  stealTargets: workerLeaf('stealTargets', 'data', {
    about: 'Users that it serves when those have no tasks: a list, or `any`.',
    otherwise: 'no users',
  }),
  lease: workerLeaf('lease', 'duration', {
    about:
      'How long it may be silent before other workers get its tasks, unless the queue sets it. It extends leases after a third of it.',
    fallback: LIMITS.leaseMs,
  }),
  grace: workerLeaf('grace', 'duration', {
    about: 'Time that a shutdown gives running handlers.',
    fallback: LIMITS.graceMs,
  }),
  scheduler: workerLeaf('scheduler', 'boolean', {
    about: 'Whether it fires due schedules, including those of other processes.',
    fallback: true,
  }),
};

/** Options of a worker. */
export const WORKER: Section = {
  kind: 'section',
  about: 'One worker; `workers` is a list of them.',
  fields: worker,
  check: (value) => workerPlan(value, () => 'worker'),
};

const user: Fields<UserOptions> = {
  weight: settingLeaf(userPatch, 'weight', {
    about: 'Share of turns relative to other users.',
    otherwise: '1',
  }),
  maxRunning: settingLeaf(userPatch, 'maxRunning', {
    about: 'Most of its tasks that run at once, per queue.',
    otherwise: 'unlimited',
  }),
  maxQueued: settingLeaf(userPatch, 'maxQueued', {
    about: 'Most of its tasks that wait, per queue; more are refused.',
    otherwise: 'unlimited',
  }),
  rate: rateSection('per queue'),
};

const queue: Fields<QueueOptions> = {
  maxRunning: settingLeaf(queuePatch, 'maxRunning', {
    about: 'Most of its tasks that run at once.',
    otherwise: 'unlimited',
  }),
  rate: rateSection('of all its users together'),
  charge: settingLeaf(queuePatch, 'charge', {
    about: 'Cost of a turn: the cost of the task, or the time that it takes.',
    otherwise: '`task`',
  }),
  priorityWeights: settingLeaf(queuePatch, 'priorityWeights', {
    about: 'Turns of the priorities 1 to 5.',
    otherwise: '1, 2, 4, 8, 16',
  }),
  retries: settingLeaf(queuePatch, 'retries', {
    about: 'Attempts after the first, unless the enqueue or the definition sets them.',
    otherwise: '`defaults.retries`',
  }),
  timeout: settingLeaf(queuePatch, 'timeout', {
    about: 'Timeout of one attempt, or `none`. Longer than the lease.',
    otherwise: '`defaults.timeout`',
  }),
  lease: settingLeaf(queuePatch, 'lease', {
    about: 'How long a worker may be silent before other workers get its tasks of this queue.',
    otherwise: 'that of the worker',
  }),
  criticalBurst: settingLeaf(queuePatch, 'criticalBurst', {
    about: 'One normal turn of a user after this many critical ones.',
    otherwise: 'critical always first',
  }),
  perUser: {
    kind: 'section',
    about: 'Settings of users without their own.',
    isOptional: true,
    orDefault: true,
    fields: user,
    check: userPatch,
  },
};

const queues: Dictionary = {
  kind: 'dictionary',
  about: 'Settings by queue; others in the store stay.',
  checkKey: (name) => checkName('queue', name),
  of: { kind: 'section', fields: queue, check: queuePatch },
};

const users: Dictionary = {
  kind: 'dictionary',
  about: 'Settings by user; others in the store stay.',
  checkKey: (name) => checkId('user', name),
  of: { kind: 'section', fields: user, check: userPatch },
};

function checkDataSync(sync: unknown): void {
  if (sync === 'always') return;
  try {
    durationOption('sync', sync, SYNC_BOUNDS);
  } catch {
    const { least, most } = SYNC_BOUNDS;
    throw new InvalidOptionError('', `"always", or a length from ${least} to ${most} ms`, sync);
  }
}

function checkEncryption({ keys, keysFile }: Readonly<Record<string, unknown>>): void {
  if ((keys === undefined) !== (keysFile === undefined)) return;
  throw new InvalidOptionError(
    '',
    'keys, or keysFile, and not both',
    keys === undefined ? 'none' : 'both',
  );
}

/** All options without the workers, of which there may be several. */
export const TOP: Section = {
  kind: 'section',
  others: ['worker', 'workers'],
  fields: {
    backend,
    redis: {
      kind: 'section',
      about:
        'Connection to Redis. Any option of `redis.tls` turns TLS on, also with `redis://`; its files are PEM, and relative to the file that names them.',
      fields: redis,
    },
    data: {
      kind: 'section',
      about:
        'Storage without a server: a folder, relative to the file that names it. See [deployment](guide/deployment.md#without-a-server).',
      fields: data,
    },
    encryption: {
      kind: 'section',
      about:
        'Encryption of data of users and handlers, such as inputs, results and errors. See [encryption](guide/encryption.md).',
      isOptional: true,
      fields: encryption,
      check: checkEncryption,
    },
    requireUser: leaf('boolean', {
      about: 'Refuse tasks without a user, instead of counting them as those of `default`.',
      fallback: false,
      check: checkBoolean,
    }),
    logLevel: leaf('text', {
      about:
        'Lowest level of logged lines: `debug`, `info`, `warn`, `error`, or `silent` for none.',
      fallback: 'info',
      check: logLevelOf,
    }),
    logErrors: leaf('boolean', {
      about:
        'Lines about failed attempts contain the message of the error, which may reveal inputs.',
      fallback: true,
      check: checkBoolean,
    }),
    series: leaf('boolean', {
      about: 'Processes count what they store and run by minute and hour: `fairloom series`.',
      fallback: true,
      check: checkBoolean,
    }),
    defaults: {
      kind: 'section',
      about: 'Options of tasks, unless the enqueue or the definition sets them.',
      fields: defaults,
    },
    retention: {
      kind: 'section',
      about: 'How long ended tasks are kept.',
      fields: retention,
    },
    scheduler: {
      kind: 'section',
      about: 'Defaults of schedules.',
      fields: scheduler,
    },
    xcom: {
      kind: 'section',
      about: 'Options of XCom values, which tasks pass on by name.',
      fields: xcom,
    },
    metrics: {
      kind: 'section',
      about: 'Content of `/metrics` of workers and schedulers of the command line.',
      fields: metrics,
    },
    queues,
    users,
  },
};

/** All options; `workers` is a list of `worker`. */
export const ROOT: Section = { kind: 'section', fields: { ...TOP.fields, worker: WORKER } };
