/** Files of a folder that somebody works in go while they are read. */
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
  return { times: 0 };
});
afterAll(() => vi.resetModules());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const readFileSync = (path: string): Buffer => {
    if (!path.includes('/log-') || gone.times-- <= 0) return fs.readFileSync(path);
    throw Object.assign(new Error('ENOENT: on purpose'), { code: 'ENOENT' });
  };
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
