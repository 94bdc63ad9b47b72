/**
 * The conformance suite on data in a folder: by owners that die before every third call; and, some of it, by one that
 * asks the owner of a folder of this machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { describeBackend, type Harness } from '../../src/conformance.ts';
import { dyingBackend } from '../support/file/disk-backend.ts';
import { HandClock } from '../support/hand-clock.ts';
import { rounds } from '../support/rounds.ts';
import { AT_SCALE, someCases } from '../support/some-cases.ts';

// What is read again at each death grows with what was written.
const small = someCases({ describe, it, expect }, { every: rounds(1, 8), never: AT_SCALE });
describeBackend('file, of owners that die', small, async (): Promise<Harness> => {
  const clock = new HandClock();
  const backend = dyingBackend({ clock, every: 3 });
  return {
    backend,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: () => backend.close(),
  };
});

const some = someCases({ describe, it, expect }, { every: rounds(1, 8), never: AT_SCALE });
describeBackend('file, by a guest', some, async (): Promise<Harness> => {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-file-'));
  const clock = new HandClock();
  const [owner, guest] = [file(folder, { clock }), file(folder, { clock })];
  await owner.inspect.ping();
  return {
    backend: guest,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: async () => {
      await guest.close();
      await owner.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
