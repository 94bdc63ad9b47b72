/** Every mistake: what is said about it, and where. */
import { ConfigError, loadConfig } from 'fairloom/config';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/limits.ts';
import { type Around, complaintsOf, fileOf, load, loadWithoutFile, problemsOf } from './kit.ts';

const LENGTH = 'ms or a text such as "30s", from';
const COUNT = 'a whole number from 1 to';

describe('a value of the wrong type', () => {
  it.each([
    ['backend: mongo', '1:10 backend: expected "memory" or "file" or "redis", got "mongo"'],
    ['backend: [redis]', '1:10 backend: expected "memory" or "file" or "redis", got a list'],
    ['requireUser: yes', '1:14 requireUser: expected true or false, got "yes"'],
    ['requireUser: 1', '1:14 requireUser: expected true or false, got 1'],
    ['requireUser:', '1:13 requireUser: expected true or false, got nothing'],
    ['redis: fast', '1:8 redis: expected a mapping, got "fast"'],
    ['redis:', '1:7 redis: expected a mapping, got nothing'],
    ['redis: [a]', '1:8 redis: expected a mapping, got a list'],
    [
      'redis: { keyPrefix: "a b" }',
      '1:21 redis.keyPrefix: expected a name of letters, digits, ".", "_" and "-", at most 64, or that in braces (":" parts the prefix from the rest of a key), got "a b"',
    ],
    [
      'redis: { keyPrefix: 3 }',
      '1:21 redis.keyPrefix: expected a name of letters, digits, ".", "_" and "-", at most 64, or that in braces (":" parts the prefix from the rest of a key), got 3',
    ],
    [
      'redis: { connectTimeout: 0 }',
      `1:26 redis.connectTimeout: expected ${LENGTH} 1 to 600000 ms, got 0`,
    ],
    ['data: ./data', '1:7 data: expected a mapping, got "./data"'],
    ['data: { folder: "" }', '1:17 data.folder: expected the path of a folder, got ""'],
    [
      'data: { folder: d, sync: sometimes }',
      '1:26 data.sync: expected "always", or a length from 1 to 60000 ms, got "sometimes"',
    ],
    [
      'data: { folder: d, sync: 2m }',
      '1:26 data.sync: expected "always", or a length from 1 to 60000 ms, got "2m"',
    ],
    [
      'data: { folder: d, maxBytes: 1000 }',
      '1:30 data.maxBytes: expected an integer from 67108864, got 1000',
    ],
    ['redis: { tls: true }', '1:15 redis.tls: expected a mapping, got true'],
    ['redis: { tls: { ca: "" } }', '1:21 redis.tls.ca: expected the path of a file, got ""'],
    [
      'defaults: { retries: -1 }',
      '1:22 defaults.retries: expected a whole number from 0 to 1000000, got -1',
    ],
    [
      'defaults: { retries: 1.5 }',
      '1:22 defaults.retries: expected a whole number from 0 to 1000000, got 1.5',
    ],
    [
      'defaults: { retries: .nan }',
      '1:22 defaults.retries: expected a whole number from 0 to 1000000, got NaN',
    ],
    [
      'defaults: { retries: .inf }',
      '1:22 defaults.retries: expected a whole number from 0 to 1000000, got Infinity',
    ],
    [
      'defaults: { timeout: -5s }',
      `1:22 defaults.timeout: expected ${LENGTH} 1 to 315576000000 ms, got "-5s"`,
    ],
    [
      'defaults: { timeout: .nan }',
      `1:22 defaults.timeout: expected ${LENGTH} 1 to 315576000000 ms, got NaN`,
    ],
    [
      'defaults: { timeout: 5 minutes }',
      `1:22 defaults.timeout: expected ${LENGTH} 1 to 315576000000 ms, got "5 minutes"`,
    ],
    [
      'defaults: { priority: urgent }',
      '1:23 defaults.priority: expected a priority from 1 to 6, or its name, got "urgent"',
    ],
    [
      'defaults: { backoff: { jitter: some } }',
      '1:32 defaults.backoff.jitter: expected "full", "equal" or "none", got "some"',
    ],
    [
      'retention: { failed: -1 }',
      `1:22 retention.failed: expected ${LENGTH} 0 to 315576000000 ms, got -1`,
    ],
    [
      'retention: { failedCount: 0 }',
      `1:27 retention.failedCount: expected ${COUNT} 9007199254740991, got 0`,
    ],
    ['worker: { concurrency: ten }', `1:24 worker.concurrency: expected ${COUNT} 10000, got "ten"`],
    ['worker: { concurrency: "10" }', `1:24 worker.concurrency: expected ${COUNT} 10000, got "10"`],
    [
      'worker: { id: "no spaces" }',
      '1:15 worker.id: expected a name ([A-Za-z0-9][A-Za-z0-9._-]*, at most 64), got "no spaces"',
    ],
    [
      'worker: { lease: 50ms }',
      `1:18 worker.lease: expected ${LENGTH} 100 to 86400000 ms, got "50ms"`,
    ],
    [
      'worker: { queues: { bulk: 0 } }',
      '1:27 worker.queues.bulk: expected a weight from 0.01 to 1000, got 0',
    ],
    [
      'worker: { queues: mail }',
      '1:19 worker.queues: expected a list of names, or an object of weights, got "mail"',
    ],
    [
      'worker: { assignedUsers: ann }',
      '1:26 worker.assignedUsers: expected a list of users, got "ann"',
    ],
    [
      'worker: { assignedUsers: [ann, 7] }',
      '1:32 worker.assignedUsers[1]: expected an id of 1–128 bytes without lone surrogates, and not "." or "..", got 7',
    ],
    [
      'worker: { stealTargets: all }',
      '1:25 worker.stealTargets: expected a list of users, got "all"',
    ],
    ['workers: { id: a }', '1:10 workers: expected a list of 1 to 100 workers, got a mapping'],
    ['workers: []', '1:10 workers: expected a list of 1 to 100 workers, got a list of 0'],
    ['workers: [a]', '1:11 workers[0]: expected a mapping, got "a"'],
    ['queues: [a]', '1:9 queues: expected a mapping, got a list'],
    [
      'queues: { "a b": {} }',
      '1:11 queues.a b: expected a name ([A-Za-z0-9][A-Za-z0-9._-]*, at most 64), got "a b"',
    ],
    [
      'queues: { q: { charge: money } }',
      '1:24 queues.q.charge: expected "task" or "time", got "money"',
    ],
    [
      'queues: { q: { priorityWeights: [1] } }',
      '1:33 queues.q.priorityWeights: expected five weights, of the priorities 1 to 5, got a list',
    ],
    ['users: { ann: 3 }', '1:15 users.ann: expected a mapping, got 3'],
    [
      'users: { ann: { weight: 0 } }',
      '1:25 users.ann.weight: expected a weight from 0.01 to 1000, got 0',
    ],
    ['users: { ann: { rate: 100/1m } }', '1:23 users.ann.rate: expected a mapping, got "100/1m"'],
  ])('%s', async (yaml, complaint) => {
    expect(await complaintsOf(load(yaml))).toEqual([complaint]);
  });
});

describe('an unknown key', () => {
  it.each([
    [
      'redis: { port: 6379 }',
      '1:10 redis.port: expected an option, got the unknown "port"; of FairQueue; here it is redis.url',
    ],
    ['redus: {}', '1:1 redus: expected an option, got the unknown "redus"; did you mean redis?'],
    [
      'worker: { asignedUsers: [a] }',
      '1:11 worker.asignedUsers: expected an option, got the unknown "asignedUsers"; did you mean assignedUsers?',
    ],
    [
      'worker: { assigned_users: [a] }',
      '1:11 worker.assigned_users: expected an option, got the unknown "assigned_users"; of FairQueue; here it is worker.assignedUsers',
    ],
    [
      'worker: { max_concurrent_tasks: 3 }',
      '1:11 worker.max_concurrent_tasks: expected an option, got the unknown "max_concurrent_tasks"; of FairQueue; here it is worker.concurrency',
    ],
    [
      'queues: { q: { cost: 3 } }',
      '1:16 queues.q.cost: expected an option, got the unknown "cost"; did you mean defaults.cost?',
    ],
    [
      'retention: { colour: 3 }',
      '1:14 retention.colour: expected an option, got the unknown "colour"; there are finished, failed, canceled, finishedCount, failedCount, canceledCount',
    ],
    [
      '"<<": { requireUser: true }',
      '1:1 <<: expected an option, got the unknown "<<"; there are backend, redis, data, encryption, requireUser, logLevel, logErrors, series, defaults, retention, scheduler, xcom, metrics, queues, users, worker, workers',
    ],
    [
      'constructor: {}',
      '1:1 constructor: expected an option, got the unknown "constructor"; there are backend, redis, data, encryption, requireUser, logLevel, logErrors, series, defaults, retention, scheduler, xcom, metrics, queues, users, worker, workers',
    ],
  ])('%s', async (yaml, complaint) => {
    expect(await complaintsOf(load(yaml))).toEqual([complaint]);
  });

  it('is refused in code as well', async () => {
    const overrides = { worker: { concurency: 3 }, redis: { connectTimeout: () => 1 } };
    expect(await complaintsOf(loadWithoutFile({ overrides }))).toEqual([
      `code redis.connectTimeout: expected ${LENGTH} 1 to 600000 ms, got a function`,
      'code worker.concurency: expected an option, got the unknown "concurency"; did you mean concurrency?',
    ]);
  });
});

describe('values that cannot stand together', () => {
  it.each<[string, string, Around, string]>([
    [
      'worker and workers',
      '{ worker: { id: a }, workers: [{ id: b }] }',
      {},
      '1:22 workers: expected either worker or workers, got both',
    ],
    [
      'Redis without a URL',
      'backend: redis',
      {},
      '1:10 redis.url: expected a URL, since backend is "redis", got nothing',
    ],
    [
      'a file without a folder',
      'backend: file',
      {},
      '1:10 data.folder: expected a folder, since backend is "file", got nothing',
    ],
    [
      'a folder and a server',
      'redis: { url: "redis://h" }\ndata: { folder: d }',
      {},
      '2:17 backend: expected file or redis, since there are both data.folder and redis.url, got nothing',
    ],
    [
      'a folder and a server in the environment',
      '{}',
      { env: { FAIRLOOM_REDIS_URL: 'redis://h', FAIRLOOM_DATA_FOLDER: 'd' } },
      'FAIRLOOM_DATA_FOLDER backend: expected file or redis, since there are both data.folder and redis.url, got nothing',
    ],
    [
      'a lease as long as the timeout',
      'worker: { lease: 15m }',
      {},
      '1:18 worker.lease: expected less than defaults.timeout, which is "15m", got "15m"',
    ],
    [
      'a timeout shorter than the lease',
      'defaults: { timeout: 10s }',
      {},
      '1:22 defaults.timeout: expected more than worker.lease, which is "15s", got "10s"',
    ],
    [
      'a lease of a queue as long as its timeout',
      'queues: { mail: { lease: 20s, timeout: 20s } }',
      {},
      '1:26 queues.mail.lease: expected less than timeout, got "20s"',
    ],
    [
      'a lease of a queue as long as the timeout that holds there',
      '{ defaults: { timeout: 1m }, queues: { mail: { lease: 1m, timeout: default } } }',
      {},
      '1:55 queues.mail.lease: expected less than defaults.timeout, which is "1m", got "1m"',
    ],
    [
      'a timeout of a queue as short as the lease of a worker that serves it',
      '{ workers: [{ id: a }, { id: b, lease: 40s, queues: [mail] }], queues: { mail: { timeout: 30s } } }',
      {},
      '1:91 queues.mail.timeout: expected more than workers[1].lease, which is "40s", got "30s"',
    ],
    [
      'a zone that is none',
      'scheduler: { timeZone: Europe/Roma }',
      {},
      '1:24 scheduler.timeZone: expected an IANA time zone, as "Europe/Rome", got "Europe/Roma"',
    ],
    [
      'a time that is none',
      'xcom: { ttl: 0s }',
      {},
      '1:14 xcom.ttl: expected ms or a text such as "30s", from 1 to 315576000000 ms, got "0s"',
    ],
    [
      'twins',
      'workers: [{ id: a }, { id: a }]',
      {},
      '1:28 workers[1].id: expected a unique id, got "a"; workers[0] has it too',
    ],
    [
      'one id for many',
      'workers: [{}, {}]',
      { env: { FAIRLOOM_WORKER_ID: 'a' } },
      'FAIRLOOM_WORKER_ID worker.id: expected no id, since 2 workers would share it, got "a"',
    ],
    [
      'a target that is assigned',
      'worker: { assignedUsers: [a, b], stealTargets: [c, b] }',
      {},
      '1:48 worker.stealTargets: expected users outside assignedUsers, got "b"',
    ],
    [
      'targets of no user',
      'worker: { stealTargets: [] }',
      {},
      '1:9 worker.assignedUsers: expected at least one user to serve, got "none"',
    ],
    [
      'the same user twice',
      'worker: { assignedUsers: [a, a] }',
      {},
      '1:26 worker.assignedUsers: expected users without repetition, got "a"',
    ],
    [
      'a rate without its time',
      'users: { ann: { rate: { limit: 3 } } }',
      {},
      `1:23 users.ann.rate.per: expected ${LENGTH} 1 to 315576000000 ms, got nothing`,
    ],
    [
      'a burst above its limit',
      'queues: { q: { rate: { limit: 3, per: 1s, burst: 4 } } }',
      {},
      `1:50 queues.q.rate.burst: expected ${COUNT} 3, got 4`,
    ],
    [
      'a burst for each user above its limit',
      'queues: { q: { perUser: { rate: { limit: 3, per: 1s, burst: 4 } } } }',
      {},
      `1:61 queues.q.perUser.rate.burst: expected ${COUNT} 3, got 4`,
    ],
  ])('%s', async (_case, yaml, around, complaint) => {
    expect(await complaintsOf(load(yaml, around))).toEqual([complaint]);
  });

  it('a timeout of none is longer than any lease', async () => {
    const { config } = await load('{ defaults: { timeout: none }, worker: { lease: 24h } }');
    expect(config.defaults.timeout).toBe('none');
  });

  it('a queue with its own lease and timeout is not looked at beside others', async () => {
    const queues = '{ mail: { lease: 1s, timeout: 10s }, bulk: { timeout: none, lease: 1h } }';
    const yaml = `{ worker: { queues: { mail: 2, bulk: 1 } }, queues: ${queues} }`;
    const { config } = await load(yaml);
    expect(config.queues['mail']).toEqual({ lease: '1s', timeout: '10s' });
  });
});

describe('a file that is no configuration', () => {
  const deep = (open: string, close: string): string =>
    `a: ${open.repeat(20_000)}${close.repeat(20_000)}`;

  it.each<[string, string | Uint8Array, string]>([
    ['empty', '', '1:1 : expected a mapping of options, got an empty file'],
    ['comments alone', '# nothing yet\n', '1:1 : expected a mapping of options, got an empty file'],
    ['null', 'null', '1:1 : expected a mapping of options, got an empty file'],
    ['a list', '- redis', '1:1 : expected a mapping of options, got a list'],
    ['a text', 'redis', '1:1 : expected a mapping of options, got a text'],
    ['tabs', 'redis:\n\tkeyPrefix: a', '2:1 : expected spaces, got a tab'],
    [
      'an open bracket',
      'worker: { id: a',
      '1:16 : expected closed brackets and lines that are indented alike, got others',
    ],
    [
      'an open quote',
      'redis: { url: "redis',
      '1:21 : expected YAML, got a quote, bracket or colon that is missing',
    ],
    [
      'two documents',
      'requireUser: true\n---\nrequireUser: false',
      '2:1 : expected one document, got a second one',
    ],
    [
      'the same key twice',
      'requireUser: true\nrequireUser: false',
      '2:1 requireUser: expected each option once, got the same key again',
    ],
    [
      'the same user twice',
      'users: { 7: { weight: 1 }, "7": { weight: 2 } }',
      '1:28 users.7: expected each option once, got the same key again',
    ],
    [
      'an anchor',
      'worker: &w { id: a }',
      '1:12 worker: expected a value without an anchor, got an anchor',
    ],
    [
      'a tag of JavaScript',
      'worker: !!js/function "() => 1"',
      '1:23 worker: expected a value without a tag, got a tag',
    ],
    [
      'a tag of YAML',
      'requireUser: !!bool true',
      '1:21 requireUser: expected a value without a tag, got a tag',
    ],
    ['a list as a key', '? [a]\n: b', '1:3 : expected a text as a key, got another kind of key'],
    ['other bytes', Uint8Array.of(0xff, 0xfe, 0x41), '1:1 : expected UTF-8, got other bytes'],
    [
      'too large',
      `# ${'x'.repeat(LIMITS.configBytes)}`,
      `1:1 : expected at most ${LIMITS.configBytes} bytes, got more`,
    ],
    ['too deep in brackets', deep('[', ']'), '1:1 : expected YAML, got too many levels'],
    ['too deep in braces', deep('{a: ', '}'), '1:1 : expected YAML, got too many levels'],
    [
      'too deep in dashes',
      `a:\n  ${'- '.repeat(20_000)}x`,
      '1:1 : expected YAML, got too many levels',
    ],
    [
      'too deep in questions',
      `${'? '.repeat(20_000)}x`,
      '1:1 : expected YAML, got too many levels',
    ],
  ])('%s', async (_case, content, complaint) => {
    expect((await complaintsOf(load(content)))[0]).toBe(complaint);
  });

  it('aliases are refused before they can multiply', async () => {
    const bomb = 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nusers: *c';
    const complaints = await complaintsOf(load(bomb));
    expect(complaints).toContain('4:8 users: expected a value, got an alias');
  });

  it('a folder, a file that is not there, and a device without an end', async () => {
    const loadNamed = (file: string): Promise<unknown> => loadConfig({ file, env: {} });
    const [folder, none] = [
      await problemsOf(loadNamed('test')),
      await problemsOf(loadNamed('no.yaml')),
    ];
    expect([folder[0]?.got, none[0]?.got]).toEqual(['a folder', 'none of that name']);
    expect(await problemsOf(loadNamed('/dev/zero'))).toMatchObject([{ got: 'more' }]);
  });
});

describe('variables', () => {
  it.each([
    [
      'redis: { url: "${UNSET}" }',
      '1:15 redis.url: expected the variable UNSET to be set, got nothing; ${UNSET:-…} gives a default',
    ],
    [
      'redis: { keyPrefix: "${}" }',
      '1:21 redis.keyPrefix: expected ${NAME} or ${NAME:-default}, got "${}"; a plain ${ is written $${',
    ],
    [
      'redis: { keyPrefix: "${a b}" }',
      '1:21 redis.keyPrefix: expected ${NAME} or ${NAME:-default}, got "${a b}"; a plain ${ is written $${',
    ],
    [
      'worker: { assignedUsers: ["${UNSET}"] }',
      '1:27 worker.assignedUsers[0]: expected the variable UNSET to be set, got nothing; ${UNSET:-…} gives a default',
    ],
    [
      'worker: { concurrency: "${WORD}" }',
      `1:24 worker.concurrency: expected ${COUNT} 10000, got "\${WORD}"`,
    ],
  ])('%s', async (yaml, complaint) => {
    expect(await complaintsOf(load(yaml, { env: { WORD: 'hunter2' } }))).toEqual([complaint]);
  });

  it('that are missing do not matter where a later source has the value', async () => {
    const yaml = 'redis: { url: "redis://h", keyPrefix: "${UNSET}" }';
    const complaints = await complaintsOf(load(yaml, { overrides: { redis: { keyPrefix: 'a' } } }));
    expect(complaints.length).toBe(1);
  });
});

describe('a ConfigError', () => {
  it('tells everything at once, with its place', async () => {
    const file = fileOf(
      'backend: rediss\nworker:\n  concurrency: 0\n  leese: 3s\nusers: { a: { weight: x } }',
    );
    const error: unknown = await loadConfig({ file, env: {} }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    const { code, retryable, message, problems } = error as ConfigError;
    expect({ code, retryable }).toEqual({ code: 'INVALID_CONFIG', retryable: false });
    expect(problems.map(({ path, line }) => [path, line])).toEqual([
      ['backend', 1],
      ['users.a.weight', 5],
      ['worker.leese', 4],
      ['worker.concurrency', 3],
    ]);
    expect(problems[0]).toEqual({
      path: 'backend',
      expected: '"memory" or "file" or "redis"',
      got: '"rediss"',
      source: `${file}:1:10`,
      file,
      line: 1,
      column: 10,
    });
    expect(message.split('\n')).toEqual([
      '4 problems in the configuration',
      `  ${file}:1:10: backend: expected "memory" or "file" or "redis", got "rediss"`,
      `  ${file}:5:23: users.a.weight: expected a weight from 0.01 to 1000, got "x"`,
      `  ${file}:4:3: worker.leese: expected an option, got the unknown "leese"; did you mean lease?`,
      `  ${file}:3:16: worker.concurrency: expected a whole number from 1 to 10000, got 0`,
    ]);
  });

  it('has a message of bounded length', async () => {
    const users = Array.from({ length: 300 }, (_, at) => `  u${at}: { weight: 0 }`).join('\n');
    const error = await load(`users:\n${users}`).catch((thrown: unknown) => thrown);
    expect((error as ConfigError).problems.length).toBe(300);
    expect(String(error).split('\n').length).toBe(22);
    expect(String(error)).toContain('and 280 more');
  });
});

it('thousands of users are read in a moment', async () => {
  const lines = Array.from({ length: 8_000 }, (_, at) => `  user-${at}: { weight: 2 }`);
  const { config } = await load(`users:\n${lines.join('\n')}`);
  expect(Object.keys(config.users).length).toBe(8_000);
});
