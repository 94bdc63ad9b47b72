/** One way to say each thing: plurals, priorities, members of groups, forms of output, where Redis is. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { frameLines } from '../../src/cli/live/frame.ts';
import { FIRST_SCREEN } from '../../src/cli/live/keys.ts';
import { userListing } from '../../src/cli/live/lists.ts';
import { styleFor } from '../../src/cli/terminal/style.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { parallel } from '../../src/workflow/parallel.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { fairloom } from '../support/processes/run-process.ts';

const prefix = `one-way-${process.pid}`;
const url = inject('redisUrl');
const where = ['--redis', url, '--prefix', prefix];
const begin = task('begin', async (n: number) => n);
const make = task('make-thumbs', async (n: number) => n);
const read = task('meta', async (n: number) => n);
const media = begin.pipe(parallel({ thumbs: make, meta: read })).as('media');
const loom = new Fairloom({
  backend: redis(url, { prefix }),
  tasks: [media],
  log: silentLogger,
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairloom-one-way-'));
  await loom.enqueue(begin, 1, { id: 'urgent', priority: 'critical', delay: '1h' });
});
afterAll(async () => {
  await loom.close();
  await rm(folder, { recursive: true, force: true });
});

// F36
describe('one way', () => {
  it('one of a thing is one', () => {
    const user = { user: 'a', queue: 'q', weight: 1, queued: 1, running: 0, ahead: 0, why: '' };
    const snapshot = { queued: 1, running: 0, scheduled: 0, deferred: 0, dead: 0, slots: 1 };
    const style = styleFor({}, {});
    const shown = (users: number, workers: number): string => {
      const all = { ...snapshot, workers, isCut: false, users: Array(users).fill(user) };
      const listing = userListing(all, 'running', style);
      const frame = { snapshot: all, listing, notice: undefined };
      return frameLines(frame, FIRST_SCREEN, 99, style).join('\n');
    };
    expect(shown(1, 1)).toMatch(/on 1 worker\b[\s\S]*1 user by/);
    expect(shown(2, 2)).toMatch(/on 2 workers[\s\S]*2 users by/);
  });

  it('a priority is shown by its name, in lists and alone', async () => {
    const list = await fairloom(['tasks', 'list', ...where]);
    expect(list.stdout).toMatch(/^urgent .* critical /m);
    const one = await fairloom(['tasks', 'get', 'urgent', ...where]);
    expect(one.stdout).toMatch(/^priority +critical$/m);
  });

  it.each(['dispatched', 'driven'] as const)(
    'members of a group have their keys, in lists as in drawings (%s)',
    async (form) => {
      const worker = loom.worker({ concurrency: 3 });
      await worker.start();
      const run = await loom.enqueue(media, 1, { form });
      await run.result();
      await worker.stop();
      const graph = await fairloom(['runs', 'graph', run.id, ...where]);
      expect(graph.stdout).toContain('thumbs: make-thumbs [finished]');
      const list = await fairloom(['runs', 'get', run.id, ...where]);
      expect(list.stdout).toMatch(/^thumbs: make-thumbs +finished/m);
      expect(list.stdout).toMatch(/^meta +finished/m);
      const { nodes } = (await loom.runs.get(run.id)) ?? { nodes: [] };
      expect(nodes.find(({ node }) => node === 'make-thumbs')).toMatchObject({ member: 'thumbs' });
      expect(nodes.find(({ node }) => node === 'meta')).not.toHaveProperty('member');
    },
  );

  it('YAML is offered where it is written', async () => {
    const help = await fairloom(['tasks', 'list', '--help']);
    expect(help.stdout).toMatch(/--output <form>/);
    expect(help.stdout).not.toMatch(/\byaml\b(?<!fairloom\.yaml)/);
    expect((await fairloom(['config', 'show', '-o', 'yaml', ...where])).stdout).toContain('redis:');
    const wrong = await fairloom(['tasks', 'list', '-o', 'yaml', ...where]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('config show') });
    const unknown = await fairloom(['tasks', 'list', '-o', 'xml', ...where]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('table, json') });
  });

  it('a length that is too long is told its bounds, and no infinity', async () => {
    await expect(loom.enqueue(begin, 1, { delay: '4000d' })).rejects.toThrow(
      'delay: expected ms or a text such as "30s", at most 315576000000 ms, got "4000d"',
    );
    const { code, stderr } = await fairloom([
      'enqueue',
      'begin',
      '1',
      '--delay',
      '4000d',
      ...where,
    ]);
    expect(code).toBe(2);
    expect(stderr).not.toContain('Infinity');
  });

  describe('REDIS_URL', () => {
    const shown = async (
      env: Readonly<Record<string, string | undefined>>,
      args: readonly string[] = [],
    ): Promise<{ backend: string; redis: { url?: string } }> => {
      const options = { cwd: folder, env: { FAIRLOOM_PREFIX: undefined, ...env } };
      const { stdout } = await fairloom(['config', 'show', '-o', 'json', ...args], options);
      return JSON.parse(stdout);
    };
    const host = 'redis://host:1/0';

    it('is read when nothing else says where Redis is', async () => {
      expect(await shown({ REDIS_URL: host })).toMatchObject({
        backend: 'redis',
        redis: { url: host },
      });
      expect(await shown({ REDIS_URL: '' })).toMatchObject({ backend: 'memory' });
      const own = { REDIS_URL: host, FAIRLOOM_REDIS_URL: 'redis://own:2/0' };
      expect(await shown(own)).toMatchObject({ redis: { url: 'redis://own:2/0' } });
      const flag = await shown({ REDIS_URL: host }, ['--redis', 'redis://flag:3/0']);
      expect(flag).toMatchObject({ redis: { url: 'redis://flag:3/0' } });
    });

    it('stands below a file', async () => {
      const file = join(folder, 'own.yaml');
      writeFileSync(file, 'redis: { url: "redis://file:4/0" }\n');
      const named = await shown({ REDIS_URL: host }, ['--config', file]);
      expect(named).toMatchObject({ redis: { url: 'redis://file:4/0' } });
      writeFileSync(file, 'backend: memory\n');
      expect(await shown({ REDIS_URL: host }, ['--config', file])).toMatchObject({
        backend: 'memory',
      });
    });

    it('does for a command', async () => {
      const env = { REDIS_URL: url };
      const { code, stdout } = await fairloom(['tasks', 'get', 'urgent', '--prefix', prefix], {
        cwd: folder,
        env,
      });
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('begin') });
      const masked = await fairloom(['config', 'show', '--origin'], {
        cwd: folder,
        env: { REDIS_URL: 'redis://u:secret@host:1/0' },
      });
      expect(masked.stdout).toContain('REDIS_URL');
      expect(masked.stdout).not.toContain('secret');
    });
  });
});
