/** The files of a real folder: what has to be synced before it is counted on, and disks that take a part. */
import { mkdtempSync, type OpenMode, type PathLike, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Disk, diskIn } from '../../../src/backends/file/log/disk.ts';

/** What the file system was asked for; and the most bytes that it takes at once. */
const asked = vi.hoisted(() => {
  // Others of this process have loaded what is mocked here, and load it again.
  vi.resetModules();
  return { calls: [] as string[], most: Infinity };
});
afterAll(() => vi.resetModules());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const names = new Map<number, string>();
  const nameOf = (path: unknown): string => String(path).split('/').at(-1) ?? '';
  const say = (what: string, descriptor: number): void => {
    asked.calls.push(`${what} ${names.get(descriptor)}`);
  };
  return {
    ...fs,
    open: (path: PathLike, flags: OpenMode, ...rest: readonly unknown[]) => {
      const done = rest.at(-1);
      const mode = rest.length > 1 ? Number(rest[0]) : undefined;
      fs.open(path, flags, mode, (error, descriptor) => {
        if (error === null) names.set(descriptor, nameOf(path));
        if (typeof done === 'function') done(error, descriptor);
      });
    },
    openSync: (...args: Parameters<typeof fs.openSync>) => {
      const descriptor = fs.openSync(...args);
      names.set(descriptor, nameOf(args[0]));
      return descriptor;
    },
    fsync: (...[descriptor, done]: Parameters<typeof fs.fsync>) => {
      say('sync', descriptor);
      fs.fsync(descriptor, done);
    },
    fsyncSync: (descriptor: number) => {
      say('sync', descriptor);
      fs.fsyncSync(descriptor);
    },
    fdatasyncSync: (descriptor: number) => {
      say('sync of data', descriptor);
      fs.fdatasyncSync(descriptor);
    },
    renameSync: (...[from, to]: Parameters<typeof fs.renameSync>) => {
      asked.calls.push(`rename ${nameOf(from)}`);
      fs.renameSync(from, to);
    },
    writeSync: (
      descriptor: number,
      bytes: Uint8Array,
      ...[from, count, at]: readonly [number, number, number]
    ) => fs.writeSync(descriptor, bytes, from, Math.min(count, asked.most), at),
  };
});

let folder = '';
let disk: Disk;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  disk = diskIn(folder);
  asked.calls = [];
  asked.most = Infinity;
});

/** The name of the folder, as calls tell it. */
const own = (): string => folder.split('/').at(-1) ?? '';

describe('a file of a data folder', () => {
  it('has its zeros and its name on the disk before it is there', async () => {
    (await disk.create('new', 3_000_000)).close();
    expect(asked.calls).toEqual(['sync new', `sync ${own()}`]);
    expect(readFileSync(join(folder, 'new')).equals(Buffer.alloc(3_000_000))).toBe(true);
  });

  it('has its new name on the disk', async () => {
    (await disk.create('old', 0)).close();
    asked.calls = [];
    disk.rename('old', 'new');
    expect(asked.calls).toEqual(['rename old', `sync ${own()}`]);
  });

  it('is written whole, however little the disk takes at once', async () => {
    const file = await disk.create('new', 100);
    asked.calls = [];
    asked.most = 7;
    file.write(Buffer.from('a text that is longer than that'), 10);
    file.syncNow();
    file.close();
    expect(readFileSync(join(folder, 'new')).toString('utf8', 10, 41)).toBe(
      'a text that is longer than that',
    );
    expect(asked.calls).toEqual(['sync of data new']);
  });
});
