/** A backend that asks the owner of a data folder, and is never the owner itself: a process of a test that is not killed. */
import { type Carry, NOT_TAKEN, partsOf } from '../../../src/backends/file/log/calls.ts';
import type { Guest } from '../../../src/backends/file/socket/guest.ts';
import { meet } from '../../../src/backends/file/socket/meeting.ts';
import { DataPlace } from '../../../src/backends/file/socket/place.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { BackendUnavailableError } from '../../../src/domain/errors/errors.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';

/** How a guest-only backend stands. */
export interface GuestBackend {
  readonly backend: Backend;
  /** The process that owns the data now, if one is known. */
  readonly ownerPid: () => number | undefined;
}

/** Calls without an owner are refused: their caller sends them again. */
export function guestBackend(folder: string): GuestBackend {
  const place = new DataPlace(folder);
  let guest: Guest | undefined;
  let meeting: Promise<Guest> | undefined;
  const join = async (operation: string): Promise<Guest> => {
    const epoch = Math.max(0, ...place.list().owners);
    const met = await meet(place, epoch, { clock: systemClock, operation, wasSilent: false });
    if (met.kind !== 'guest')
      throw new BackendUnavailableError(operation, `its owner is ${met.kind}`);
    guest = met.guest;
    void met.guest.left.then(() => {
      if (guest === met.guest) guest = undefined;
    });
    return met.guest;
  };
  const carry: Carry = async (name, args) => {
    const reply = await asked(name, args);
    if (reply !== NOT_TAKEN) return reply;
    throw new BackendUnavailableError(name, 'its owner leaves');
  };
  const asked: Carry = async (name, args) => {
    if (guest !== undefined) return guest.carry(name, args);
    meeting ??= join(name).finally(() => {
      meeting = undefined;
    });
    return (await meeting).carry(name, args);
  };
  return {
    backend: {
      name: 'file',
      capabilities: { durable: true, shared: true },
      ...partsOf(carry),
      open: async ({ retention }) => {
        await carry('retention', [retention]);
        return { description: 'a guest', warnings: [] };
      },
      close: async () => guest?.close(),
    },
    ownerPid: () => {
      const [, pid] = /process (\d+)/.exec(guest?.description ?? '') ?? [];
      return pid === undefined ? undefined : Number(pid);
    },
  };
}
