/** A log that an older version of Fairloom wrote, and did not close. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fairloom, silentLogger, task } from 'fairloom';
import { file } from 'fairloom/file';
import { afterEach, beforeEach, expect, it } from 'vitest';

const FIXTURE = fileURLToPath(new URL('../../fixtures/log-format-1/', import.meta.url));

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-format-'));
  cpSync(FIXTURE, folder, { recursive: true });
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('of format 1 is read, and gone on with', async () => {
  const mail = task('mail', async () => undefined);
  for (const id of ['new-1', 'new-2']) {
    const loom = new Fairloom({ backend: file(folder), tasks: [mail], log: silentLogger });
    await loom.enqueue(mail, undefined, { id, user: 'ann' });
    const { items } = await loom.tasks.list({ state: 'queued', user: 'ann' });
    expect(items.map(({ name }) => name)).toEqual(new Array(id === 'new-1' ? 4 : 5).fill('mail'));
    expect(await loom.tasks.get('bob-2')).toMatchObject({ user: 'bob', dependsOn: ['bob-1'] });
    expect(await loom.users.get('bob')).toMatchObject({ settings: { weight: 3 } });
    await loom.close();
  }
  expect(readdirSync(folder).some((name) => name.startsWith('state-'))).toBe(true);
});
