import { isSignal, onAbort } from '../../base/abort-watch.ts';
import { KeepAlive } from '../../base/keep-alive.ts';
import { BackendUnavailableError, ClosedError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { BackendInfo, BackendSettings, SyncMode } from '../../domain/port/backend.ts';
import { type Carry, kindOf, NOT_TAKEN, type RequestName } from './log/calls.ts';
import { openOwner } from './open-owner.ts';
import type { AccessOptions, OwnerOptions, Role } from './role.ts';
import { claim, claimAtRest, type Guest } from './socket/ownership.ts';

/** A call that waits for the next owner is under way; a wait keeps no process alive, as in memory. */
const alive = new KeepAlive();

/**
 * The way of this process to the data: as its owner, or through the owner; chosen anew when that ends. A call
 * that the owner has not taken when it leaves, and a later one, waits for the next owner. A call that was
 * under way when the owner died is refused, since its outcome is unknown.
 */
export class Access {
  readonly #options: AccessOptions;
  #role: Role | undefined;
  /** What it was before, until that makes room for the next. */
  #former: Role | undefined;
  #joining: Promise<Role> | undefined;
  #sync: SyncMode;
  /** What the client said last. */
  #settings: BackendSettings | undefined;
  /** The owner that was silent; see `claim`. */
  #silent: number | undefined;
  /** So there is data, wherever it may be now. */
  #wasOpen = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#sync = options.sync;
  }

  /** When the owner syncs: it, and not who asks it, decides that. As it was asked for here until one is known. */
  get sync(): SyncMode {
    return this.#sync;
  }

  readonly carry: Carry = async (name, args) => {
    for (let owners = 0; owners < LIMITS.ownerClaims; owners++) {
      const role = this.#role ?? (await this.#next(name, args));
      if (role === undefined) return name === 'workers.waitForWork' ? 'timeout' : undefined;
      const reply = await role.carry(name, args);
      if (reply !== NOT_TAKEN) return reply;
      this.#leave(role);
    }
    throw comesAndGoes(name, this.#options);
  };

  async open(settings: BackendSettings): Promise<BackendInfo> {
    this.#settings = settings;
    await this.carry('retention', [settings.retention]);
    const { info } = this.#role ?? (await this.#join('open'));
    return info;
  }

  /** A second call is answered with the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#former?.close();
    } finally {
      const role = this.#role ?? (await this.#joining?.catch(() => undefined));
      this.#role = undefined;
      await role?.close();
    }
  }

  /** `undefined`: it is a wait that was given up meanwhile. */
  async #next(name: RequestName, args: readonly unknown[]): Promise<Role | undefined> {
    const signal = kindOf(name) === 'wait' ? args.at(-1) : undefined;
    if (isSignal(signal)) return signal.aborted ? undefined : this.#nextUntil(name, signal);
    alive.hold();
    try {
      return await this.#join(name);
    } finally {
      alive.letGo();
    }
  }

  async #nextUntil(name: RequestName, signal: AbortSignal): Promise<Role | undefined> {
    let unwatch = (): void => undefined;
    const aborted = new Promise<undefined>((resolve) => {
      unwatch = onAbort([signal], () => resolve(undefined));
    });
    try {
      return await Promise.race([this.#join(name), aborted]);
    } finally {
      unwatch();
    }
  }

  async #join(operation: string): Promise<Role> {
    if (this.#isClosed) throw new ClosedError('the backend');
    this.#joining ??= this.#enter(operation);
    try {
      return await this.#joining;
    } finally {
      this.#joining = undefined;
    }
  }

  async #enter(operation: string): Promise<Role> {
    for (let owners = 0; owners < LIMITS.ownerClaims; owners++) {
      await this.#former?.leave().catch(() => undefined);
      this.#former = undefined;
      if (this.#isClosed) throw new ClosedError('the backend');
      const role = await this.#claim(operation);
      const retention = this.#settings?.retention;
      const reply = retention && (await role.carry('retention', [retention]));
      if (reply !== NOT_TAKEN) return this.#play(role);
      this.#former = role;
    }
    throw comesAndGoes(operation, this.#options);
  }

  #play(role: Role): Role {
    this.#role = role;
    this.#sync = role.sync;
    this.#wasOpen = true;
    void role.over.then(() => this.#leave(role));
    return role;
  }

  async #claim(operation: string): Promise<Role> {
    const { folder, clock, sync, takesSilent = true } = this.#options;
    const options = { clock, operation, silent: this.#silent, sync };
    const claimed = await (takesSilent ? claim(folder, options) : claimAtRest(folder, options));
    if (claimed.kind === 'silent') throw silentOwner(operation, folder);
    if (claimed.kind === 'guest') return this.#asGuest(claimed.guest);
    try {
      const options: OwnerOptions = {
        ...this.#options,
        report: (problem) => this.#settings?.report?.(problem),
        deadLetters: (letters) => this.#settings?.deadLetters?.(letters),
      };
      return await openOwner(claimed, options, this.#wasOpen);
    } catch (error) {
      await claimed.release();
      throw error;
    }
  }

  #asGuest(guest: Guest): Role {
    return {
      carry: guest.carry,
      sync: guest.sync ?? this.#options.sync,
      info: { description: guest.description, warnings: [] },
      over: guest.left,
      leave: async () => {
        await guest.gone;
        this.#silent = guest.isSilent ? guest.epoch : undefined;
      },
      close: () => guest.close(),
    };
  }

  /** Looks for the next owner at once: another process may wait for one while this one makes no calls. */
  #leave(role: Role): void {
    if (this.#role !== role) return;
    this.#role = undefined;
    if (this.#isClosed) return;
    this.#former = role;
    this.#join('takeover').catch(() => undefined);
  }
}

function silentOwner(operation: string, folder: string): Error {
  const why = `another process has ${folder} open, and does not answer`;
  return new BackendUnavailableError(operation, why);
}

function comesAndGoes(operation: string, { folder }: AccessOptions): Error {
  return new BackendUnavailableError(operation, `the owner of ${folder} comes and goes`);
}
