/** Copies between a data folder and Redis: by functions, and by `fairloom copy`. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { foldersBy } from '../../../src/backends/copy/folders.ts';
import { file } from '../../../src/backends/file/file-backend.ts';
import { diskIn } from '../../../src/backends/file/log/disk.ts';
import { markIncomplete } from '../../../src/backends/file/replay/incomplete.ts';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { fairloomHere } from '../../support/cli-here.ts';
import { backendOver } from '../../support/copies.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { visible } from '../../support/visible.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(words);
  return { words };
});

const NEW = { overwrite: false, force: false };
const OVER = { overwrite: true, force: false };

let client: Redis;
let count = 0;
const folders: string[] = [];
const looms: Fairloom[] = [];

beforeAll(() => {
  client = new Redis(inject('redisPlace'));
});

afterEach(async () => {
  for (const loom of looms.splice(0)) await loom.close({ timeout: 0 });
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

afterAll(async () => {
  const keys = await client.keys(`folders-${process.pid}-*`);
  if (keys.length > 0) await client.unlink(...keys);
  client.disconnect();
});

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-copy-'));
  folders.push(folder);
  return join(folder, 'data');
}

function loomOn(backend: Backend): Fairloom {
  const loom = new Fairloom({ backend, tasks: [say], log: silentLogger });
  looms.push(loom);
  return loom;
}

/** A folder with tasks that have ended, wait and are due later. */
async function busyFolder(): Promise<string> {
  const folder = folderOf();
  const loom = loomOn(file(folder));
  const worker = loom.worker();
  await worker.start();
  const handle = await loom.enqueue(say, 'done', { id: 'done', user: 'ada' });
  await handle.result();
  await worker.stop();
  await loom.enqueue(say, 'waits', { id: 'waits', user: 'ada' });
  await loom.enqueue(say, 'later', { id: 'later', user: 'ada', delay: '1h' });
  await loom.schedules.set('nightly', { every: '1d', task: say, input: 'x', user: 'ada' });
  await loom.close();
  looms.splice(looms.indexOf(loom), 1);
  return folder;
}

async function copy(...args: readonly string[]) {
  return fairloomHere(['copy', ...args]);
}

describe('a data folder', () => {
  it('is written whole, and shows the same when it is opened', async () => {
    const clock = new HandClock();
    const source = backendOver(clock);
    const folder = folderOf();
    await source.backend.open({ retention: source.store.retention });
    const loom = new Fairloom({ backend: source.backend, tasks: [say], clock, log: silentLogger });
    for (let n = 0; n < 20; n++) await loom.enqueue(say, `${n}`, { user: `u${n % 3}` });
    const { create, open } = foldersBy(clock);
    const before = await visible(source.backend, source.store);
    await create(folder, source.store, NEW);
    const opened = await open(folder, false);
    const there = backendOver(clock, opened.store);
    expect(await visible(there.backend, source.store)).toEqual(before);
    await opened.close();
    await expect(create(folder, source.store, NEW)).rejects.toMatchObject({
      code: 'COPY_REFUSED',
    });
    await create(folder, source.store, OVER);
    const backend = file(folder, { clock });
    expect(await visible(backend, source.store)).toEqual(before);
    await expect(open(folder, false)).rejects.toThrow(/open in another process/);
    await backend.close();
    await loom.close();
  });

  it('that is not complete is refused, until it is made anew', async () => {
    const clock = new HandClock();
    const folder = folderOf();
    const { create, open, empty } = foldersBy(clock);
    await create(folder, empty(), NEW);
    await markIncomplete(diskIn(folder));
    const backend = file(folder, { clock });
    await expect(backend.inspect.stats()).rejects.toThrow(/incomplete copy/);
    await backend.close();
    await expect(open(folder, false)).rejects.toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
    await expect(create(folder, empty(), NEW)).rejects.toThrow(/--overwrite/);
    await create(folder, empty(), OVER);
    await expect((await open(folder, false)).close()).resolves.toBeUndefined();
  });

  it('that is not there is not made by a look', async () => {
    const folder = folderOf();
    const { open } = foldersBy(new HandClock());
    await expect(open(folder, false)).rejects.toMatchObject({ code: 'COPY_REFUSED' });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('fairloom copy', () => {
  const prefixOf = (): string => `folders-${process.pid}-${++count}`;
  const url = (): string => inject('redisUrl');

  it('goes from a folder to Redis, to Redis, and back to a folder', async () => {
    const folder = await busyFolder();
    const [prefix, other] = [prefixOf(), prefixOf()];
    const first = await copy('--from', folder, '--to', url(), '--prefix', prefix, '-o', 'json');
    expect(first.code, first.stderr).toBe(0);
    const report = JSON.parse(first.stdout);
    expect(report.counts).toMatchObject({ tasks: 3, open: 2, leased: 0, schedules: 1 });
    const between = ['--from', url(), '--to', url(), '--prefix', prefix, '--to-prefix', other];
    expect((await copy(...between)).code).toBe(0);
    const there = folderOf();
    const last = await copy('--from', url(), '--to', there, '--prefix', other);
    expect(last.code, last.stderr).toBe(0);
    expect(last.stdout).toContain('tasks');
    for (const backend of [redis(url(), { prefix }), file(there)]) {
      const loom = loomOn(backend);
      expect((await loom.tasks.get('done'))?.result).toEqual({ words: 'done' });
      expect((await loom.tasks.get('waits'))?.state).toBe('queued');
      expect((await loom.schedules.get('nightly'))?.id).toBe('nightly');
    }
    const [, onFile] = looms.slice(-2);
    await onFile?.enqueue(say, 'more', { id: 'more', user: 'ada' });
    await onFile?.close();
    looms.pop();
    const again = loomOn(file(there));
    expect((await again.stats()).counts).toMatchObject({ queued: 2, scheduled: 1, finished: 1 });
    expect(readdirSync(folder).some((name) => name.startsWith('log-'))).toBe(true);
  });

  it('says what is in the way, and ends with the code for that', async () => {
    const folder = await busyFolder();
    const prefix = ['--prefix', prefixOf()];
    await copy('--from', folder, '--to', url(), ...prefix);
    const again = await copy('--from', folder, '--to', url(), ...prefix);
    expect(again.code).toBe(6);
    expect(again.stderr).toMatch(/not empty.*--overwrite/);
    const over = await copy('--from', folder, '--to', url(), ...prefix, '--overwrite');
    expect(over.code, over.stderr).toBe(0);
    const same = await copy('--from', url(), '--to', url(), ...prefix);
    expect(same.stderr).toMatch(/the same place/);
    const nobody = await copy('--from', 'redis://127.0.0.1:1', '--to', folderOf());
    expect(nobody.code).toBe(4);
    const none = await copy('--from', folderOf(), '--to', url(), ...prefix);
    expect(none.stderr).toMatch(/there is no folder/);
    expect((await copy('--from', folder)).code).toBe(2);
  });
});
