import { chmodSync, linkSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import { KeepAlive } from '../../../base/keep-alive.ts';
import { sleep } from '../../../base/pause.ts';
import type { Clock, Timer } from '../../../base/time.ts';
import { BackendUnavailableError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { SyncMode } from '../../../domain/port/backend.ts';
import type { Carry } from '../log/calls.ts';
import type { Guest } from './guest.ts';
import { GuestServer } from './guest-server.ts';
import { type Meeting, meet } from './meeting.ts';
import { claimName, DataPlace, type Listing, ownerName } from './place.ts';
import { codeOf } from './system-code.ts';

export type { Guest } from './guest.ts';

/** How to claim a data folder. */
export interface ClaimOptions {
  readonly clock: Clock;
  /** For errors: what cannot be done without the data. */
  readonly operation: string;
  /** The epoch of an owner that has just been silent (`Guest.isSilent`): it is not waited for as long again. */
  readonly silent?: number | undefined;
  /** What guests hear, where this process becomes the owner: when its commits survive a loss of power. */
  readonly sync?: SyncMode | undefined;
}

/** This process owns the data: no other reads or writes it. */
export interface OwnerClaim {
  readonly kind: 'owner';
  /** Higher than that of any owner before. */
  readonly epoch: number;
  /** What makes the folder less safe than it could be, a line each. */
  readonly warnings: readonly string[];
  /** Serves guests from now on, each by a carrier of its own. They are greeted before, and their calls wait. */
  listen(asker: () => Carry): void;
  /** False: another process has taken over, or the folder is not there any more. To be asked before every answer. */
  readonly stillOwns: () => boolean;
  /**
   * Takes no more calls of guests, ends their waits, and says farewell to each of them when it has what was answered. Those
   * who come from now on wait until it is released.
   */
  leave(): void;
  /** Settles when it does not own the data any more, or was released: about a second after that at the latest. */
  readonly over: Promise<void>;
  /**
   * Leaves, and lets another process be the owner as soon as guests have heard that; of one that does not read, a second
   * later. To be called when everything that was answered is written down.
   */
  release(): Promise<void>;
}

/** This process asks the one that owns the data. */
export interface GuestClaim {
  readonly kind: 'guest';
  readonly guest: Guest;
}

/** A process has the data open, and does not answer: it computes, or was stopped. */
export interface SilentClaim {
  readonly kind: 'silent';
}

/** Between two looks for an owner that is just leaving, in ms: it takes some to unlink its socket. */
const LOOK_MS = 10;

/** Sockets and timers keep no process alive; a claim or a release that is waited for does. */
const alive = new KeepAlive();

/**
 * Finds the owner of a data folder, and becomes it when there is none. Of any number of processes that call
 * this at once, one does: the owner of epoch n listens on the socket `owner-<n>` in the folder, and the name
 * of a file is given once. The system closes sockets with their process, so a dead owner's socket refuses
 * connections.
 *
 * @throws `BackendUnsupportedError` on Windows, for file systems of several machines, and when the owner is of
 * another version; `BackendUnavailableError` when the folder or the socket cannot be made, or the owner may
 * not be asked.
 */
export async function claim(
  folder: string,
  options: ClaimOptions,
): Promise<OwnerClaim | GuestClaim> {
  for (;;) {
    const claimed = await claimOnce(folder, { ...options, takesSilent: true });
    if (claimed.kind !== 'silent') return claimed;
  }
}

/**
 * The same for a caller that reads or writes the files itself and releases the data afterwards: it takes over
 * from no live process, however long that does not answer. An open socket accepts connections, which tells a
 * live process from a dead one.
 */
export function claimAtRest(
  folder: string,
  options: ClaimOptions,
): Promise<OwnerClaim | GuestClaim | SilentClaim> {
  return claimOnce(folder, { ...options, takesSilent: false });
}

interface OnceOptions extends ClaimOptions {
  readonly takesSilent: boolean;
}

async function claimOnce(
  folder: string,
  options: OnceOptions,
): Promise<OwnerClaim | GuestClaim | SilentClaim> {
  const place = new DataPlace(resolve(folder));
  alive.hold();
  try {
    place.make();
    place.check();
    return await new Claimant(place, options).claim();
  } catch (error) {
    if (codeOf(error).startsWith('E')) throw unavailable(options.operation, place, error);
    throw error;
  } finally {
    alive.letGo();
  }
}

/** One call of {@link claim}. */
class Claimant {
  readonly #place: DataPlace;
  readonly #options: OnceOptions;
  /** Looks in a row at which too many waited to be let in. */
  #busy = 0;

  constructor(place: DataPlace, options: OnceOptions) {
    this.#place = place;
    this.#options = options;
  }

  async claim(): Promise<OwnerClaim | GuestClaim | SilentClaim> {
    for (let look = 0; look < LIMITS.ownerClaims; look++) {
      const listing = this.#place.list();
      const epoch = Math.max(0, ...listing.owners);
      const meeting = epoch === 0 ? NOBODY : await this.#meet(epoch);
      if (meeting.kind === 'guest') return meeting;
      if (meeting.kind === 'silent' && !this.#options.takesSilent) return { kind: 'silent' };
      if (meeting.kind === 'dead' || meeting.kind === 'silent') {
        const owner = await this.#take(listing.epoch + 1);
        if (owner !== undefined) return owner;
      } else {
        const ms = meeting.kind === 'busy' ? LIMITS.ownerPingMs : LOOK_MS;
        await sleep(this.#options.clock, ms, NEVER);
      }
    }
    const why = `the owner of ${this.#place.folder} comes and goes`;
    throw new BackendUnavailableError(this.#options.operation, why);
  }

  async #meet(epoch: number): Promise<Meeting> {
    const { clock, operation, silent } = this.#options;
    const wasSilent = epoch === silent;
    const meeting = await meet(this.#place, epoch, { clock, operation, wasSilent });
    this.#busy = meeting.kind === 'busy' ? this.#busy + 1 : 0;
    const isSilent = this.#busy * LIMITS.ownerPingMs >= LIMITS.ownerSilentMs;
    return isSilent ? { kind: 'silent' } : meeting;
  }

  /** Becomes the owner of this epoch; `undefined` when another process is, or was faster. */
  async #take(epoch: number): Promise<OwnerClaim | undefined> {
    const { clock, sync } = this.#options;
    const place = this.#place;
    const guests = new GuestServer(epoch, clock, sync);
    const server = createServer((socket) => guests.accept(socket));
    const own = claimName();
    try {
      // Under a name of its own until it listens: a live owner's name never refuses a connection.
      await bind(server, place, own);
      linkSync(place.pathOf(own), place.pathOf(ownerName(epoch)));
    } catch (error) {
      await closed(server);
      rmSync(place.pathOf(own), { force: true });
      // Another process was faster, or is the owner by now and has removed this claim.
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    rmSync(place.pathOf(own), { force: true });
    const owner = new SocketOwner({ place, epoch, server, guests, clock });
    const after = place.list();
    if (owner.stillOwns() && after.owners.every((other) => other <= epoch)) {
      sweep(place, epoch, after);
      return owner;
    }
    await owner.release();
    return undefined;
  }
}

const NOBODY: Meeting = { kind: 'dead' };

/** Claims are not called off. */
const NEVER: AbortSignal = new AbortController().signal;

/** After this, no owner of before owns anything. */
function sweep(place: DataPlace, epoch: number, { owners, claims }: Listing): void {
  for (const other of owners) {
    if (other < epoch) rmSync(place.pathOf(ownerName(other)), { force: true });
  }
  for (const name of claims) rmSync(place.pathOf(name), { force: true });
}

interface OwnerParts {
  readonly place: DataPlace;
  readonly epoch: number;
  readonly server: Server;
  readonly guests: GuestServer;
  readonly clock: Clock;
}

/** See {@link OwnerClaim}. */
class SocketOwner implements OwnerClaim {
  readonly kind = 'owner';
  readonly epoch: number;
  readonly warnings: readonly string[];
  readonly over: Promise<void>;
  readonly #path: string;
  readonly #server: Server;
  readonly #guests: GuestServer;
  readonly #clock: Clock;
  /** Which file the socket is. */
  readonly #file: FileId | undefined;
  #isOver = false;
  #released: Promise<void> | undefined;
  #settleOver: () => void = () => undefined;
  #timer: Timer | undefined;

  constructor({ place, epoch, server, guests, clock }: OwnerParts) {
    this.epoch = epoch;
    this.warnings = place.warnings();
    this.#path = place.pathOf(ownerName(epoch));
    this.#server = server;
    this.#guests = guests;
    this.#clock = clock;
    this.#file = fileAt(this.#path);
    this.over = new Promise((settle) => {
      this.#settleOver = settle;
    });
    this.#watch();
  }

  listen(asker: () => Carry): void {
    this.#guests.listen(asker);
  }

  leave(): void {
    this.#guests.leave();
  }

  readonly stillOwns = (): boolean => {
    if (this.#isOver) return false;
    const file = fileAt(this.#path);
    const isOwn = file?.inode === this.#file?.inode && file?.device === this.#file?.device;
    if (file === undefined || !isOwn) this.#lose();
    return !this.#isOver;
  };

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    alive.hold();
    await this.#guests.part();
    if (this.stillOwns()) rmSync(this.#path, { force: true });
    this.#lose();
    await closed(this.#server);
    alive.letGo();
  }

  /** An owner that has nothing to write notices as well. */
  #watch(): void {
    this.#timer = this.#clock.setTimer(LIMITS.ownerPingMs, () => {
      if (this.stillOwns()) this.#watch();
    });
  }

  #lose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#settleOver();
    // Guests are to ask the next one.
    void this.#guests.close();
  }
}

interface FileId {
  readonly inode: bigint;
  readonly device: bigint;
}

/** Which file is there; what cannot be seen is none. */
function fileAt(path: string): FileId | undefined {
  try {
    const { ino, dev } = statSync(path, { bigint: true });
    return { inode: ino, device: dev };
  } catch {
    return undefined;
  }
}

/** Listens on a socket in the folder, for this user alone. */
async function bind(server: Server, place: DataPlace, name: string): Promise<void> {
  const address = place.addressOf(name);
  try {
    await new Promise<void>((listening, reject) => {
      server.once('error', reject);
      // A worker of a cluster listens by itself.
      server.listen({ path: address.path, exclusive: true }, listening);
    });
    // One who is not let in, since too many files are open, comes again.
    server.on('error', () => undefined);
    server.unref();
    chmodSync(address.path, 0o600);
  } finally {
    address.forget();
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
  });
}

function unavailable(operation: string, place: DataPlace, error: unknown): Error {
  const why = whyNoSocket(place.folder, error);
  return new BackendUnavailableError(operation, why ?? error);
}

/** In words; `undefined`: what the system says is enough. */
function whyNoSocket(folder: string, error: unknown): string | undefined {
  const code = codeOf(error);
  if (NO_SOCKETS.has(code)) {
    return `the file system of ${folder} takes no sockets (${code}), by which processes find each other`;
  }
  const problem = MAKES.has(String(Reflect.get(Object(error), 'syscall'))) && NO_ENTRY.get(code);
  if (problem === undefined || problem === false) return undefined;
  return `${folder} cannot be locked: ${problem} (${code}). The lock is a socket in the folder, also for what only reads it`;
}

/** What makes the socket. */
const MAKES: ReadonlySet<string> = new Set(['listen', 'link']);

/** Why no name can be made in a folder. */
const NO_ENTRY: ReadonlyMap<string, string> = new Map([
  ['EROFS', 'its file system is read-only'],
  ['EACCES', 'this user may not write into it'],
  ['ENOSPC', 'its disk is full'],
  ['EDQUOT', 'the quota of this user is used up'],
]);

/** What a file system answers that has no sockets, or no second names of files. */
const NO_SOCKETS: ReadonlySet<string> = new Set([
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EPERM',
  'EINVAL',
]);
