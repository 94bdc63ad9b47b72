/** The contract, of a memory backend whose state is written and read again after each call. */
import { describe, expect, it } from 'vitest';
import { describeBackend, type Harness } from '../../../src/conformance.ts';
import { reopenedMemory } from '../../support/file/reopened.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';

const some = someCases({ describe, it, expect }, { every: rounds(1, 8), never: AT_SCALE });

describeBackend('memory, reopened', some, async (): Promise<Harness> => {
  const clock = new HandClock();
  const { backend } = reopenedMemory(clock);
  return {
    backend,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: () => backend.close(),
  };
});
