/** `fairloom dashboard` and `fairloom dev`: who gets in, and that they serve what they say. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { fairloomHere } from '../support/cli-here.ts';
import { BIN, fairloom, ROOT } from '../support/processes/run-process.ts';

const folder = mkdtempSync(join(ROOT, 'temp/dev-'));
afterAll(() => rmSync(folder, { recursive: true }));

const where = ['--redis', inject('redisUrl'), '--prefix', `dashboard-${process.pid}`];

interface Started {
  readonly child: ChildProcessByStdio<null, null, Readable>;
  /** The URL that was told, the newest one; another than `before`, or told once more. */
  url(times?: number): Promise<string>;
  end(): Promise<number | null>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, FAIRLOOM_REDIS_URL: '', ...env },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const told = (): readonly string[] => said.match(/http:\/\/\S+\/(?=\n)/g) ?? [];
  return {
    child,
    url: async (times = 1) => {
      await expect.poll(() => told().length).toBeGreaterThanOrEqual(times);
      return told().at(-1) ?? '';
    },
    end: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** With a name of the host that `fetch` would not send. */
function statusUnder(url: string, host: string, path = 'api/v1/'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });
}

it('the demo shows itself on the page', async () => {
  const { url, end } = start(['demo', '--dashboard', '--json']);
  const base = await url();
  const users = async (): Promise<string> => (await fetch(`${base}api/v1/users`)).text();
  await expect.poll(users).toContain('"noisy"');
  expect((await fetch(base)).headers.get('content-type')).toContain('text/html');
  expect(await end()).toBe(0);
});

describe('fairloom dashboard', () => {
  // F102
  it('serves this machine alone, under any name', async () => {
    const { url, end } = start(['dashboard', '--port', '0', ...where]);
    const base = await url();
    expect((await fetch(`${base}api/v1/overview`)).status).toBe(200);
    expect((await fetch(base)).headers.get('content-type')).toContain('text/html');
    const { port } = new URL(base);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect([name, await statusUnder(base, `${name}:${port}`)]).toEqual([name, 200]);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `a+b.evil.example:${port}`,
      `localhost:${port}, evil.example`,
      `localhost.:${port}`,
      `2130706433:${port}`,
      'localhost',
      'localhost:1',
    ]) {
      for (const path of ['api/v1/', 'api/v1/events?watch=overview', '', 'mark.svg', 'tasks']) {
        expect([host, path, await statusUnder(base, host, path)]).toEqual([host, path, 400]);
      }
    }
    expect(await end()).toBe(0);
  });

  // F102
  it('is asked under names that it was told of', async () => {
    const allowed = ['--allow-host', 'Queue.example', '--allow-host', 'localhost:8080'];
    const { url, end } = start(['dashboard', '--port', '0', ...allowed, ...where]);
    const base = await url();
    for (const host of ['queue.example', 'localhost:8080', new URL(base).host]) {
      expect([host, await statusUnder(base, host)]).toEqual([host, 200]);
    }
    expect(await statusUnder(base, 'queue.example:8080')).toBe(400);
    expect(await end()).toBe(0);
    const { code, stderr } = await fairloom(['dashboard', '--allow-host', 'http://a', ...where]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--allow-host')]);
  });

  it('wants the token that it was given', async () => {
    const { url, end } = start(['dashboard', '--port', '0', ...where], {
      FAIRLOOM_HTTP_TOKEN: 'of mine',
    });
    const base = await url();
    const status = async (token: string) =>
      (await fetch(`${base}api/v1/`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status('of mine'), await status('of min'), await status('')]).toEqual([
      200, 403, 403,
    ]);
    expect(await statusUnder(base, 'evil.example')).toBe(400);
    // What was built refuses it as the sources do.
    const headers = { authorization: 'Bearer of mine' };
    for (const path of ['api/v1/tasks/%zz', 'api/v1/tasks/%ff', '%zz']) {
      expect([path, (await fetch(`${base}${path}`, { headers })).status]).toEqual([path, 400]);
    }
    expect(await end()).toBe(0);
  });

  it('does not open itself to others', async () => {
    const open = ['dashboard', '--host', '0.0.0.0', '--port', '0', ...where];
    const { code, stderr } = await fairloom(open);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--insecure-no-auth')]);
    expect((await fairloom([...open, '--token', ''])).code).toBe(2);
    for (const FAIRLOOM_HTTP_TOKEN of [' ', '\t']) {
      for (const words of [open, ['dashboard', ...where], ['dev', 'tasks.mjs']]) {
        const refused = await fairloomHere(words, { env: { FAIRLOOM_HTTP_TOKEN } });
        expect([words, refused.code, refused.stderr]).toEqual([
          words,
          2,
          expect.stringContaining('the token is blank'),
        ]);
      }
    }
    const allowed = ['--allow-host', 'other.example'];
    const { url, end } = start([...open, '--insecure-no-auth', ...allowed]);
    const base = (await url()).replace('0.0.0.0', '127.0.0.1');
    expect(await statusUnder(base, 'other.example')).toBe(200);
    // By its address a machine is known, by a name of the web it is not.
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of addresses.filter(({ family }) => family === 'IPv4')) {
      const host = `${address}:${new URL(base).port}`;
      expect([host, await statusUnder(base, host)]).toEqual([host, 200]);
    }
    expect(await statusUnder(base, 'evil.example')).toBe(400);
    expect(await end()).toBe(0);
  });
});

it('fairloom dev runs tasks, and starts anew when a module changes', async () => {
  const file = join(folder, 'tasks.mjs');
  const entry = pathToFileURL(join(ROOT, 'dist/index.js')).href;
  const write = (word: string): void =>
    writeFileSync(
      file,
      `import { task } from '${entry}';\nexport const hi = task('hi', async (name) => '${word} ' + name);\n`,
    );
  write('hello');
  const { url, end } = start(['dev', file, '--port', '0']);
  const hi = async (base: string): Promise<unknown> => {
    const headers = { authorization: 'x', 'content-type': 'application/json' };
    const body = '{"name":"hi","input":"ann"}';
    const made = await fetch(`${base}api/v1/tasks`, { method: 'POST', headers, body });
    const id: unknown = Reflect.get(Object(await made.json()), 'id');
    let task: object = {};
    await expect
      .poll(async () => {
        task = Object(await (await fetch(`${base}api/v1/tasks/${String(id)}`)).json());
        return Reflect.get(task, 'state');
      })
      .toBe('finished');
    return Reflect.get(task, 'result');
  };
  expect(await hi(await url())).toBe('hello ann');
  write('good day');
  expect(await hi(await url(2))).toBe('good day ann');
  expect(await end()).toBe(0);
});
