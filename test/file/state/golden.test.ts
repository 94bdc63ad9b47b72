/** A snapshot that was made once is read for ever: as the state that its steps lead to. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { diskIn } from '../../../src/backends/file/log/disk.ts';
import { Engine, EngineClock } from '../../../src/backends/file/replay/engine.ts';
import { readSnapshot } from '../../../src/backends/file/state/snapshot-file.ts';
import { START_MS } from '../../model/harness.ts';
import { mustBeSameState } from '../../support/file/same-state.ts';

const FOLDER = fileURLToPath(new URL('../../fixtures/state/', import.meta.url));

const still = { now: () => START_MS, setTimer: () => ({ cancel: () => undefined }) };

describe('a snapshot of version 1', () => {
  it('is read', async () => {
    const engine = new Engine(new EngineClock(still));
    const lines = readFileSync(`${FOLDER}steps.jsonl`, 'utf8').trimEnd().split('\n');
    for (const line of lines) engine.replay(line);
    const { store } = await readSnapshot(diskIn(FOLDER), 'state-000000000001', still);
    // Made before queues counted for the series from their beginning on.
    engine.store.series.looked.clear();
    mustBeSameState(engine.store, store);
    expect(store.records.size).toBeGreaterThan(2);
    expect(store.schedules.size).toBeGreaterThan(0);
  });
});
