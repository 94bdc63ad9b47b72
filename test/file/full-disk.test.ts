/** A full disk: growth is refused, and only growth; what ends work and frees room goes on, at the next opening too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type CallKind, kindOf } from '../../src/backends/file/log/calls.ts';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import type { Kit } from '../../src/conformance/kit.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { BackendProblem } from '../../src/domain/port/backend.ts';
import { randomOf } from '../support/file/faulty-disk.ts';
import { type Opened, opened } from '../support/file/opened.ts';
import { type SmallDisk, smallDisk } from '../support/file/small-disk.ts';
import { HandClock } from '../support/hand-clock.ts';

const MIB = 1_048_576;

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function diskOf(bytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-full-'));
  folders.push(folder);
  return smallDisk(folder, bytes);
}

const RETENTION = { finishedMs: 1_000, failedMs: 1_000, canceledMs: 1_000 };

/** What one disk and its owner have. */
interface Served extends Opened {
  readonly problems: BackendProblem[];
}

async function served(disk: SmallDisk, clock: HandClock): Promise<Served> {
  const problems: BackendProblem[] = [];
  const report = (problem: BackendProblem): void => void problems.push(problem);
  const options = { disk, files: disk.list(), clock, retention: RETENTION, report, expect };
  return { ...(await opened(options)), problems };
}

const random = randomOf(1);

/** A payload that hardly gets shorter when it is packed. */
function payload(bytes: number): string {
  const codes = Array.from({ length: bytes - 2 }, () => 35 + Math.floor(random() * 57));
  return JSON.stringify(String.fromCharCode(...codes));
}

/** Stores tasks until there is no room for more, in earnest; answers how many. */
async function fill(kit: Kit, bytes: number): Promise<number> {
  let stored = 0;
  for (let refused = 0; refused < 3; ) {
    try {
      await kit.send({ payload: payload(bytes) });
      stored++;
      refused = 0;
    } catch (error) {
      expect(error).toMatchObject({ code: 'BACKEND_FULL' });
      refused++;
    }
  }
  return stored;
}

// F93
it('every call of the port is one that grows, one that changes, one that looks or one that waits', () => {
  const { open, close, name, capabilities, ...parts } = memory();
  const kinds = new Map<string, CallKind | undefined>();
  for (const [part, methods] of Object.entries(parts)) {
    for (const method of Object.keys(methods)) {
      kinds.set(`${part}.${method}`, kindOf(`${part}.${method}`));
    }
  }
  expect([...kinds].filter(([, kind]) => kind === undefined)).toEqual([]);
  const growth = [...kinds].flatMap(([call, kind]) => (kind === 'growth' ? [call] : []));
  expect(growth.sort()).toEqual([
    'graphs.save',
    'schedules.fire',
    'schedules.set',
    'streams.append',
    'tasks.enqueue',
    'waits.publish',
    'waits.signal',
    'xcom.write',
  ]);
});

// F93
it.each([4, 12])(
  'all tasks of a full disk of %i MiB run to their end, and it takes as many again',
  async (mib) => {
    const disk = diskOf(mib * MIB);
    const clock = new HandClock();
    const { kit, role, problems, snapshotMade } = await served(disk, clock);
    await kit.worker('w');
    const bytes = mib * 500;
    const stored = await fill(kit, bytes);
    expect(stored * bytes).toBeGreaterThan(0.3 * mib * MIB);
    expect(await kit.cancel((await kit.lease(1))[0]?.id ?? '')).toMatchObject({
      kind: 'requested',
    });
    await kit.setQueue({ paused: true });
    await kit.setQueue({ paused: false });
    await kit.setUser('u', { weight: 2 });
    const results = { batch: 20, result: payload(Math.floor(bytes / 20)) };
    expect(await kit.serve(stored - 1, results)).toHaveLength(stored - 1);
    expect(problems).toEqual([]);
    await kit.shift(LIMITS.leaseMaxMs);
    await kit.rest();
    await snapshotMade();
    // One that was made while they went is no reason to make none a while later.
    await kit.shift(10_000);
    expect(await fill(kit, bytes)).toBeGreaterThan(stored * 0.7);
    await role.close();
    expect(disk.list().filter((name) => name.endsWith('.part'))).toEqual([]);
  },
  120_000,
);

// F93
it('a folder on a full disk is opened without a byte that is free, works its tasks off, and gets smaller', async () => {
  const disk = diskOf(8 * MIB);
  const clock = new HandClock();
  const before = await served(disk, clock);
  const stored = await fill(before.kit, 4_000);
  await before.role.close();
  disk.capacity = disk.used();
  const { kit, role } = await served(disk, clock);
  await kit.worker('w');
  await expect(kit.send({ payload: payload(4_000) })).rejects.toMatchObject({
    code: 'BACKEND_FULL',
  });
  expect(await kit.serve(300, { batch: 20 })).toHaveLength(300);
  disk.capacity = 8 * MIB;
  expect(await kit.serve(stored - 300, { batch: 20 })).toHaveLength(stored - 300);
  const full = disk.used();
  await kit.shift(LIMITS.resendMs + 1_000);
  await kit.rest();
  await role.close();
  // Two snapshots are kept where there is room.
  const after = await served(disk, clock);
  await after.kit.rest();
  await after.role.close();
  expect(disk.used()).toBeLessThan(full / 2);
});

// F93
it('a folder on a full disk whose reserve is spent is opened by what its newest snapshot makes unneeded', async () => {
  const disk = diskOf(8 * MIB);
  const clock = new HandClock();
  // Two snapshots stay of two owners.
  for (const id of ['first', 'second']) {
    const { kit, role } = await served(disk, clock);
    for (let nth = 0; nth < 30; nth++)
      await kit.sendOne({ id: `${id}${nth}`, payload: payload(8_000) });
    await role.close();
  }
  disk.remove('reserve');
  disk.capacity = disk.used();
  const { kit, role } = await served(disk, clock);
  await kit.worker('w');
  expect(await kit.serve(60)).toHaveLength(60);
  await role.close();
});

// F93
it('tasks of 4 KB are taken again as soon as there is 1 MiB more on a full disk of 8 MiB', async () => {
  const disk = diskOf(7 * MIB);
  const { kit, role } = await served(disk, new HandClock());
  await fill(kit, 4_000);
  disk.capacity += MIB;
  for (let count = 0; count < 10; count++) await kit.send({ payload: payload(4_000) });
  await role.close();
});
