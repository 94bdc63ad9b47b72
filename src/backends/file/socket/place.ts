import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { codeOf } from './system-code.ts';

/** What a socket's address may be long, in bytes: macOS takes 103, Linux 107. */
const ADDRESS_BYTES = 103;

const EPOCH_DIGITS = 8;
const OWNER = /^owner-(\d{8})$/;
const LOG = /^log-(\d{8})-/;
const CLAIM = /^claim-/;

/** Group and others. */
const OTHERS_WRITE = 0o022;

/**
 * File systems of several machines, by the number that Linux gives them: a socket there is known to one of the machines
 * alone, so each of them would have its own owner.
 */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x19830326, 'BeeGFS'],
  [0x47504653, 'GPFS'],
]);

/** A data folder as claims see it. */
export interface Listing {
  /** Epochs that have a socket. */
  readonly owners: readonly number[];
  /** The highest epoch that anything there is of; 0 when nothing is. */
  readonly epoch: number;
  /** Sockets that are about to become an owner's, or were left behind. */
  readonly claims: readonly string[];
}

/** Where a socket is, as the system takes it. */
export interface Address {
  readonly path: string;
  /** The socket is bound, or connected. */
  forget(): void;
}

/** A data folder, and the sockets in it. */
export class DataPlace {
  readonly folder: string;

  /** @param folder - an absolute path. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder, for this user alone, where there is none. */
  make(): void {
    makeFolder(this.folder);
  }

  /** @throws `BackendUnsupportedError` for Windows, and for a file system of several machines. */
  check(): void {
    if (process.platform === 'win32') {
      throw new BackendUnsupportedError(
        'file() does not run on Windows, which has no sockets in folders: use WSL 2, or redis()',
      );
    }
    if (process.platform !== 'linux') return;
    const network = NETWORK.get(statfsSync(this.folder).type);
    if (network === undefined) return;
    throw new BackendUnsupportedError(
      `${this.folder} is on ${network}: file() needs a disk of one machine, or use redis()`,
    );
  }

  list(): Listing {
    const owners: number[] = [];
    const claims: string[] = [];
    let epoch = 0;
    for (const name of readdirSync(this.folder)) {
      const owner = OWNER.exec(name)?.[1];
      const found = owner ?? LOG.exec(name)?.[1];
      if (owner !== undefined) owners.push(Number(owner));
      if (found !== undefined) epoch = Math.max(epoch, Number(found));
      if (CLAIM.test(name)) claims.push(name);
    }
    return { owners, epoch, claims };
  }

  /** Whether the owner of this epoch has read the data: it has begun to write; or there is no folder any more. */
  isOpen(epoch: number): boolean {
    const start = `log-${digits(epoch)}-`;
    try {
      return readdirSync(this.folder).some((name) => name.startsWith(start));
    } catch {
      return true;
    }
  }

  /** What makes it less safe than it could be, a line each. */
  warnings(): readonly string[] {
    const mode = statSync(this.folder).mode & 0o777;
    if ((mode & OTHERS_WRITE) === 0) return [];
    return [
      `others than its owner may write into ${this.folder} (mode ${mode.toString(8)}): chmod 700`,
    ];
  }

  /** The whole path of a file. */
  pathOf(name: string): string {
    return join(this.folder, name);
  }

  /** What to bind, or connect to: a longer path than addresses may be goes through a link that is soon removed. */
  addressOf(name: string): Address {
    const path = this.pathOf(name);
    if (Buffer.byteLength(path) <= ADDRESS_BYTES) return { path, forget: () => undefined };
    const way = mkdtempSync(join(tmpdir(), 'fairloom-'));
    const forget = (): void => rmSync(way, { recursive: true, force: true });
    const link = join(way, 'd');
    symlinkSync(this.folder, link);
    const short = join(link, name);
    if (Buffer.byteLength(short) <= ADDRESS_BYTES) return { path: short, forget };
    forget();
    throw new BackendUnsupportedError(
      `the paths of ${this.folder} and of temporary files (${tmpdir()}) are too long for a socket`,
    );
  }
}

/**
 * Makes a folder and those above it, for this user alone. By itself, since `recursive` of Node never ends where the folder above is
 * there and takes none, as in `/proc`.
 *
 * @throws what the file system says.
 */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const above = dirname(folder);
    if (codeOf(error) !== 'ENOENT') {
      if (!isFolder(folder)) throw error;
      return;
    }
    if (existsSync(above)) throw error;
    makeFolder(above);
    makeFolder(folder);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The socket of an owner. */
export function ownerName(epoch: number): string {
  return `owner-${digits(epoch)}`;
}

/** A socket that has no owner yet; short, since the length of its whole path is limited. */
export function claimName(): string {
  return `claim-${randomBytes(4).toString('hex')}`;
}

function digits(epoch: number): string {
  return String(epoch).padStart(EPOCH_DIGITS, '0');
}
