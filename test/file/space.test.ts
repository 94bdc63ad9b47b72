/** How much room a data folder takes: a bound holds growth alone, what is no more needed is room again, and work always goes on. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Compactor } from '../../src/backends/file/compactor.ts';
import { file } from '../../src/backends/file/file-backend.ts';
import type { FileOptions } from '../../src/backends/file/file-options.ts';
import { partsOf } from '../../src/backends/file/log/calls.ts';
import { openLog } from '../../src/backends/file/log/command-log.ts';
import { diskIn } from '../../src/backends/file/log/disk.ts';
import { Owner } from '../../src/backends/file/owner.ts';
import { compact } from '../../src/backends/file/replay/compact.ts';
import { readData } from '../../src/backends/file/replay/read-data.ts';
import { Kit } from '../../src/conformance/kit.ts';
import type { Retention } from '../../src/domain/fairness/settings.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import { HandClock } from '../support/hand-clock.ts';
import { rounds } from '../support/rounds.ts';

const MIB = 1_048_576;

/** The least that may be said. */
const MAX_BYTES = 64 * MIB;

/** What segments may be made ahead then. */
const AHEAD = 16 * MIB;

/** Of a call. */
const BATCH = 100;

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const RETENTION: Retention = { finishedMs: 1_000, failedMs: 1_000, canceledMs: 1_000 };

async function kitOf(backend: Backend, clock: HandClock): Promise<Kit> {
  ends.push(() => backend.close());
  await backend.open({ retention: RETENTION });
  const harness = {
    backend,
    advance: async (ms: number) => clock.move(ms),
    now: () => clock.now(),
    close: () => backend.close(),
  };
  return new Kit(harness, expect);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-room-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function opened(
  options: FileOptions,
): Promise<{ readonly kit: Kit; readonly folder: string }> {
  const folder = newFolder();
  const clock = new HandClock();
  return { kit: await kitOf(file(folder, { ...options, clock }), clock), folder };
}

/** Bytes of all files of a folder. */
function bytesIn(folder: string): number {
  const sizes = readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A payload that hardly gets shorter when it is packed. */
function payload(bytes: number): string {
  return JSON.stringify(randomBytes((bytes / 4) * 3).toString('base64'));
}

async function add(kit: Kit, count: number, bytes: number, queue = 'default'): Promise<void> {
  await kit.send(...Array.from({ length: count }, () => ({ payload: payload(bytes), queue })));
}

/** Whether there was room for so many tasks. */
function added(kit: Kit, count: number, bytes: number): Promise<boolean> {
  return add(kit, count, bytes).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'BACKEND_FULL' });
      return false;
    },
  );
}

/** What has ended goes. */
async function clear(kit: Kit): Promise<void> {
  await kit.shift(LIMITS.resendMs + 1_000);
  await kit.rest();
}

/** Tasks of so many bytes come, run to their end, and go. */
async function churn(kit: Kit, bytes: number): Promise<void> {
  await add(kit, BATCH, bytes / BATCH);
  await kit.serve(BATCH, { batch: LIMITS.leaseBatch });
  await clear(kit);
}

it('a folder that is full of tasks refuses more of them, works on, and takes more once some have ended', async () => {
  const { kit, folder } = await opened({ maxBytes: MAX_BYTES });
  await kit.worker('w');
  let stored = 0;
  while (await added(kit, BATCH, 16_000)) stored += BATCH;
  expect(bytesIn(folder)).toBeLessThanOrEqual(MAX_BYTES);
  // Two snapshots of what is stored fill it, and no log of before.
  expect(stored * 16_000).toBeGreaterThan(MAX_BYTES * 0.35);
  for (let i = 0; i < 20; i++) expect(await added(kit, BATCH, 16_000)).toBe(false);
  expect((await kit.backend.inspect.ping()).ms).toBeGreaterThanOrEqual(0);
  expect(await kit.serve(stored, { batch: LIMITS.leaseBatch })).toHaveLength(stored);
  await clear(kit);
  let again = 0;
  while (again < stored / 2 && (await added(kit, BATCH, 16_000))) again += BATCH;
  expect(again).toBeGreaterThanOrEqual(stored / 2);
});

it('however much comes and goes, nothing is refused where little is stored', async () => {
  const { kit, folder } = await opened({ maxBytes: MAX_BYTES });
  await kit.worker('w');
  let most = 0;
  for (let bytes = 0; bytes < rounds(4, 2) * MAX_BYTES; bytes += MIB) {
    await churn(kit, MIB);
    most = Math.max(most, bytesIn(folder));
  }
  expect(most).toBeLessThanOrEqual(MAX_BYTES + AHEAD);
});

it('with a snapshot the folder is within three times of what is stored, however much has come and gone', async () => {
  const disk = diskIn(newFolder());
  const clock = new HandClock();
  const { engine, found } = await readData(disk, clock);
  const [epoch, stillOwns, segmentBytes] = [1, () => true, MIB];
  const log = await openLog(disk, { found, epoch, stillOwns, sync: 'always', clock, segmentBytes });
  const shares: number[] = [];
  const compactor: Compactor = new Compactor({
    log,
    stateBytes: 0,
    snapshot: (upTo) => compact(disk, upTo),
    mark: () => owner.mark(),
    made: () => undefined,
    failed: (error) => expect(error).toBeUndefined(),
    clock,
  });
  const makeSpace = (): Promise<boolean> => compactor.makeSpace();
  const grown = (): void => compactor.look();
  const problems = (): readonly string[] => [];
  const owner: Owner = new Owner({ engine, log, grown, makeSpace, problems, stillOwns });
  const carry = owner.asker();
  const kit = await kitOf(
    {
      name: 'file',
      capabilities: { durable: true, shared: true },
      ...partsOf(carry),
      open: async ({ retention }) => {
        await carry('retention', [retention]);
        return { description: 'on a disk', warnings: [] };
      },
      close: () => log.close(),
    },
    clock,
  );
  await kit.worker('w');
  const stored = 36 * MIB;
  for (let bytes = 0; bytes < stored; bytes += MIB) {
    await add(kit, BATCH, MIB / BATCH, 'later');
    await compactor.rest();
  }
  for (let newest = ''; shares.length < 3; ) {
    await churn(kit, MIB);
    await compactor.rest();
    const now = disk
      .list()
      .filter((name) => name.startsWith('state-'))
      .toSorted()
      .at(-1);
    if (now === undefined || now === newest) continue;
    newest = now;
    const bytes = disk.list().reduce((sum, name) => sum + (disk.size(name) ?? 0), 0);
    // The segment that is written, and the next one, are filled ahead.
    shares.push((bytes - 2 * segmentBytes) / stored);
  }
  expect(shares.filter((share) => share > 3)).toEqual([]);
});
