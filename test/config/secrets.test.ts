/** Secrets are shown nowhere, and a configuration is written as it was read. */
import { inspect } from 'node:util';
import { type Config, ConfigError, loadConfig, Secret, toYaml } from 'fairloom/config';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedUrl } from '../../src/base/masked-url.ts';
import { fileOf, load, loadWithoutFile } from './kit.ts';

const PASSWORD = 'hunter2';

/** Every way in which a value is printed. */
function printed(value: unknown): string {
  return [
    inspect(value, { depth: 9, showHidden: true }),
    JSON.stringify(value),
    String((value as Config).redis.url),
    `${(value as Config).redis.password}`,
    JSON.stringify({ ...(value as Config).redis }),
    inspect(structuredClone(JSON.parse(JSON.stringify(value)))),
  ].join('\n');
}

describe('a configuration', () => {
  it('shows no secret, however it is printed', async () => {
    const yaml = `redis: { url: "redis://me:${PASSWORD}@h:1/2", password: ${PASSWORD} }`;
    const loaded = await load(yaml);
    const text = printed(loaded.config) + inspect(loaded, { depth: 9 }) + toYaml(loaded.config);
    expect(text).not.toContain(PASSWORD);
    expect(text).toContain('redis://me:***@h:1/2');
    expect(loaded.config.redis.url?.reveal()).toBe(`redis://me:${PASSWORD}@h:1/2`);
    expect(loaded.config.redis.password?.reveal()).toBe(PASSWORD);
  });

  it('takes the secrets of another one', async () => {
    const { config } = await load(`redis: { url: "redis://h", password: ${PASSWORD} }`);
    const { url, password } = config.redis;
    const again = await loadWithoutFile({ overrides: { redis: { url, password } } });
    expect(again.config.redis.password?.reveal()).toBe(PASSWORD);
  });
});

describe('an error', () => {
  it.each([
    `redis: { url: "redis://me:${PASSWORD}@h:port" }`,
    `redis: { url: "redis://me:${PASSWORD}@" }`,
    `redis: { url: "redis://me:${PASSWORD}@h/db" }`,
    `redis: { url: "http://me:${PASSWORD}@h" }`,
    `redis: { url: "${PASSWORD}" }`,
    `redis: { url: "${PASSWORD}:x" }`,
    `redis: { url: ["${PASSWORD}"] }`,
    `redis: { url: { password: "${PASSWORD}" } }`,
    `redis: { url: "redis://h/db?password=${PASSWORD}" }`,
    `redis: { password: [${PASSWORD}] }`,
    `redis: { password: { a: ${PASSWORD} } }`,
    `redis: { password: *${PASSWORD} }`,
    `redis: { password: !${PASSWORD} x }`,
    `redis: { password: &${PASSWORD} x }`,
    `redis: { password: "${PASSWORD} }`,
    `redis: { password: @${PASSWORD} }`,
    `redis:\n  password: a: ${PASSWORD}`,
    `redis:\n\tpassword: ${PASSWORD}`,
    'redis: { keyPrefix: "a ${REDIS_PASSWORD}" }',
    'worker: { concurrency: "${REDIS_PASSWORD}" }',
    'worker: { assignedUsers: [ann, "${REDIS_PASSWORD}${LONG}"] }',
  ])('about %s has none', async (yaml) => {
    const env = { REDIS_PASSWORD: PASSWORD, LONG: 'x'.repeat(200) };
    const error: unknown = await load(yaml, { env }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    const { message, problems } = error as ConfigError;
    expect([message, JSON.stringify(problems), inspect(error)].join('\n')).not.toContain(PASSWORD);
  });

  it('about variables and code has none either', async () => {
    for (const around of [
      { env: { FAIRLOOM_REDIS_URL: `rediz://:${PASSWORD}@h` } },
      { overrides: { redis: { url: `rediz://:${PASSWORD}@h` } } },
      { overrides: { redis: { password: { text: PASSWORD } } } },
      { overrides: { redis: { password: [PASSWORD] } } },
    ]) {
      const error: unknown = await loadWithoutFile(around).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigError);
      expect(inspect(error)).not.toContain(PASSWORD);
    }
  });
});

describe('a masked secret', () => {
  it.each([
    ['redis: { url: "redis://me:***@h" }', 'redis.url'],
    ['redis: { password: "***" }', 'redis.password'],
  ])('%s is not taken for one', async (yaml, path) => {
    const error: unknown = await load(yaml).catch((thrown: unknown) => thrown);
    expect((error as ConfigError).problems).toMatchObject([
      { path, expected: 'the password, not its mask' },
    ]);
  });

  it.each([
    ['redis://h:6379/0', 'redis://h:6379/0'],
    ['redis://me@h', 'redis://me@h'],
    ['redis://me:a%40b@h', 'redis://me:***@h'],
    ['redis://:x@h', 'redis://:***@h'],
    ['redis://h?sentinelPassword=x&family=6', 'redis://h?sentinelPassword=***&family=6'],
    ['/run/redis.sock', '/run/redis.sock'],
    ['/run/redis.sock?password=x', '***'],
    ['anything', '***'],
    ['anything:else', '***'],
  ])('%s is shown as %s', (url, shown) => {
    expect(maskedUrl(url)).toBe(shown);
  });

  it('may be made by hand', () => {
    expect([`${new Secret('a')}`, new Secret('a', 'b').toString()]).toEqual(['***', 'b']);
  });
});

describe('toYaml', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,8}$/);
  const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  const length = fc.constantFrom('1s', '90s', '5m', 1_000);
  const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(value, { nil: undefined });
  const limits = {
    weight: some(fc.integer({ min: 1, max: 100_000 }).map((n) => n / 100)),
    maxRunning: some(fc.integer({ min: 1, max: 9 })),
    rate: some(fc.record({ limit: fc.integer({ min: 1, max: 99 }), per: length })),
  };
  const input = fc.record({
    redis: some(
      fc.record({
        url: fc.constantFrom('redis://me:a%24%7Bb%7D@h:1/2', 'rediss://h', '/run/${x}.sock'),
        username: some(id.filter((text) => text.trim() !== '')),
        password: some(id.filter((text) => text.trim() !== '' && text !== '***')),
        keyPrefix: some(name),
      }),
    ),
    requireUser: some(fc.boolean()),
    logLevel: some(fc.constantFrom('debug', 'info', 'warn', 'error', 'silent')),
    logErrors: some(fc.boolean()),
    defaults: some(
      fc.record({ retries: some(fc.nat(9)), priority: some(fc.constantFrom(3, 'high')) }),
    ),
    workers: fc.uniqueArray(
      fc.record({
        id: name,
        concurrency: some(fc.integer({ min: 1, max: 9 })),
        lease: some(length),
      }),
      { minLength: 1, maxLength: 3, selector: (worker) => worker.id },
    ),
    queues: fc.dictionary(name, fc.record({ perUser: some(fc.record(limits)) }), { maxKeys: 3 }),
    users: fc.dictionary(id, fc.record(limits), { maxKeys: 3 }),
  });

  it('with reveal is loaded as the same configuration', async () => {
    await fc.assert(
      fc.asyncProperty(input, async (overrides) => {
        const { config } = await loadWithoutFile({ overrides });
        const yaml = toYaml(config, { reveal: true });
        const again = await loadConfig({ file: fileOf(yaml, 'again.yaml'), env: {} });
        expect(toYaml(again.config, { reveal: true })).toBe(yaml);
        expect(JSON.parse(JSON.stringify(again.config))).toEqual(
          JSON.parse(JSON.stringify(config)),
        );
      }),
      { numRuns: 100 },
    );
  });
});
