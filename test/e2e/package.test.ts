/** The packed tarball in an empty project of a user. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { COMPILERS } from '../support/processes/compilers.ts';
import { type Consumer, installPacked } from '../support/processes/consumer.ts';

let consumer: Consumer;

beforeAll(async () => {
  consumer = await installPacked(['ioredis', '@types/node']);
});

afterAll(() => consumer?.remove());

describe('the tarball', () => {
  it('holds what is built, documentation and examples, and nothing else', () => {
    const pages = /^(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/;
    const unexpected = consumer.packed.filter(
      (path) =>
        !/^(dist|docs|examples|ops)\/|^(package\.json|LICENSE)$/.test(path) && !pages.test(path),
    );
    expect(unexpected).toEqual([]);
    expect(consumer.packed).toContain('dist/index.js');
    expect(consumer.packed).toContain('dist/cli/main.js');
  });

  it('is imported', async () => {
    consumer.write(
      'esm.js',
      `import { Fairloom, memory, task } from 'fairloom';
       import { loadConfig } from 'fairloom/config';
       import { describeBackend } from 'fairloom/conformance';
       import { METRICS } from 'fairloom/metrics';
       import { redis } from 'fairloom/redis';
       import { testLoom } from 'fairloom/testing';
       const double = task('double', (n) => n * 2);
       const loom = new Fairloom({ backend: memory(), tasks: [double] });
       const { config } = await loadConfig({ file: false, env: {} });
       console.log(await loom.run(double, 21), typeof redis, typeof testLoom, config.backend);
       await import('fairloom/types');
       await import('fairloom/backend');
       console.log(METRICS.tasks.name, typeof describeBackend);
       await loom.close();`,
    );
    const { code, stdout, stderr } = await consumer.run(process.execPath, 'esm.js');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '42 function function memory\ntasks function\n',
      stderr: '',
    });
  });

  it('loads from few files', () => {
    // A module for each file of the sources took most of the time that a command takes to start.
    const loaded = consumer.packed.filter((path) => /^dist\/.*\.js$/.test(path));
    expect(loaded.length).toBeLessThan(60);
  });

  it('calls its classes by their names', async () => {
    // A bundler may rename a class; what is thrown, printed and inspected shows the name.
    consumer.write(
      'names.js',
      `for (const entry of ['', '/config', '/file', '/redis', '/testing']) {
         const classes = Object.entries(await import('fairloom' + entry))
           .filter(([, value]) => /^class\\b/.test(String(value)));
         for (const [name, value] of classes) if (value.name !== name) console.log(name, value.name);
         if (entry === '') console.log(classes.length > 40);
       }`,
    );
    const { code, stdout, stderr } = await consumer.run(process.execPath, 'names.js');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'true\n', stderr: '' });
  });

  it('is required', async () => {
    consumer.write(
      'required.cjs',
      `const { Fairloom, memory, task } = require('fairloom');
       const { redis } = require('fairloom/redis');
       const { version } = require('fairloom/package.json');
       const double = task('double', (n) => n * 2);
       const loom = new Fairloom({ backend: memory(), tasks: [double] });
       loom.run(double, 21).then((n) => {
         console.log(n, typeof redis, version);
         return loom.close();
       });`,
    );
    const { code, stdout } = await consumer.run(process.execPath, 'required.cjs');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^42 function \d+\.\d+\.\d+/);
  });

  it('brings the command', async () => {
    const { code, stdout } = await consumer.run('npx', '--offline', 'fairloom', '--version');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('brings a command that knows the steps of its modules', async () => {
    consumer.write(
      'steps.js',
      `import { task } from 'fairloom';
       export const double = task('double', (n) => n * 2);`,
    );
    const args = ['--offline', 'fairloom', 'run', 'double', '21', '--module', './steps.js'];
    expect(await consumer.run('npx', ...args)).toMatchObject({ code: 0, stdout: '42\n' });
  });
});

describe('its types', () => {
  beforeAll(() => {
    consumer.write('use.ts', USE);
    consumer.write('tsconfig.json', JSON.stringify(TSCONFIG));
  });

  it.each(COMPILERS)('hold on TypeScript $version', async (compiler) => {
    const version = await consumer.run(process.execPath, compiler.tsc, '--version');
    expect(version.stdout).toContain(`Version ${compiler.version}`);
    const { code, stdout } = await consumer.run(process.execPath, compiler.tsc, '-p', '.');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });
});

describe('a script that uses Redis', () => {
  it('ends by itself after close()', async () => {
    consumer.write('redis.js', ON_REDIS);
    const url = inject('redisUrl');
    const { code, stdout } = await consumer.run(process.execPath, 'redis.js', url);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' });
  });

  it('ends by itself although it was not closed', async () => {
    consumer.write('left-open.js', ON_REDIS.replace('await loom.close();', ''));
    const url = inject('redisUrl');
    const { code } = await consumer.run(process.execPath, 'left-open.js', url);
    expect(code).toBe(0);
  });
});

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2023',
    lib: ['ES2023'],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    // What is inferred below has a name that this package can import.
    declaration: true,
    noEmit: true,
  },
  files: ['use.ts'],
};

const USE = `
import { ask, Fairloom, type Input, memory, type Output, task } from 'fairloom';
import { redis } from 'fairloom/redis';
import { testLoom } from 'fairloom/testing';

interface Order { readonly order: string; readonly note?: string | undefined }
const invoice = task('invoice', { retries: 5, timeout: '30s' }, async (input: Order, ctx) => ({
  pdf: \`\${ctx.user}/\${input.order}.pdf\`,
}));
const input: Input<typeof invoice> = { order: 'o-7' };
const loom = new Fairloom({ backend: redis('redis://localhost:6379'), tasks: [invoice] });
const handle = await loom.enqueue(invoice, input, { user: 'acme', priority: 'high', delay: '5m' });
const { pdf }: Output<typeof invoice> = await handle.result({ timeout: '1m' });
const text: string = pdf;
// @ts-expect-error: the input has another type.
await loom.enqueue(invoice, { order: 7 });
// @ts-expect-error: not a length of time.
await handle.result({ timeout: '1 minute' });
await loom.close();
export const rest = [text, memory, testLoom];
export const explained = () => loom.tasks.dependents('o-7');
export const approval = ask({ title: 'Approve?', choices: ['yes', 'no'] });
`;

const ON_REDIS = `
import { Fairloom, task } from 'fairloom';
import { redis } from 'fairloom/redis';
const double = task('double', (n) => n * 2);
const backend = redis(process.argv[2], { prefix: 'package-' + process.pid });
const loom = new Fairloom({ backend, tasks: [double] });
const worker = loom.worker();
await worker.start();
const handle = await loom.enqueue(double, 21, { user: 'ada' });
console.log(await handle.result({ timeout: '5s' }));
await worker.stop();
await loom.close();
`;
