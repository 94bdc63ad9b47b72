/** What reads or writes the files of a folder by itself, while a process has that open and does not answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { foldersBy } from '../../src/backends/copy/folders.ts';
import { examineData } from '../../src/backends/file/examine.ts';
import { file, fileForMaintenance } from '../../src/backends/file/file-backend.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { FastClock, newFolder, removeFolders } from './socket/kit.ts';
import { rawOwner } from './socket/raw.ts';

afterEach(removeFolders);

/** Questions to an owner come so many times as fast. */
const SPEED = 50;

/** A folder whose owner is there, has begun to write, and says nothing. */
async function busyFolder(): Promise<{ readonly folder: string; end(): void }> {
  const folder = newFolder();
  mkdirSync(folder);
  const owner = await rawOwner(folder, 1, () => undefined);
  writeFileSync(join(folder, 'log-00000001-00000001'), Buffer.alloc(1_000));
  return { folder, end: () => owner.close() };
}

const clock = new FastClock(SPEED);
const { open, create, empty } = foldersBy(clock);
const NEW = { overwrite: false, force: false };

/** Each of them would be the owner of the folder for a while, beside a process that goes on later. */
const TOOLS: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
  'a copy out of it': (folder) => open(folder, false),
  'a copy into it': (folder) => create(folder, empty(), NEW),
  'a copy over it': (folder) => create(folder, empty(), { overwrite: true, force: false }),
  'a copy out of it by force': (folder) => open(folder, true),
  'a copy over it by force': (folder) => create(folder, empty(), { overwrite: true, force: true }),
};

// F95
it.each(Object.keys(TOOLS))('%s is refused, however long the process is silent', async (tool) => {
  const { folder, end } = await busyFolder();
  await expect(TOOLS[tool]?.(folder)).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining('does not answer: stop it'),
  });
  end();
});

// F95
it('is looked at by doctor, and not repaired', async () => {
  const { folder, end } = await busyFolder();
  const report = await examineData(folder, { clock, aside: 'damaged-now' });
  expect(report).toMatchObject({
    isOpen: true,
    refusal: { kind: 'silent', text: expect.stringContaining('not answer') },
  });
  expect(report).not.toHaveProperty('repair');
  end();
});

// F95
it('is not opened for maintenance', async () => {
  const { folder, end } = await busyFolder();
  const backend = fileForMaintenance(folder, { clock });
  await expect(backend.inspect.ping()).rejects.toMatchObject({
    code: 'BACKEND_UNAVAILABLE',
    message: expect.stringContaining('does not answer'),
  });
  await backend.close();
  end();
});

// F95
it('is copied at once when its process is dead', async () => {
  const other = newFolder();
  mkdirSync(other);
  const owner = await rawOwner(other, 1, () => undefined);
  writeFileSync(join(other, 'log-00000001-00000001'), Buffer.alloc(1_000));
  await new Promise((resolve) => owner.close(resolve));
  const opened = await open(other, false);
  expect(opened.store.records.size).toBe(0);
  await opened.close();
});

// F95
it('in which a worker lived a moment ago is neither copied nor overwritten, but by force', async () => {
  const folder = newFolder();
  const backend = file(folder);
  await backend.workers.register({
    id: 'w',
    queues: ['default'],
    names: ['work'],
    concurrency: 1,
    host: 'test',
  });
  await backend.close();
  const { open: read, create: write } = foldersBy(systemClock);
  await expect(read(folder, false)).rejects.toThrow('workers live in the source (w)');
  const over = { overwrite: true, force: false };
  await expect(write(folder, empty(), over)).rejects.toThrow('workers live in the target (w)');
  await (await read(folder, true)).close();
  await write(folder, empty(), { overwrite: true, force: true });
});
