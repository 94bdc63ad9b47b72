/** Data on a disk of a test, served by an owner that needs no folder. */
import { partsOf } from '../../../src/backends/file/log/calls.ts';
import type { Disk } from '../../../src/backends/file/log/disk.ts';
import { segmentsOf } from '../../../src/backends/file/log/segment.ts';
import { type OwnerTools, openOwner } from '../../../src/backends/file/open-owner.ts';
import { compact } from '../../../src/backends/file/replay/compact.ts';
import type { OwnerOptions, Role } from '../../../src/backends/file/role.ts';
import type { OwnerClaim } from '../../../src/backends/file/socket/ownership.ts';
import type { Expect } from '../../../src/conformance/harness.ts';
import { Kit } from '../../../src/conformance/kit.ts';
import type { Retention } from '../../../src/domain/fairness/settings.ts';
import type { HandClock } from '../hand-clock.ts';

/** The owner after those that have written these files. */
export function nextClaim(files: readonly string[]): OwnerClaim {
  return {
    kind: 'owner',
    epoch: (segmentsOf(files).at(-1)?.epoch ?? 0) + 1,
    warnings: [],
    listen: () => undefined,
    leave: () => undefined,
    stillOwns: () => true,
    over: new Promise(() => undefined),
    release: async () => undefined,
  };
}

/** How it is opened; snapshots are made in this thread. */
export interface OpenedOptions extends Omit<OwnerTools, 'disk' | 'compaction'> {
  readonly disk: Disk;
  /** Those on the disk. */
  readonly files: readonly string[];
  readonly clock: HandClock;
  readonly retention: Retention;
  readonly report?: OwnerOptions['report'] | undefined;
  /** What a kit expects with. */
  readonly expect: Expect;
}

/** What serves it. */
export interface Opened {
  readonly kit: Kit;
  readonly role: Role;
  /** Fulfilled when the snapshot that is being made is there, or was not made. */
  snapshotMade(): Promise<unknown>;
}

/** @rejects as `openOwner` does. */
export async function opened(options: OpenedOptions): Promise<Opened> {
  const { disk, files, clock, retention, report, expect, ...tools } = options;
  let making: Promise<unknown> = Promise.resolve();
  const run: OwnerTools['compaction']['run'] = (upTo, written) => {
    const made = compact(disk, upTo, written);
    making = made.catch(() => undefined);
    return made;
  };
  const role = await openOwner(
    nextClaim(files),
    { folder: disk.folder, clock, sync: 'always', maxBytes: undefined, ...(report && { report }) },
    false,
    {
      disk,
      compaction: { run, close: async () => undefined },
      ...tools,
    },
  );
  await role.carry('retention', [retention]);
  const close = (): Promise<void> => role.close();
  const backend = {
    name: 'file',
    capabilities: { durable: true, shared: true },
    ...partsOf(role.carry),
    open: async () => ({ description: 'on a disk in memory', warnings: [] }),
    close,
  };
  const advance = async (ms: number): Promise<void> => clock.move(ms);
  const kit = new Kit({ backend, advance, now: () => clock.now(), close }, expect);
  return { kit, role, snapshotMade: () => making };
}
