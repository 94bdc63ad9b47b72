/** The conformance suite on data in a folder: by its owner, and by one that asks the owner over a socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { describeBackend, type Harness } from '../../src/testing/backend-contract.ts';
import { HandClock } from '../support/hand-clock.ts';
import { rounds } from '../support/rounds.ts';
import { AT_SCALE, someCases } from '../support/some-cases.ts';

describeBackend('file', { describe, it, expect }, async (): Promise<Harness> => {
  const { folder, clock, remove } = place();
  const backend = file(folder, { clock });
  return {
    backend,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: async () => {
      await backend.close();
      remove();
    },
  };
});

const some = someCases({ describe, it, expect }, { every: rounds(1, 3), never: AT_SCALE });
describeBackend('file, by a guest', some, async (): Promise<Harness> => {
  const { folder, clock, remove } = place();
  const [owner, guest] = [file(folder, { clock }), file(folder, { clock })];
  await owner.inspect.ping();
  return {
    backend: guest,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: async () => {
      await guest.close();
      await owner.close();
      remove();
    },
  };
});

function place(): {
  readonly folder: string;
  readonly clock: HandClock;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-file-'));
  return {
    folder,
    clock: new HandClock(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
