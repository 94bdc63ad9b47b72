/** Which error of the catalogue a server's words become, and whether trying again may help. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../src/backends/redis/connection/failures.ts';

describe('an error of the server', () => {
  it.each([
    [
      'ERR user_script:36: attempt to index a nil value script: f00, on @user_script:36.',
      'BACKEND_UNSUPPORTED',
    ],
    [
      'ERR Error running script (call to f_f00): @user_script:1: user_script:1: oh no',
      'BACKEND_UNSUPPORTED',
    ],
    [
      'ERR Wrong number of args calling Redis command from script script: f00, on @user_script:2.',
      'BACKEND_UNSUPPORTED',
    ],
    [
      "OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1.",
      'BACKEND_FULL',
    ],
    ['LOADING Redis is loading the dataset in memory', 'BACKEND_UNAVAILABLE'],
    [
      "READONLY You can't write against a read only replica. script: f00, on @user_script:9.",
      'BACKEND_UNAVAILABLE',
    ],
    ['NOPERM this user has no permissions', 'BACKEND_UNSUPPORTED'],
    // F101
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'BACKEND_UNAVAILABLE'],
    ['ASK 7 127.0.0.1:7001', 'BACKEND_UNAVAILABLE'],
    [
      'ERR Script attempted to access a non local key in a cluster node script: f00, on @user_script:9.',
      'BACKEND_UNAVAILABLE',
    ],
    ['MOVED 7 127.0.0.1:7001', 'BACKEND_UNSUPPORTED'],
  ])('%s', (text, code) => {
    const found = failure('settle', new Error(text));
    expect(found).toMatchObject({ code, retryable: code !== 'BACKEND_UNSUPPORTED' });
  });

  it('about its memory says so', () => {
    expect(failure('enqueue', new Error('OOM command not allowed')).message).toBe(
      'enqueue: the backend takes no new work (the memory of the server is full)',
    );
  });
});
