import { describe, expect, it } from 'vitest';
import { LIMIT_TABLE, LIMITS, PRIORITY_WEIGHTS } from '../../src/domain/limits.ts';
import { STEPS } from '../../src/domain/step-bounds.ts';

describe('limits', () => {
  it('are positive integers with a unit and a reason', () => {
    for (const [name, entry] of Object.entries(LIMIT_TABLE)) {
      expect([name, Number.isSafeInteger(entry.value) && entry.value > 0]).toEqual([name, true]);
      expect([name, entry.unit !== '' && entry.why !== '']).toEqual([name, true]);
    }
  });

  it('are in order where one must be below another', () => {
    const ordered: readonly (readonly (keyof typeof LIMIT_TABLE)[])[] = [
      ['leaseMinMs', 'leaseMs', 'leaseMaxMs'],
      ['backoffMs', 'backoffMaxMs', 'delayMaxMs'],
      ['unknownNodeBaseMs', 'unknownNodeMaxMs', 'unknownTaskMs'],
      ['payloadWarnBytes', 'payloadBytes', 'scriptBytes'],
      ['oldErrorBytes', 'errorBytes'],
      ['weightMin', 'weightMax'],
      ['retries', 'retriesMax'],
      ['tickMs', 'outageMs'],
      ['floorMs', 'outageMs'],
      ['outageMs', 'workerSilenceMs'],
      ['waitMaxMs', 'delayMaxMs'],
      ['resendMs', 'retainFinishedMs'],
    ];
    for (const names of ordered) {
      const values = names.map((name) => LIMITS[name]);
      expect([names, values]).toEqual([names, values.toSorted((a, b) => a - b)]);
    }
  });

  it('take no worker for gone that sleeps as long as it may', () => {
    expect(STEPS.staleWaitMs).toBe(1.2 * LIMITS.floorMs + 1_000);
  });

  it('fit the unit budget of one script', () => {
    expect(LIMITS.leaseBatch * 4).toBeLessThanOrEqual(LIMITS.scriptUnits);
    expect(LIMITS.settleBatch * 2).toBeLessThanOrEqual(LIMITS.scriptUnits);
    expect(LIMITS.settleLeaseBatch * 6).toBeLessThanOrEqual(LIMITS.scriptUnits);
    expect(LIMITS.dependencies + 1).toBeLessThanOrEqual(LIMITS.scriptUnits);
  });

  it('let three heartbeats fit into the shortest default lease, and a tick into each', () => {
    expect(LIMITS.leaseMs / 3).toBeGreaterThan(LIMITS.tickMs);
  });

  it('give each level twice the turns of the one below, within bounds', () => {
    expect(PRIORITY_WEIGHTS).toEqual([1, 2, 4, 8, 16]);
    expect(Math.max(...PRIORITY_WEIGHTS)).toBeLessThanOrEqual(LIMITS.priorityWeightMax);
  });
});
