import { describe, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { describeBackend, type Harness } from '../../src/conformance.ts';
import { HandClock } from '../support/hand-clock.ts';

describeBackend('memory', { describe, it, expect }, async (): Promise<Harness> => {
  const clock = new HandClock();
  const backend = memory({ clock });
  return {
    backend,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: () => backend.close(),
  };
});
