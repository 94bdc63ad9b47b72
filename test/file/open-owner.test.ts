/** An owner on a disk that fails while it opens, and while it closes. */
import { expect, it } from 'vitest';
import { partsOf } from '../../src/backends/file/log/calls.ts';
import { openOwner } from '../../src/backends/file/open-owner.ts';
import type { Role } from '../../src/backends/file/role.ts';
import type { SyncMode } from '../../src/domain/port/backend.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { type Fault, FaultyDisk } from '../support/file/faulty-disk.ts';
import { nextClaim } from '../support/file/opened.ts';
import { newTask } from '../support/file/some-state.ts';

interface Opened extends Role {
  readonly isReleased: () => boolean;
  enqueue(id: string): Promise<unknown>;
}

async function open(
  disk: FaultyDisk,
  sync: SyncMode = 'always',
  clock = new ManualClock(),
): Promise<Opened> {
  let isReleased = false;
  const claim = {
    ...nextClaim([]),
    release: async () => {
      isReleased = true;
    },
  };
  const options = { folder: disk.folder, clock, sync, maxBytes: undefined };
  const compaction = {
    run: () => Promise.reject(new Error('not here')),
    close: async () => undefined,
  };
  const role = await openOwner(claim, options, false, { disk, compaction, segmentBytes: 4_096 });
  const { tasks } = partsOf(role.carry);
  return {
    ...role,
    isReleased: () => isReleased,
    enqueue: (id) => tasks.enqueue([newTask({ id })], { atomic: true }),
  };
}

/** Two owners have been there; the disk remembers what it did for the second one. */
async function opened(): Promise<FaultyDisk> {
  const first = new FaultyDisk();
  const { enqueue } = await open(first);
  await enqueue('a');
  first.crash();
  return new FaultyDisk(first.afterCrash());
}

it('any fault while it opens is refused with a code, and nothing is left open', async () => {
  const whole = await opened();
  await open(whole);
  const refused = new Set<unknown>();
  for (let at = 1; at <= whole.operations.length; at++) {
    for (const fault of ['EIO', 'ENOSPC', 'short'] satisfies readonly Fault[]) {
      const disk = await opened();
      disk.failAt(at, fault);
      // What fails at the room that is kept for later does not keep it from opening.
      await open(disk).then(
        ({ close }) => close(),
        (error: unknown) => refused.add(Reflect.get(Object(error), 'code')),
      );
      expect(disk.openFiles).toBe(0);
    }
  }
  expect([...refused].sort()).toEqual(['BACKEND_FULL', 'BACKEND_UNAVAILABLE']);
});

it('after any fault while it closes, another process can be the owner, and nothing is lost', async () => {
  const operations = async (): Promise<readonly [number, number]> => {
    const disk = new FaultyDisk();
    const { enqueue, close } = await open(disk);
    await enqueue('a');
    const before = disk.operations.length;
    await close();
    return [before, disk.operations.length];
  };
  const [before, after] = await operations();
  expect(after).toBeGreaterThan(before + 5);
  for (let at = before + 1; at <= after; at++) {
    const disk = new FaultyDisk();
    const role = await open(disk);
    await role.enqueue('a');
    disk.failAt(at, 'EIO');
    await role.close();
    expect(role.isReleased()).toBe(true);
    expect(disk.openFiles).toBe(0);
  }
});

it('a close that cannot bring to the disk what was answered says so', async () => {
  const disk = new FaultyDisk();
  const role = await open(disk, { everyMs: 1_000 });
  await role.enqueue('a');
  disk.failAt(disk.operations.length + 1, 'EIO');
  await expect(role.close()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  expect(disk.operations.at(-1)).toMatch(/^(sync|remove)/);
  expect(role.isReleased()).toBe(true);
});

it('a sync in the background that fails ends the owner at once: what it answered is not safe', async () => {
  const disk = new FaultyDisk();
  const clock = new ManualClock();
  const role = await open(disk, { everyMs: 1_000 }, clock);
  await role.enqueue('a');
  disk.failAt(disk.operations.length + 1, 'EIO');
  await clock.advance(1_000);
  await role.over;
  await expect(role.close()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
});
