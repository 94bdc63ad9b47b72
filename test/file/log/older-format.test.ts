/** A log that an older version of Fairloom wrote, and did not close. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fairloom, silentLogger } from 'fairloom';
import { file } from 'fairloom/file';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { diskIn } from '../../../src/backends/file/log/disk.ts';
import { findData, NOTHING } from '../../../src/backends/file/log/recovery.ts';

const FIXTURE = fileURLToPath(new URL('../../fixtures/log-format-1/', import.meta.url));

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-format-'));
  cpSync(FIXTURE, folder, { recursive: true });
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The law of the version that wrote the fixture. */
const LAW_BEFORE = 1;

it('of format 1 is read, commit by commit', () => {
  const lines = [...findData(diskIn(folder), LAW_BEFORE).linesAfter(NOTHING)];
  expect(lines.length).toBeGreaterThan(0);
  for (const id of ['bob-1', 'bob-2']) expect(lines.join('\n')).toContain(`"${id}"`);
});

it('of an older law is refused, with what to do, and left as it is', async () => {
  const before = readdirSync(folder).sort();
  const loom = new Fairloom({ backend: file(folder), log: silentLogger });
  await expect(loom.tasks.counts()).rejects.toMatchObject({
    code: 'BACKEND_UNSUPPORTED',
    message: expect.stringContaining('open and close the folder with that version first'),
  });
  await loom.close();
  expect(
    readdirSync(folder)
      .filter((name) => before.includes(name))
      .sort(),
  ).toEqual(before);
});
