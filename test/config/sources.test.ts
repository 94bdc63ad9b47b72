/** Where values come from, and which one wins. */

import { dirname } from 'node:path';
import { chdir, cwd } from 'node:process';
import { type ConfigOrigin, loadConfig } from 'fairloom/config';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config/options.ts';
import { optionsOf } from '../../src/config/schema.ts';
import { complaintsOf, fileOf, load, loadWithoutFile } from './kit.ts';

/** Origins without the name of the file. */
function fromOf(origins: ReadonlyMap<string, ConfigOrigin>, path: string): unknown {
  const origin = origins.get(path);
  if (origin?.from !== 'file') return origin;
  return `${origin.line}:${origin.column}`;
}

describe('precedence', () => {
  const yaml = 'redis:\n  url: redis://file\n  keyPrefix: file\nworker: { lease: 20s, grace: 1s }';

  it('is default, file, environment, code, field by field', async () => {
    const { config, origins } = await load(yaml, {
      env: { FAIRLOOM_REDIS_KEY_PREFIX: 'env', FAIRLOOM_WORKER_GRACE: '2s' },
      overrides: { worker: { grace: '3s' } },
    });
    expect(String(config.redis.url)).toBe('redis://file');
    expect(config.redis.keyPrefix).toBe('env');
    expect(config.workers).toMatchObject([{ concurrency: 10, lease: '20s', grace: '3s' }]);
    const paths = ['redis.url', 'redis.keyPrefix', 'redis.connectTimeout', 'workers[0].grace'];
    expect(paths.map((path) => fromOf(origins, path))).toEqual([
      '2:8',
      { from: 'environment', variable: 'FAIRLOOM_REDIS_KEY_PREFIX' },
      { from: 'default' },
      { from: 'code' },
    ]);
  });

  it('holds inside of queues and users too', async () => {
    const { config } = await load('users: { ann: { weight: 2, rate: { limit: 5, per: 1m } } }', {
      overrides: { users: { ann: { rate: { limit: 9 } }, bob: { weight: 3 } } },
    });
    expect(config.users).toEqual({
      ann: { weight: 2, rate: { limit: 9, per: '1m' } },
      bob: { weight: 3 },
    });
  });

  it('gives the word default its place: it takes back what came before', async () => {
    const { config } = await load('users: { ann: { rate: { limit: 5, per: 1m, burst: 2 } } }', {
      overrides: { users: { ann: { rate: 'default' } } },
    });
    expect(config.users).toEqual({ ann: { rate: 'default' } });
  });

  it('lets a list stand for itself', async () => {
    const { config } = await load('worker: { queues: [a, b] }', {
      overrides: { worker: { queues: ['c'] } },
    });
    expect(config.workers[0]?.queues).toEqual(['c']);
  });

  it('gives an absent field in code no effect', async () => {
    const { config } = await load(yaml, { overrides: { redis: { keyPrefix: undefined } } });
    expect(config.redis.keyPrefix).toBe('file');
  });
});

describe('the backend', () => {
  it.each([
    ['nothing is set', '{ requireUser: true }', {}, 'memory'],
    ['the file has a URL', '{ redis: { url: "redis://h" } }', {}, 'redis'],
    ['the file has a folder', '{ data: { folder: d } }', {}, 'file'],
    ['a host has a Redis', '{ data: { folder: d } }', { REDIS_URL: 'redis://h' }, 'file'],
    [
      'there are both, and the file says which',
      '{ backend: redis, redis: { url: "redis://h" }, data: { folder: d } }',
      {},
      'redis',
    ],
    [
      'a later source has a folder',
      '{ redis: { url: "redis://h" } }',
      { FAIRLOOM_DATA_FOLDER: 'd' },
      'file',
    ],
    [
      'the file has a URL and says memory',
      '{ backend: memory, redis: { url: "redis://h" } }',
      {},
      'memory',
    ],
    [
      'a later source has a URL',
      '{ backend: memory }',
      { FAIRLOOM_REDIS_URL: 'redis://h' },
      'redis',
    ],
    [
      'a later source says memory',
      '{ redis: { url: "redis://h" } }',
      { FAIRLOOM_BACKEND: 'memory' },
      'memory',
    ],
  ])('when %s', async (_case, yaml, env, backend) => {
    expect((await load(yaml, { env })).config.backend).toBe(backend);
  });
});

describe('REDIS_URL of a host', () => {
  const broken = { REDIS_URL: 'http://not-redis' };

  it.each([
    ['a folder in the file', '{ data: { folder: d } }', {}, {}, 'file'],
    ['a folder in the environment', '{}', { FAIRLOOM_DATA_FOLDER: 'd' }, {}, 'file'],
    ['a folder in code', '{}', {}, { data: { folder: 'd' } }, 'file'],
    ['memory in the file', '{ backend: memory }', {}, {}, 'memory'],
    ['memory in the environment', '{}', { FAIRLOOM_BACKEND: 'memory' }, {}, 'memory'],
    ['a server in the file', '{ redis: { url: "redis://h" } }', {}, {}, 'redis'],
    ['a server in the environment', '{}', { FAIRLOOM_REDIS_URL: 'redis://h' }, {}, 'redis'],
    ['a server in code', '{}', {}, { redis: { url: 'redis://h' } }, 'redis'],
  ])('is not looked at beside %s', async (...[, yaml, env, overrides, backend]) => {
    const { config } = await load(yaml, { env: { ...broken, ...env }, overrides });
    expect(config.backend).toBe(backend);
    expect(config.redis.url?.reveal()).not.toBe(broken.REDIS_URL);
  });

  it.each([
    ['nothing', '{}', {}],
    ['a prefix', '{ redis: { keyPrefix: a } }', {}],
    ['Redis without a server', '{ backend: redis }', {}],
    ['the same in the environment', '{}', { FAIRLOOM_BACKEND: 'redis' }],
  ])('counts beside %s, right or wrong', async (_case, yaml, env) => {
    const { config } = await load(yaml, { env: { REDIS_URL: 'redis://host', ...env } });
    expect([config.backend, config.redis.url?.reveal()]).toEqual(['redis', 'redis://host']);
    await expect(load(yaml, { env: { ...broken, ...env } })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('REDIS_URL'),
    });
  });
});

describe('the file', () => {
  it('is fairloom.yaml of the current folder, FAIRLOOM_CONFIG, or the one that was named', async () => {
    const named = fileOf('requireUser: true', 'named.yaml');
    const byVariable = fileOf('defaults: { retries: 7 }', 'variable.yaml');
    fileOf('defaults: { retries: 5 }');
    const before = cwd();
    chdir(dirname(named));
    try {
      const [usual, variable, both, none] = [
        await loadConfig({ env: {} }),
        await loadConfig({ env: { FAIRLOOM_CONFIG: byVariable } }),
        await loadConfig({ env: { FAIRLOOM_CONFIG: byVariable }, file: named }),
        await loadConfig({ env: { FAIRLOOM_CONFIG: byVariable }, file: false }),
      ];
      const files = [usual, variable, both, none].map(({ file }) => file);
      expect(files).toEqual(['fairloom.yaml', byVariable, named, undefined]);
      expect(usual.config.defaults.retries).toBe(5);
    } finally {
      chdir(before);
    }
  });

  it('may be JSON, with a mark of its byte order', async () => {
    const { config } = await load('\ufeff{ "defaults": { "retries": 4 } }');
    expect(config.defaults.retries).toBe(4);
  });
});

describe('variables in a file', () => {
  const env = { NAME: 'mail', COUNT: '7', EMPTY: '', YES: 'true', URL: 'redis://me:s3@h' };

  it.each([
    ['redis: { keyPrefix: "${NAME}" }', 'redis.keyPrefix', 'mail'],
    ['redis: { keyPrefix: "a-${NAME}-b" }', 'redis.keyPrefix', 'a-mail-b'],
    ['redis:\n  keyPrefix: ${NAME}', 'redis.keyPrefix', 'mail'],
    ['redis: { keyPrefix: "${NOT_SET:-fq}" }', 'redis.keyPrefix', 'fq'],
    ['redis: { keyPrefix: "${EMPTY:-fq}" }', 'redis.keyPrefix', 'fq'],
    ['redis: { username: "$${NAME}" }', 'redis.username', '${NAME}'],
    ['defaults: { retries: "${COUNT}" }', 'defaults.retries', 7],
    ['defaults: { retries: "${NOT_SET:-2}" }', 'defaults.retries', 2],
    ['requireUser: ${YES}', 'requireUser', true],
    ['defaults: { timeout: "${COUNT}m" }', 'defaults.timeout', '7m'],
    ['users: { ann: { weight: "${COUNT}" } }', 'users.ann.weight', 7],
  ])('%s', async (yaml, path, value) => {
    const { config } = await load(yaml, { env });
    const found = path
      .split('.')
      .reduce<unknown>((at, name) => Reflect.get(at as object, name), config);
    expect(found).toBe(value);
  });

  it('are not looked for in what a variable holds, nor in the environment itself', async () => {
    const tricky = { OUTER: '${NAME}', NAME: 'x', FAIRLOOM_REDIS_USERNAME: '${NAME}' };
    const { config } = await load('redis: { password: "${OUTER}" }', { env: tricky });
    expect(config.redis.password?.reveal()).toBe('${NAME}');
    expect(config.redis.username).toBe('${NAME}');
  });

  it('cannot add options: they are put in after the file was read', async () => {
    const { config } = await load('redis: { username: "${X}" }', {
      env: { X: 'a\nrequireUser: true' },
    });
    expect([config.requireUser, config.redis.username]).toEqual([false, 'a\nrequireUser: true']);
  });
});

describe('the environment', () => {
  it('has a variable for every option without a name of its own', () => {
    const named = optionsOf(ROOT).map(({ path, variable }) => [path.includes('*'), variable]);
    expect(named.filter(([isNamed, variable]) => isNamed === (variable !== undefined))).toEqual([]);
  });

  it('gives lists and mappings as JSON, numbers, lengths and truths as texts', async () => {
    const { config } = await loadWithoutFile({
      env: {
        FAIRLOOM_WORKER_ASSIGNED_USERS: '["a,b", "c"]',
        FAIRLOOM_WORKER_STEAL_TARGETS: 'any',
        FAIRLOOM_WORKER_QUEUES: '{"mail": 2}',
        FAIRLOOM_WORKER_CONCURRENCY: '4',
        FAIRLOOM_WORKER_LEASE: '20000',
        FAIRLOOM_REQUIRE_USER: 'true',
        FAIRLOOM_DEFAULTS_PRIORITY: '5',
        FAIRLOOM_DEFAULTS_BACKOFF_MAX: '10m',
        FAIRLOOM_REDIS_TLS_CA: 'ca.pem',
        FAIRLOOM_DATA_FOLDER: 'data',
        FAIRLOOM_DATA_SYNC: '250',
        FAIRLOOM_DATA_MAX_BYTES: '100000000',
      },
    });
    expect(config.workers).toMatchObject([
      { assignedUsers: ['a,b', 'c'], stealTargets: 'any', queues: { mail: 2 }, concurrency: 4 },
    ]);
    expect(config.workers[0]?.lease).toBe(20_000);
    expect(config.requireUser).toBe(true);
    expect(config.defaults).toMatchObject({ priority: 5, backoff: { max: '10m' } });
    expect(config.redis.tls).toEqual({ ca: `${cwd()}/ca.pem` });
    const folder = `${cwd()}/data`;
    expect(config.data).toEqual({ folder, sync: 250, maxBytes: 100_000_000 });
  });

  it('counts an empty variable as not set', async () => {
    const { config } = await load('redis: { url: "redis://h" }', {
      env: { FAIRLOOM_REDIS_URL: '' },
    });
    expect(String(config.redis.url)).toBe('redis://h');
  });

  it('refuses what is nearly an option, and leaves what Kubernetes sets alone', async () => {
    const kubernetes = {
      FAIRLOOM_PORT: 'tcp://10.0.0.1:80',
      FAIRLOOM_SERVICE_HOST: '10.0.0.1',
      FAIRLOOM_REDIS_PORT: 'tcp://10.0.0.1:6379',
      FAIRLOOM_REDIS_SERVICE_PORT: '6379',
      FAIRLOOM_REDIS_PORT_6379_TCP_ADDR: '10.0.0.1',
      FAIRLOOM_WORKER_SERVICE_HOST: '10.0.0.1',
    };
    expect(await loadWithoutFile({ env: kubernetes })).toHaveProperty('config');
    const env = { FAIRLOOM_REDIS_URI: 'redis://h', FAIRLOOM_WORKERS_CONCURRENCY: '3' };
    expect(await complaintsOf(loadWithoutFile({ env }))).toEqual([
      'FAIRLOOM_REDIS_URI : expected the name of a variable, got FAIRLOOM_REDIS_URI; did you mean FAIRLOOM_REDIS_URL?',
      'FAIRLOOM_WORKERS_CONCURRENCY : expected the name of a variable, got FAIRLOOM_WORKERS_CONCURRENCY; did you mean FAIRLOOM_WORKER_CONCURRENCY?',
    ]);
  });
});

describe('worker and workers', () => {
  const two = 'workers: [{ id: a, lease: 20s }, { id: b }]';

  it('worker is a list of one', async () => {
    expect((await load('worker: { id: a }')).config.workers).toMatchObject([{ id: 'a' }]);
    expect((await load('requireUser: true')).config.workers.length).toBe(1);
  });

  it('worker of a later source changes every worker of the list', async () => {
    const env = { FAIRLOOM_WORKER_LEASE: '30s' };
    const { config } = await load(two, { env, overrides: { worker: { concurrency: 3 } } });
    expect(config.workers).toMatchObject([
      { id: 'a', lease: '30s', concurrency: 3 },
      { id: 'b', lease: '30s', concurrency: 3 },
    ]);
  });

  it('workers of a later source take the place of all', async () => {
    const { config } = await load(two, {
      env: { FAIRLOOM_WORKER_LEASE: '30s' },
      overrides: { workers: [{ id: 'c' }] },
    });
    expect(config.workers).toMatchObject([{ id: 'c', lease: '15s' }]);
  });
});

it('a configuration is frozen, all of it', async () => {
  const { config } = await load(
    '{ users: { ann: { rate: { limit: 1, per: 1s } } }, worker: { queues: [a] } }',
  );
  const parts = [config, config.users, config.users['ann'], config.workers, config.workers[0]];
  const deep = [...parts, config.workers[0]?.queues, config.redis, config.defaults.backoff];
  expect(deep.map(Object.isFrozen)).toEqual(deep.map(() => true));
});
