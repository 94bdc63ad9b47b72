/** What the options of the data folder do. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fairloom } from 'fairloom';
import { type ConfigInput, fairloomOptions, loadConfig } from 'fairloom/config';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/logging/logger.ts';
import { fileOf } from './kit.ts';

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-data-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'data');
}

async function loomOn(data: ConfigInput['data']): Promise<Fairloom> {
  const { config } = await loadConfig({ file: false, env: {}, overrides: { data } });
  return new Fairloom({ ...(await fairloomOptions(config)), log: silentLogger });
}

describe('the data folder', () => {
  it('data.folder is where tasks are kept, relative to the file', async () => {
    const folder = folderOfTest();
    const before = await loomOn({ folder });
    const { id } = await before.enqueueByName('any');
    await before.close();
    const after = await loomOn({ folder });
    expect(await after.tasks.get(id)).toMatchObject({ state: 'queued' });
    await after.close();

    const file = fileOf('data: { folder: ./tasks }');
    const { config } = await loadConfig({ file, env: {} });
    expect(config.data.folder).toBe(`${dirname(file)}/tasks`);
  });

  it('data.sync is when what was answered is on the disk', async () => {
    const looms = [
      await loomOn({ folder: folderOfTest() }),
      await loomOn({ folder: folderOfTest(), sync: '250ms' }),
    ];
    const health = await Promise.all(looms.map((loom) => loom.health()));
    expect(health.map(({ backend }) => backend)).toEqual([
      { name: 'file', durable: true, shared: true, sync: 'always' },
      { name: 'file', durable: true, shared: true, sync: { everyMs: 250 } },
    ]);
    await Promise.all(looms.map((loom) => loom.close()));
  });

  it('data.maxBytes bounds the folder, and work goes on', async () => {
    const loom = await loomOn({ folder: folderOfTest(), maxBytes: 67_108_864 });
    const { id } = await loom.enqueueByName('any');
    // Snapshots are packed: what counts is what is left of it then.
    const large = (): string => randomBytes(375_000).toString('base64');
    const filling = async (): Promise<void> => {
      for (let count = 0; count < 200; count++) await loom.enqueueByName('any', large());
    };
    await expect(filling()).rejects.toMatchObject({ code: 'BACKEND_FULL' });
    expect((await loom.tasks.cancel(id)).kind).toBe('canceled');
    await loom.close();
  });
});
