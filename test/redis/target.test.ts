/** Where a server is: what is wrong with it is said before anything connects, and never a password. */
import { inspect } from 'node:util';
import { BackendUnavailableError, BackendUnsupportedError, InvalidOptionError } from 'fairloom';
import { redis } from 'fairloom/redis';
import { describe, expect, it } from 'vitest';
import { failure } from '../../src/backends/redis/connection/failures.ts';
import { maskedUrl } from '../../src/base/masked-url.ts';

const PASSWORD = 'hunter2';

function refusalOf(target: unknown, options?: object): InvalidOptionError {
  try {
    redis(target as string, options);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return error as InvalidOptionError;
  }
  throw new Error(`accepted ${inspect(target)}`);
}

// F29
describe('redis() of', () => {
  it.each([
    ['undefined', undefined, 'got undefined'],
    ['null', null, 'got null'],
    ['an empty text', '', 'got ""'],
    ['a blank text', '  ', 'got "  "'],
  ])('%s asks for the variable', (_, target, got) => {
    const { message } = refusalOf(target);
    expect(message).toMatch(/^redis: expected a URL, options of ioredis, or an ioredis client/);
    expect(message).toContain(got);
    if (target !== '  ') expect(message).toContain('is the variable set');
  });

  it.each([
    ['a number', 5],
    ['true', true],
    ['a list', ['redis://h']],
    ['a symbol', Symbol('s')],
    ['a function', () => 'redis://h'],
    ['an empty object', {}],
    ['a host that is not set', { host: undefined, port: undefined }],
    ['a misspelled host', { hots: 'h' }],
    ['a password alone', { password: PASSWORD }],
    ['a port that is none', { host: 'h', port: 'x' }],
    ['a port too high', { host: 'h', port: 65_536 }],
    ['a host with a space', { host: 'a b' }],
    ['a host that is null', { host: null }],
    ['a database that is none', { host: 'h', db: -1 }],
    ['no sentinels', { sentinels: [], name: 'm' }],
    ['sentinels as text', { sentinels: 'h' }],
  ])('%s is refused', (_, target) => {
    expect(inspect(refusalOf(target))).not.toContain(PASSWORD);
  });

  it.each([
    ['a URL', 'redis://localhost:1'],
    ['a socket', '/run/redis.sock'],
    ['a host', { host: 'localhost' }],
    ['a port', { port: 1 }],
    ['a port as text, as of a variable', { host: 'h', port: '6379' }],
    ['sentinels', { sentinels: [{ host: 'h', port: 1 }], name: 'm' }],
  ])('%s is taken', async (_, target) => {
    const backend = redis(target as never);
    expect(backend.name).toBe('redis');
    await backend.close();
  });
});

// F66
describe('a URL', () => {
  it.each([
    [`redis://app:${PASSWORD}#ss@host:6379`, '"#" is written %23', '***'],
    [`redis://app:${PASSWORD}#@host`, '"#" is written %23', '***'],
    [`redis://app:${PASSWORD}/x@host:6379`, '"/" is written %2F', '***'],
    [`redis://app:1?${PASSWORD}@host:6379`, '"/" is written %2F', '***'],
    [`redis://app:1/${PASSWORD}@host:6379`, '"/" is written %2F', '***'],
    [`redis://app:${PASSWORD}%@host:6379`, '"%" is written %25', 'redis://app:***@host:6379'],
    [`redis://app:${PASSWORD}%zz@host:6379`, '"%" is written %25', 'redis://app:***@host:6379'],
    [`redis://app:${PASSWORD}%ff@host:6379`, '"%" is written %25', 'redis://app:***@host:6379'],
    [`redis://app:${PASSWORD}@host:99999`, 'port is a number', 'redis://app:***@host:99999'],
    [`redis://app:${PASSWORD}@host:port`, 'port is a number', 'redis://app:***@host:port'],
    [`redis://app:${PASSWORD}@host:0`, 'port is a number', 'redis://app:***@host:0'],
    [`redis://app:${PASSWORD}@host:6379/one`, 'number of a database', 'redis://app:***@host'],
    [`redis://app:${PASSWORD}@host:6379/-1`, 'number of a database', 'redis://app:***@host'],
    [`redis://app:${PASSWORD}@`, 'a URL with a host', 'redis://app:***@'],
    [`redis://app:${PASSWORD}@:6379`, 'a URL with a host', 'redis://app:***@:6379'],
    [`http://app:${PASSWORD}@host:6379`, 'it begins with redis://', 'http://app:***@host'],
    [`unix://app:${PASSWORD}@host`, 'or the path of a socket', 'unix://app:***@host'],
    [`redis://app:${PASSWORD} x@host`, 'without spaces', 'redis://app:***@host'],
    [`redis://app:${PASSWORD}@ho st`, 'without spaces', '***'],
    [`app:${PASSWORD}@host:6379`, 'a URL such as', '***'],
    [PASSWORD, 'a URL such as', '***'],
    [`redis://host/0?password=${PASSWORD}@x`, '"@" %40', '***'],
    [`rediss://app:${PASSWORD}#@host`, '"#" is written %23', '***'],
  ])('%s is refused, and says why', (url, why, shown) => {
    const error = refusalOf(url);
    expect(error.message).toContain(why);
    expect(error.message).toContain(`got "${shown}`);
    for (const text of [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error)]) {
      expect(text).not.toContain(PASSWORD);
    }
    expect(error.cause).toBeUndefined();
  });

  it.each([
    `redis://app:${PASSWORD}@host:6379/3`,
    `rediss://:${PASSWORD}@host`,
    `redis://app:${PASSWORD}%23ss%25%2F@host:6379`,
    `redis://app:${PASSWORD}@ss@host:6379`,
    `redis://[::1]:6379/0`,
    `redis://host?password=${PASSWORD}`,
    `redis://host?sentinelPassword=${PASSWORD}&family=6`,
  ])('%s is taken, and shown without the password', async (url) => {
    await redis(url).close();
    expect(maskedUrl(url)).not.toContain(PASSWORD);
  });

  it('is not in an error of the connection, with any address', async () => {
    const cause = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
      command: { name: 'auth', args: ['app', PASSWORD] },
    });
    const outer = Object.assign(new Error('Connection is closed.', { cause }), {
      lastNodeError: cause,
      errors: [cause],
    });
    for (const error of [failure('lease', cause), failure('lease', outer)]) {
      expect(inspect(error, { depth: 9 })).not.toContain(PASSWORD);
    }
    expect(failure('lease', cause)).toBeInstanceOf(BackendUnsupportedError);
    const backend = redis(`redis://app:${PASSWORD}@127.0.0.1:1`);
    const error: unknown = await backend.inspect.ping().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BackendUnavailableError);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD);
    await backend.close();
  });
});
