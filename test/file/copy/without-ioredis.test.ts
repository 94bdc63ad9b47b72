/** Who has no `ioredis` copies between folders, and hears what is missing for Redis. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { file } from '../../../src/backends/file/file-backend.ts';
import { withIoredis } from '../../../src/backends/redis/connection/with-ioredis.ts';
import { fairloomHere } from '../../support/cli-here.ts';
import { newTask } from '../../support/file/some-state.ts';

vi.hoisted(() => {
  // Others of this process have loaded what is mocked here, and load it again.
  vi.resetModules();
});

vi.mock('ioredis', () => {
  throw new Error("Cannot find package 'ioredis'");
});

const root = mkdtempSync(join(tmpdir(), 'fairloom-copy-'));
afterAll(() => {
  rmSync(root, { recursive: true });
  vi.resetModules();
});

it('a copy between folders needs no ioredis', async () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  const backend = file(from);
  await backend.tasks.enqueue([newTask({ id: 'a' })], { atomic: true });
  await backend.close();
  const copied = await fairloomHere(['copy', '--from', from, '--to', to]);
  expect(copied).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(to)).toBe(true);
});

it('who needs it and has it not hears what to do; other errors are as they were', async () => {
  const missing = new Error("Cannot find package 'ioredis'");
  await expect(withIoredis(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'BACKEND_UNSUPPORTED',
    message: expect.stringContaining('npm install ioredis'),
  });
  const other = new Error('something else');
  await expect(withIoredis(() => Promise.reject(other))).rejects.toBe(other);
});
