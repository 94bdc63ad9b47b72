/** Files of a folder in use go while they are read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { examineData } from '../../src/backends/file/examine.ts';
import { file } from '../../src/backends/file/file-backend.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { newTask } from '../support/file/some-state.ts';

/** How often a segment is gone when it is about to be read. */
const gone = vi.hoisted(() => {
  // Others of this process have loaded what is mocked here, and load it again.
  vi.resetModules();
  return { times: 0, torn: 0 };
});
afterAll(() => vi.resetModules());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const readFileSync = (path: string): Buffer => {
    if (path.includes('/log-') && gone.torn-- > 0) return torn(fs.readFileSync(path));
    if (!path.includes('/log-') || gone.times-- <= 0) return fs.readFileSync(path);
    throw Object.assign(new Error('ENOENT: on purpose'), { code: 'ENOENT' });
  };
  /** Its first frame was not there yet when that part was read, and its second one was when that was. */
  const torn = (bytes: Buffer): Buffer => bytes.fill(0, 40, 60);
  return { ...fs, readFileSync };
});

it('a file that goes before it is read is read anew with the others, some times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-examine-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const backend = file(folder);
  await backend.tasks.enqueue([newTask({ id: 'a' })], { atomic: true });
  gone.times = 2;
  const report = await examineData(folder, { clock: systemClock });
  expect(report).toMatchObject({ isOpen: true, segments: 1, damage: [] });
  gone.times = 100;
  await expect(examineData(folder, { clock: systemClock })).rejects.toThrow('on purpose');
  gone.times = 0;
  await backend.close();
});

// F94
it('what is written while it is read is no damage; what is gone at two looks is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-examine-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const backend = file(folder);
  for (const id of ['a', 'b']) await backend.tasks.enqueue([newTask({ id })], { atomic: true });
  gone.torn = 1;
  expect(await examineData(folder, { clock: systemClock })).toMatchObject({ damage: [] });
  gone.torn = 2;
  const [damage] = (await examineData(folder, { clock: systemClock }))?.damage ?? [];
  expect(damage).toMatchObject({ first: 1 });
  gone.torn = 0;
  await backend.close();
});
