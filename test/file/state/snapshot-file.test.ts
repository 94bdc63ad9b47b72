import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, diskIn } from '../../../src/backends/file/log/disk.ts';
import { newStore } from '../../../src/backends/file/replay/engine.ts';
import {
  readSnapshot,
  snapshotName,
  writeSnapshot,
} from '../../../src/backends/file/state/snapshot-file.ts';
import { readState } from '../../../src/backends/file/state/state-reader.ts';
import { writeState } from '../../../src/backends/file/state/state-writer.ts';
import { partsOn } from '../../../src/backends/memory/parts.ts';
import { Store } from '../../../src/backends/memory/store/store.ts';
import { FaultyDisk } from '../../support/file/faulty-disk.ts';
import { newTask } from '../../support/file/some-state.ts';
import { mustBeSameState } from '../../support/file/state-text.ts';
import { HandClock } from '../../support/hand-clock.ts';

const NUMBER = 1_234;
const NAME = 'state-000000001234';

let folder = '';
let disk: Disk;
const clock = new HandClock();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'state-'));
  disk = diskIn(folder);
});

afterEach(() => rmSync(folder, { recursive: true }));

async function small(): Promise<Store> {
  const store = new Store(clock);
  await partsOn(store).tasks.enqueue([newTask({ id: 'a', payload: '"é"' })], { atomic: true });
  return store;
}

const BAD = { name: 'BadSnapshotError', message: expect.stringContaining(NAME) };

/** A disk with that file. */
function holding(bytes: Buffer): Disk {
  return { ...disk, read: () => bytes };
}

async function written(store: Store): Promise<Buffer> {
  await writeSnapshot(disk, { number: NUMBER, chunks: writeState(store) });
  return readFileSync(join(folder, NAME));
}

/** The same disk, which looks at the memory of all that it is given to write, as native code does. */
function looking(): Disk {
  return {
    ...disk,
    create: async (name, bytes) => {
      const file = await disk.create(name, bytes);
      return {
        ...file,
        write: (part, at) =>
          file.write(new Uint8Array(part.buffer, part.byteOffset, part.length), at),
      };
    },
  };
}

describe('a snapshot', () => {
  it('has its name when it is whole, and is read back', async () => {
    const store = await small();
    const length = await writeSnapshot(disk, { number: NUMBER, chunks: writeState(store) });
    expect(readdirSync(folder)).toEqual([snapshotName(NUMBER)]);
    const again = await readSnapshot(disk, NAME, newStore(clock));
    mustBeSameState(store, again.store);
    expect(again.stateBytes).toBe(length);
  });

  it('is read back, too, when its writer looks at the memory of its parts', async () => {
    const store = await small();
    for (const number of [1, 2]) {
      await writeSnapshot(looking(), { number, chunks: writeState(store) });
      const again = await readSnapshot(disk, snapshotName(number), newStore(clock));
      expect(again.store.records.size).toBe(1);
    }
  });

  it('that ends anywhere is refused', async () => {
    const bytes = await written(await small());
    for (let end = 0; end < bytes.length; end++) {
      await expect(
        readSnapshot(holding(bytes.subarray(0, end)), NAME, newStore(clock)),
      ).rejects.toMatchObject(BAD);
    }
  });

  it('with any byte changed, or one more, is refused', async () => {
    const bytes = await written(await small());
    const longer = Buffer.concat([bytes, Buffer.from([0])]);
    await expect(readSnapshot(holding(longer), NAME, newStore(clock))).rejects.toMatchObject(BAD);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await expect(readSnapshot(holding(changed), NAME, newStore(clock))).rejects.toMatchObject(
        BAD,
      );
    }
  });

  it('of another commit is refused; of another law it is read, since nothing of it is replayed', async () => {
    const store = await small();
    await writeSnapshot(disk, { number: NUMBER, chunks: writeState(store), law: 7 });
    mustBeSameState(store, (await readSnapshot(disk, NAME, newStore(clock))).store);
    const other = snapshotName(NUMBER + 1);
    disk.rename(NAME, other);
    await expect(readSnapshot(disk, other, newStore(clock))).rejects.toThrow('another commit');
  });

  it('takes the place of one that was begun, and of one that is there', async () => {
    writeFileSync(join(folder, `${NAME}.part`), 'rest');
    const store = await small();
    await written(store);
    await written(store);
    expect(readdirSync(folder)).toEqual([NAME]);
  });

  it('that fails leaves none, and one that cannot be named its part', async () => {
    const store = await small();
    function* chunks(): Generator<string> {
      yield* writeState(store);
      throw new Error('in the middle');
    }
    await expect(writeSnapshot(disk, { number: NUMBER, chunks: chunks() })).rejects.toThrow(
      'middle',
    );
    expect(readdirSync(folder)).toEqual([]);
    const failing: Disk = {
      ...disk,
      rename: () => {
        throw new Error('EIO');
      },
    };
    await expect(
      writeSnapshot(failing, { number: NUMBER, chunks: writeState(store) }),
    ).rejects.toThrow('EIO');
    expect(readdirSync(folder)).toEqual([`${NAME}.part`]);
  });
});

it('a snapshot is on the disk before it has its name', async () => {
  const faulty = new FaultyDisk();
  await writeSnapshot(faulty, { number: NUMBER, chunks: ['line\n'] });
  const [sync, rename] = ['sync', 'rename'].map((what) =>
    faulty.operations.indexOf(`${what} ${NAME}.part`),
  );
  expect(sync).toBeGreaterThan(0);
  expect(rename).toBeGreaterThan(Number(sync));
  expect(faulty.operations.findLastIndex((what) => what.startsWith('write'))).toBeLessThan(
    Number(sync),
  );
});

describe('lines of a state', () => {
  it('of a newer version, or with what is not known, are refused', async () => {
    const [text = ''] = writeState(await small());
    const refused: readonly (readonly [string, string])[] = [
      ['{"state":3', '{"state":4'],
      ['["task",', '["job",'],
      ['"chargedEpoch"', '"usedEpoch"'],
    ];
    for (const [from, to] of refused) {
      expect(text).toContain(from);
      expect(() => readState([text.replace(from, to)], newStore(clock))).toThrow(
        expect.objectContaining({ code: 'BACKEND_UNSUPPORTED' }),
      );
    }
  });

  it('without the last one, or with one behind it, are none', async () => {
    const [text = ''] = writeState(await small());
    const lines = text.trimEnd().split('\n');
    const read = (some: readonly string[]): Store =>
      readState([some.map((line) => `${line}\n`).join('')], newStore(clock));
    expect(() => read(lines.slice(0, -1))).toThrow('no end');
    expect(() => read([...lines, lines.at(-2) ?? ''])).toThrow('no place');
    expect(() => read([...lines.slice(0, 1), ...lines.slice(2)])).toThrow('not whole');
  });

  it('of before a field was there have none', async () => {
    const [text = ''] = writeState(await small());
    const [head = '', ...lines] = text.split('\n');
    const { kinds } = JSON.parse(head);
    const users = kinds.findIndex(([name]: [string]) => name === 'user');
    const gone = kinds[users][1].indexOf('mean');
    kinds[users][1].splice(gone, 1);
    const older = lines.map((line) => {
      const row = line === '' ? undefined : JSON.parse(line);
      if (Array.isArray(row) && row[0] === users) row.splice(2 + gone, 1);
      return row === undefined ? '' : JSON.stringify(row);
    });
    const lines3 = [JSON.stringify({ state: 3, kinds }), ...older].join('\n');
    const again = readState([lines3], newStore(clock));
    mustBeSameState(readState([text], newStore(clock)), again);
    expect(again.queues.get('default')?.users.get('ann')?.meanRun).toBeUndefined();
  });
});
