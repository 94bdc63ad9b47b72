/** A disk or a bound that is full: what makes more is refused before anything changes, the rest goes on for a while. */
import { BackendFullError } from 'fairloom';
import { expect, it } from 'vitest';
import { type CommandLog, openLog } from '../../../src/backends/file/log/command-log.ts';
import { findData } from '../../../src/backends/file/log/recovery.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { FaultyDisk } from '../../support/file/faulty-disk.ts';
import { newLedger, Session, wrongIn } from '../../support/file/log-sessions.ts';

const SEGMENT = 4_096;

/** Characters of two bytes in a line that nearly fills a segment. */
const LONG = 1_900;

const DISK = 'write: the backend takes no new work (the disk of the data folder is full)';
const FOLDER = 'write: the backend takes no new work (the data folder has reached its maxBytes)';

interface Opened {
  readonly log: CommandLog;
  readonly session: Session;
  /** Appends if it is admitted; says whether it was. */
  append(isGrowth: boolean): Promise<boolean>;
  /** What the refusals of `append` said. */
  readonly refusals: ReadonlySet<string>;
  check(): void;
}

async function open(
  disk: FaultyDisk,
  {
    maxBytes,
    clock = new ManualClock(),
    epoch = 1,
  }: { maxBytes?: number | undefined; clock?: ManualClock; epoch?: number } = {},
): Promise<Opened> {
  const ledger = newLedger();
  const log = await openLog(disk, {
    found: findData(disk),
    epoch,
    stillOwns: () => true,
    sync: 'always',
    clock,
    segmentBytes: SEGMENT,
    maxBytes,
  });
  const session = new Session(log, ledger, 'a', []);
  const refusals = new Set<string>();
  return {
    refusals,
    log,
    session,
    append: async (isGrowth) => {
      try {
        log.admit('x'.repeat(99), isGrowth ? 'growth' : 'step');
      } catch (error) {
        if (!(error instanceof BackendFullError)) throw error;
        refusals.add(error.message);
        return false;
      }
      expect(await session.append(20)).toBe(true);
      return true;
    },
    check: () => {
      const [newest] = findData(disk).snapshots;
      const before = newest === undefined ? [] : disk.read(newest.name).toString().split('\n');
      const lines = [...before.filter(Boolean), ...findData(disk).linesAfter(newest?.number ?? 0)];
      expect(wrongIn(lines, ledger)).toBeUndefined();
    },
  };
}

it('a full disk refuses growth, takes the rest until the reserve is used up, and goes on once there is room', async () => {
  const clock = new ManualClock();
  const disk = new FaultyDisk(new Map(), { capacity: 6 * SEGMENT });
  const { log, append, check } = await open(disk, { clock });
  let grown = 0;
  while (await append(true)) grown++;
  expect(grown).toBeGreaterThan(100);
  let others = 0;
  while (await append(false)) others++;
  expect(others).toBeGreaterThan(5);
  expect(log.isBroken).toBe(false);
  expect(await append(false)).toBe(false);
  check();
  disk.capacity.bytes = 20 * SEGMENT;
  await clock.advance(1_500);
  await append(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await append(true)).toBe(true);
  check();
});

it.each([
  [{ capacity: 6 * SEGMENT }, undefined, DISK],
  [{ capacity: 12 * SEGMENT }, 20 * SEGMENT, DISK],
  [undefined, 8 * SEGMENT, FOLDER],
  [{ capacity: 20 * SEGMENT }, 8 * SEGMENT, FOLDER],
])('a refusal says what is full: disk %j, maxBytes %j', async (of, maxBytes, said) => {
  const { append, refusals, log } = await open(new FaultyDisk(new Map(), of), { maxBytes });
  while (await append(true));
  expect([...refusals]).toEqual([said]);
  // What ends work is bounded by the disk alone.
  if (of === undefined) return;
  const large = 'x'.repeat(of.capacity);
  expect(() => log.admit(large, 'record')).toThrow(DISK);
  expect(() => log.admit(large, 'step')).toThrow(DISK);
});

it('what two snapshots make unneeded is room again', async () => {
  const disk = new FaultyDisk(new Map(), { capacity: 40 * SEGMENT });
  const { append, log } = await open(disk, { maxBytes: 10 * SEGMENT });
  const snapshot = async (): Promise<void> => {
    const number = await log.seal();
    const name = `state-${String(number).padStart(12, '0')}`;
    (await disk.create(name, 100)).close();
    log.forget();
    expect([...findData(disk).linesAfter(number)]).toEqual([]);
  };
  for (let round = 0; round < 4; round++) {
    let grown = 0;
    while (await append(true)) grown++;
    expect(grown).toBeGreaterThan(150);
    expect(await append(false)).toBe(true);
    await snapshot();
    await append(false);
    await snapshot();
    expect(log.bytes.log).toBeLessThan(2 * SEGMENT);
    expect(disk.list().length).toBeLessThan(7);
  }
  expect(log.isBroken).toBe(false);
});

it('maxBytes bounds growth, and nothing else', async () => {
  const maxBytes = 8 * SEGMENT;
  const disk = new FaultyDisk();
  const { log, append, check } = await open(disk, { maxBytes });
  // There is room for two snapshots, which may have all that the log says.
  while (await append(true)) expect(log.bytes.log).toBeLessThanOrEqual(maxBytes / 2);
  for (let i = 0; i < 300; i++) expect(await append(false)).toBe(true);
  expect(log.bytes.log).toBeGreaterThan(maxBytes);
  expect(await append(true)).toBe(false);
  check();
});

it('a disk that is full when the folder is opened is said, and changes nothing', async () => {
  const disk = new FaultyDisk(new Map(), { capacity: 100 });
  await expect(open(disk)).rejects.toThrow(DISK.replace('write', 'open'));
  expect(disk.list()).toEqual([]);
});

it('a burst that no segment has room for goes on where the disk has room', async () => {
  const disk = new FaultyDisk();
  const { session, check } = await open(disk);
  await session.appendMany(500, 100);
  expect(findData(disk).nextNumber).toBeGreaterThan(1);
  await session.append(40_000);
  check();
});

it('what the newest snapshot has is no part of the next ones beside it', async () => {
  const disk = new FaultyDisk();
  const { log, append } = await open(disk, { maxBytes: 10 * SEGMENT });
  while (await append(true));
  const number = await log.seal();
  (await disk.create(`state-${String(number).padStart(12, '0')}`, 100)).close();
  log.forget();
  // The log is all there still, since there is no older snapshot.
  expect(log.bytes.log).toBeGreaterThan(3 * SEGMENT);
  expect(await append(true)).toBe(true);
});

// F93
it('a segment that the newest snapshot has whole takes no room from what starts', async () => {
  const disk = new FaultyDisk(new Map(), { capacity: 16 * SEGMENT + 1_000 });
  const { log, session } = await open(disk);
  expect(await session.append(LONG)).toBe(true);
  const number = await log.seal();
  (await disk.create(`state-${String(number).padStart(12, '0')}`, 7.5 * SEGMENT)).close();
  log.forget();
  // It ends with the next commit. With it, the snapshot that comes next would have no room.
  expect(await session.append(20)).toBe(true);
  expect(() => log.admit('x'.repeat(99), 'start')).not.toThrow();
});

// F93
it('what the newest snapshot has of a segment that goes on takes no room from what starts, at the next opening too', async () => {
  const capacity = 16 * SEGMENT + 1_000;
  // No other segment can be begun.
  const disk = new FaultyDisk(new Map(), { capacity: SEGMENT + 500 });
  const { log, session } = await open(disk);
  expect(await session.append(LONG - 300)).toBe(true);
  const number = await log.seal();
  disk.capacity.bytes = capacity;
  (await disk.create(`state-${String(number).padStart(12, '0')}`, 7.5 * SEGMENT)).close();
  log.forget();
  for (let count = 0; count < 2; count++) expect(await session.append(20)).toBe(true);
  expect(() => log.admit('x'.repeat(99), 'start')).not.toThrow();
  const next = await open(new FaultyDisk(disk.afterCrash(), { capacity }), { epoch: 2 });
  expect(() => next.log.admit('x'.repeat(99), 'start')).not.toThrow();
});

// F93
it('a commit that the next owner writes anew takes no room twice', async () => {
  const disk = new FaultyDisk(new Map(), { capacity: 16 * SEGMENT + 1_000 });
  const first = await open(disk);
  expect(await first.session.append(20)).toBe(true);
  const number = await first.log.seal();
  (await disk.create(`state-${String(number).padStart(12, '0')}`, 6.5 * SEGMENT)).close();
  first.log.forget();
  for (const length of [20, LONG - 100]) expect(await first.session.append(length)).toBe(true);
  const { log } = await open(
    new FaultyDisk(disk.afterCrash(), { capacity: 16 * SEGMENT + 1_000 }),
    {
      epoch: 2,
    },
  );
  expect(() => log.admit('x'.repeat(99), 'start')).not.toThrow();
});

it('what is admitted counts before it is written', async () => {
  const { log } = await open(new FaultyDisk(), { maxBytes: 10 * SEGMENT });
  const line = JSON.stringify(['x'.repeat(500)]);
  const written: Promise<void>[] = [];
  const fill = (): void => {
    for (let count = 0; count < 1_000; count++) {
      log.admit(line, 'growth');
      written.push(log.append(line));
    }
  };
  expect(fill).toThrow(BackendFullError);
  await Promise.all(written);
  expect(written.length * line.length).toBeLessThan(10 * SEGMENT);
});

it('what no free room of the disk is enough for is refused before it is written', async () => {
  const { log, append } = await open(new FaultyDisk(new Map(), { capacity: 6 * SEGMENT }));
  expect(() => log.admit('x'.repeat(8 * SEGMENT), 'step')).toThrow(BackendFullError);
  expect(await append(true)).toBe(true);
});

it('a disk with little room gets a small segment', async () => {
  const disk = new FaultyDisk(new Map(), { capacity: 300_000 });
  const log = await openLog(disk, {
    found: findData(disk),
    epoch: 1,
    stillOwns: () => true,
    sync: 'always',
    clock: new ManualClock(),
  });
  await log.append('["a"]');
  expect(log.bytes.folder).toBeLessThan(66_000);
  await log.close();
});
