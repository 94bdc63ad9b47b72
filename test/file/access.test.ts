/** A data folder over its life: opened again, taken away, filled, read in part, asked by several. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import client from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import type { FileOptions } from '../../src/backends/file/file-options.ts';
import { Fairloom } from '../../src/client/client.ts';
import { encrypted } from '../../src/codec/encrypted.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import { prometheus } from '../../src/metrics/prometheus.ts';
import { RETENTION } from '../model/harness.ts';
import { newTask } from '../support/file/some-state.ts';
import { HandClock } from '../support/hand-clock.ts';

const open: Backend[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const backend of open.splice(0)) await backend.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-access-'));
  folders.push(folder);
  return folder;
}

function backendOf(folder: string, options: FileOptions = {}): Backend {
  const backend = file(folder, { clock: new HandClock(), ...options });
  open.push(backend);
  return backend;
}

async function add(backend: Backend, ...ids: readonly string[]): Promise<void> {
  await backend.tasks.enqueue(
    ids.map((id) => newTask({ id })),
    { atomic: true },
  );
}

async function states(backend: Backend, ...ids: readonly string[]): Promise<readonly unknown[]> {
  return (await backend.inspect.status(ids)).map((status) => status?.state);
}

/** Snapshots, newest first. */
function snapshotsIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith('state-'))
    .toSorted()
    .toReversed();
}

describe('a data folder', () => {
  it('has after a close what it had before, and nothing to replay', async () => {
    const folder = newFolder();
    const first = backendOf(folder);
    await add(first, 'a', 'b');
    await first.close();
    expect(snapshotsIn(folder)).toHaveLength(1);
    const second = backendOf(folder);
    expect(await states(second, 'a', 'b', 'c')).toEqual(['queued', 'queued', undefined]);
    await second.close();
    // Nothing has happened, so there is nothing new to say.
    expect(snapshotsIn(folder)).toHaveLength(1);
  });

  it('is open twice, and both see the same; when the owner goes the other goes on', async () => {
    const folder = newFolder();
    const [owner, guest] = [backendOf(folder), backendOf(folder)];
    const info = await owner.open({ retention: RETENTION });
    expect(info.description).toContain('synced before each answer');
    expect((await guest.open({ retention: RETENTION })).description).toContain('has open');
    await add(guest, 'a');
    expect(await states(owner, 'a')).toEqual(['queued']);
    await owner.close();
    await add(guest, 'b');
    expect(await states(guest, 'a', 'b')).toEqual(['queued', 'queued']);
  });

  it('has another owner when that ends, also without a call', async () => {
    const folder = newFolder();
    const [owner, guest] = [backendOf(folder), backendOf(folder)];
    await owner.open({ retention: RETENTION });
    await guest.open({ retention: RETENTION });
    await owner.close();
    await vi.waitFor(() => expect(readdirSync(folder)).toContain('owner-00000002'));
  });

  it('is refused once it is not there any more, and found again', async () => {
    const folder = newFolder();
    const backend = backendOf(folder);
    await add(backend, 'a');
    const copy = newFolder();
    cpSync(folder, copy, { recursive: true, filter: (name) => !name.includes('owner-') });
    rmSync(folder, { recursive: true });
    // The process that writes next finds out; the others do then too, and none begins with an empty folder.
    await expect(add(backend, 'b')).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(states(backend, 'a')).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(add(backend, 'b')).rejects.toThrow('the data is not in');
    cpSync(copy, folder, { recursive: true });
    expect(await states(backend, 'a', 'b')).toEqual(['queued', undefined]);
    await add(backend, 'b');
  });

  it('is read from the older snapshot when the newest one cannot be read, and says so', async () => {
    const folder = newFolder();
    for (const id of ['a', 'b', 'c']) {
      const backend = backendOf(folder);
      await add(backend, id);
      await backend.close();
    }
    const [newest = '', older = ''] = snapshotsIn(folder);
    const bytes = readFileSync(join(folder, newest));
    const middle = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    writeFileSync(join(folder, newest), bytes);
    const backend = backendOf(folder);
    const { warnings } = await backend.open({ retention: RETENTION });
    expect(warnings).toEqual([expect.stringContaining(newest)]);
    expect(await states(backend, 'a', 'b', 'c')).toEqual(['queued', 'queued', 'queued']);
    await backend.close();
    // Two that can be read, and the other one to look at.
    expect(snapshotsIn(folder)).toHaveLength(2);
    expect(snapshotsIn(folder)).toContain(older);
    expect(readdirSync(folder)).toContain(`bad-${newest}`);
    expect((await backendOf(folder).open({ retention: RETENTION })).warnings).toEqual([]);
  });

  it('refuses after its close, and may be closed again', async () => {
    const backend = backendOf(newFolder());
    await add(backend, 'a');
    await backend.close();
    await backend.close();
    await expect(add(backend, 'b')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('says when it syncs', async () => {
    const lazy = backendOf(newFolder(), { sync: { everyMs: 250 } });
    expect(lazy.capabilities).toEqual({ durable: true, shared: true, sync: { everyMs: 250 } });
    const { description } = await lazy.open({ retention: RETENTION });
    expect(description).toContain('synced every 250 ms');
  });

  it('says when its owner syncs, once that is known', async () => {
    const folder = newFolder();
    const owner = backendOf(folder, { sync: { everyMs: 250 } });
    const guest = backendOf(folder);
    await owner.open({ retention: RETENTION });
    expect(guest.capabilities.sync).toBe('always');
    await guest.open({ retention: RETENTION });
    expect(guest.capabilities.sync).toEqual({ everyMs: 250 });
    await owner.close();
    await guest.inspect.ping();
    expect(guest.capabilities.sync).toBe('always');
  });

  it('says so through all that is laid around a backend', async () => {
    const folder = newFolder();
    await backendOf(folder, { sync: { everyMs: 250 } }).open({ retention: RETENTION });
    const loom = new Fairloom({
      backend: backendOf(folder),
      metrics: prometheus({ client }),
      codec: encrypted({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] }),
    });
    expect((await loom.health()).backend.sync).toEqual({ everyMs: 250 });
    await loom.close();
  });
});

// F130
it('a ping says how long it took, of the owner and of a process that asks it', async () => {
  const folder = newFolder();
  const [owner, guest] = [backendOf(folder), backendOf(folder)];
  await add(owner, 'a');
  for (const backend of [owner, guest]) {
    expect((await backend.inspect.ping()).ms).toBeGreaterThan(0);
  }
});
