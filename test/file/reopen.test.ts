/** What is read when a folder is opened whose owner was killed: by what is stored, and not by what has come and gone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { partsOf } from '../../src/backends/file/log/calls.ts';
import { diskIn } from '../../src/backends/file/log/disk.ts';
import { openOwner } from '../../src/backends/file/open-owner.ts';
import { compact } from '../../src/backends/file/replay/compact.ts';
import { readData } from '../../src/backends/file/replay/read-data.ts';
import { Kit } from '../../src/conformance/kit.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { nextClaim } from '../support/file/opened.ts';

const MIB = 1_048_576;

// F100
it('of 24,000 tasks of which 300 are left, little is replayed, and the folder is small', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-reopen-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const disk = diskIn(folder);
  const clock = new ManualClock();
  let made = Promise.resolve(0);
  const run = (...[upTo, written]: readonly [number, never?]): Promise<number> => {
    made = compact(disk, upTo, written);
    return made;
  };
  const compaction = { run, close: async () => undefined };
  const options = { folder, clock, sync: 'always' as const, maxBytes: undefined };
  const role = await openOwner(nextClaim([]), options, false, { disk, compaction });
  const keptMs = { finishedMs: 1_000, failedMs: 1_000, canceledMs: 1_000 };
  await role.carry('retention', [keptMs]);
  const backend = {
    name: 'file',
    capabilities: { durable: true, shared: true },
    ...partsOf(role.carry),
    open: async () => ({ description: '', warnings: [] }),
    close: () => role.close(),
  };
  const harness = {
    backend,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    close: () => role.close(),
  };
  const kit = new Kit(harness, expect);
  await kit.worker('w');
  const batch = 200;
  for (let stored = 0; stored < 24_000; stored += batch) {
    await kit.send(...Array.from({ length: batch }, () => ({ payload: '{"a":1}' })));
    await kit.serve(batch, { batch });
  }
  await kit.send(...Array.from({ length: 300 }, () => ({})));
  await kit.shift(LIMITS.resendMs + 2_000);
  await kit.rest();
  // There are no more calls.
  await clock.advance(10_000);
  await made;
  await new Promise((resolve) => setImmediate(resolve));
  const found = await readData(disk, new ManualClock());
  expect(found.engine.store.records.size).toBe(300);
  expect(found.replayed).toBeLessThan(2_000);
  const bytes = disk.list().reduce((sum, name) => sum + (disk.size(name) ?? 0), 0);
  expect(bytes).toBeLessThan(24 * MIB);
  await role.close();
});
