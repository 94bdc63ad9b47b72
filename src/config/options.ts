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
  about: 'Where tasks live. `memory` ends with the process.',
  fallback: 'memory',
  otherwise: '`redis` where `redis.url` is given, `file` where `data.folder` is, else `memory`',
  check: oneOf('memory', 'file', 'redis'),
});

const tls: Fields<TlsConfig> = {
  ca: fileLeaf('Authority that signed the certificate of the server.', 'those of Node'),
  cert: fileLeaf('Certificate that this client shows.', 'none'),
  key: fileLeaf('Its private key.', 'none'),
  servername: leaf('text', {
    about: 'The name that the certificate of the server must have.',
    otherwise: 'the host of the URL',
    check: checkFilled,
  }),
  rejectUnauthorized: leaf('boolean', {
    about: '`false` takes any certificate, also that of an attacker in between.',
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
    about: 'User of the ACL. Goes before that of the URL.',
    otherwise: 'that of the URL',
    check: checkFilled,
  }),
  password: leaf('text', {
    about: 'Goes before that of the URL. Never shown.',
    otherwise: 'that of the URL',
    secret: 'whole',
    check: checkPassword,
  }),
  keyPrefix: leaf('text', {
    about: 'Begins every key, so that applications can share a server.',
    fallback: DEFAULT_PREFIX,
    check: (value) => checkPrefix(typeof value === 'string' ? value : ''),
  }),
  connectTimeout: leaf('duration', {
    about: 'How long one attempt to connect may take.',
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
    about: 'The data folder, of this machine; it is made when it is not there.',
    otherwise: 'none',
    isFile: true,
    check: checkFolder,
  }),
  sync: leaf('duration', {
    about:
      'When what was answered survives a loss of power: `always`, before it is answered; else so long after it at the latest.',
    fallback: 'always',
    check: checkDataSync,
  }),
  maxBytes: leaf('number', {
    about: 'Of the folder: beyond, what would store more is refused, and work goes on.',
    otherwise: 'as much as the disk has',
    check: checkMaxBytes,
  }),
};

const encryption: Fields<EncryptionConfig> = {
  keys: leaf('text', {
    about:
      'Keys as `id:base64`, parted by spaces or commas: the first encrypts, all decrypt. Never shown.',
    otherwise: 'none',
    secret: 'whole',
    check: keysIn,
  }),
  keysFile: fileLeaf('A file that has them, one on each line, in place of `keys`.', 'none'),
  acceptUnencrypted: leaf('boolean', {
    about: 'Reads also what is not encrypted, while a place is switched over.',
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
    about: 'Of cron patterns that name none. A schedule keeps the zone that it was set with.',
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
      'Users with figures of their own: `none`, `all`, the `top:20` that wait longest, or a list.',
    fallback: 'none',
    check: (value) => checkUserSelection('', value),
  }),
};

const worker: Fields<WorkerConfig> = {
  id: workerLeaf('id', 'text', {
    about: 'A name, unique among live workers: a second one is refused, after 8 s.',
    otherwise: 'process id and random letters',
  }),
  concurrency: workerLeaf('concurrency', 'number', {
    about: 'Tasks that run at once.',
    fallback: LIMITS.concurrency,
  }),
  queues: workerLeaf('queues', 'data', {
    about:
      'Queues that it serves: a list, or a mapping to weights where some shall get more turns.',
    fallback: ['default'],
  }),
  assignedUsers: workerLeaf('assignedUsers', 'data', {
    about: 'Users that it serves first.',
    otherwise: 'everybody alike',
  }),
  stealTargets: workerLeaf('stealTargets', 'data', {
    about: 'Whom it serves when those have nothing: a list of others, or `any`.',
    otherwise: 'no users',
  }),
  lease: workerLeaf('lease', 'duration', {
    about:
      'How long it may be silent before its tasks go to others, where the queue says nothing. It extends at a third of it.',
    fallback: LIMITS.leaseMs,
  }),
  grace: workerLeaf('grace', 'duration', {
    about: 'How long a shutdown lets running handlers go on.',
    fallback: LIMITS.graceMs,
  }),
  scheduler: workerLeaf('scheduler', 'boolean', {
    about: 'It fires due schedules, also those that other processes have set.',
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
    about: 'Claim on turns relative to other users.',
    otherwise: '1',
  }),
  maxRunning: settingLeaf(userPatch, 'maxRunning', {
    about: 'At most so many of its tasks run at once, per queue.',
    otherwise: 'unlimited',
  }),
  maxQueued: settingLeaf(userPatch, 'maxQueued', {
    about: 'At most so many wait, per queue; more are refused.',
    otherwise: 'unlimited',
  }),
  rate: rateSection('per queue'),
};

const queue: Fields<QueueOptions> = {
  maxRunning: settingLeaf(queuePatch, 'maxRunning', {
    about: 'At most so many of its tasks run at once.',
    otherwise: 'unlimited',
  }),
  rate: rateSection('of all its users together'),
  charge: settingLeaf(queuePatch, 'charge', {
    about: 'What a turn costs: the cost of the task, or the time that it takes.',
    otherwise: '`task`',
  }),
  priorityWeights: settingLeaf(queuePatch, 'priorityWeights', {
    about: 'Turns of the priorities 1 to 5.',
    otherwise: '1, 2, 4, 8, 16',
  }),
  retries: settingLeaf(queuePatch, 'retries', {
    about: 'Attempts after the first, where neither an enqueue nor a definition says it.',
    otherwise: '`defaults.retries`',
  }),
  timeout: settingLeaf(queuePatch, 'timeout', {
    about: 'How long one attempt may run, or `none`. Longer than the lease.',
    otherwise: '`defaults.timeout`',
  }),
  lease: settingLeaf(queuePatch, 'lease', {
    about: 'How long a worker may be silent before tasks of this queue go to others.',
    otherwise: 'that of the worker',
  }),
  criticalBurst: settingLeaf(queuePatch, 'criticalBurst', {
    about: 'One normal turn of a user after so many critical ones.',
    otherwise: 'critical always first',
  }),
  perUser: {
    kind: 'section',
    about: 'For users without settings of their own.',
    isOptional: true,
    orDefault: true,
    fields: user,
    check: userPatch,
  },
};

const queues: Dictionary = {
  kind: 'dictionary',
  about: 'Settings by queue; what is not named stays as it is in the store.',
  checkKey: (name) => checkName('queue', name),
  of: { kind: 'section', fields: queue, check: queuePatch },
};

const users: Dictionary = {
  kind: 'dictionary',
  about: 'Settings by user; what is not named stays as it is in the store.',
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
        'How to reach Redis. Any option of `redis.tls` turns TLS on, also with `redis://`; its files are PEM, and relative to the file that names them.',
      fields: redis,
    },
    data: {
      kind: 'section',
      about:
        'Where tasks are kept without a server: in a folder, relative to the file that names it. See [deployment](guide/deployment.md#without-a-server).',
      fields: data,
    },
    encryption: {
      kind: 'section',
      about:
        'Keys for what users and handlers write: inputs, results, errors and the like. See [encryption](guide/encryption.md).',
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
        'How loud a line of log must be: `debug`, `info`, `warn`, `error`, or `silent` for none.',
      fallback: 'info',
      check: logLevelOf,
    }),
    logErrors: leaf('boolean', {
      about:
        'Lines about failed attempts have the messages of what handlers threw, which may tell of inputs.',
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
      about: 'What holds where neither an enqueue nor a definition says anything.',
      fields: defaults,
    },
    retention: {
      kind: 'section',
      about: 'How long ended tasks are kept.',
      fields: retention,
    },
    scheduler: {
      kind: 'section',
      about: 'What holds for schedules that do not say otherwise.',
      fields: scheduler,
    },
    xcom: {
      kind: 'section',
      about: 'What holds for values that tasks hand on by name.',
      fields: xcom,
    },
    metrics: {
      kind: 'section',
      about: 'What workers and schedulers of the command line show on `/metrics`.',
      fields: metrics,
    },
    queues,
    users,
  },
};

/** All options; `workers` is a list of `worker`. */
export const ROOT: Section = { kind: 'section', fields: { ...TOP.fields, worker: WORKER } };
