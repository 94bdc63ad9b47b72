/** What the tests of the socket have in common: folders, owners and guests of this process. */
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Carry, carrierOf } from '../../../src/backends/file/log/calls.ts';
import { claim, type Guest, type OwnerClaim } from '../../../src/backends/file/socket/ownership.ts';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import type { Clock, Timer } from '../../../src/base/time.ts';

const made: string[] = [];

/** An empty folder, until {@link removeFolders}. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-socket-'));
  made.push(folder);
  return join(folder, 'data');
}

export function removeFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Claims a folder that has no other owner. */
export async function ownerOf(folder: string, clock: Clock = systemClock): Promise<OwnerClaim> {
  const claimed = await claim(folder, { clock, operation: 'open' });
  if (claimed.kind === 'guest') throw new Error(`${folder} has an owner`);
  return claimed;
}

/** Claims a folder that has an owner. */
export async function guestOf(folder: string, clock: Clock = systemClock): Promise<Guest> {
  const claimed = await claim(folder, { clock, operation: 'open' });
  if (claimed.kind === 'owner') throw new Error(`${folder} has no owner`);
  return claimed.guest;
}

/** Serves a backend in memory. */
export async function servedMemory(folder: string): Promise<OwnerClaim> {
  const owner = await ownerOf(folder);
  const backend = memory();
  await backend.open({ retention: { finishedMs: 60_000, failedMs: 60_000, canceledMs: 60_000 } });
  const carry = requestsOf(carrierOf(backend));
  owner.listen(() => carry);
  return owner;
}

/** What asks for nothing but calls gets them; how long ended tasks are kept is not asked here. */
export function requestsOf(carry: Carry): Carry {
  return async (name, args) => (name === 'retention' ? undefined : carry(name, args));
}

/** A socket that is not open, as a process leaves it that is killed. */
export async function deadSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(`${path}.tmp`, resolve);
  });
  linkSync(`${path}.tmp`, path);
  await new Promise((resolve) => {
    server.close(resolve);
  });
}

/** A clock on which time passes so many times as fast, as far as its timers are concerned. */
export class FastClock implements Clock {
  readonly #speed: number;

  constructor(speed: number) {
    this.#speed = speed;
  }

  now(): number {
    return systemClock.now();
  }

  setTimer(ms: number, fire: () => void): Timer {
    return systemClock.setTimer(ms / this.#speed, fire);
  }
}
