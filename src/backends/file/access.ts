import { ClosedError } from '../../domain/errors/errors.ts';
import type { BackendInfo } from '../../domain/port/backend.ts';
import type { Retention } from '../../domain/settings/settings.ts';
import type { Carry } from './calls/calls.ts';
import { openOwner } from './open-owner.ts';
import type { AccessOptions, Role } from './role.ts';
import { claim, type Guest } from './socket/ownership.ts';

/**
 * The way of this process to the data: as its owner, or by asking the owner; once more whenever that is over. A call
 * that was under way then is refused, since nobody knows what became of it; one that comes later waits for the next
 * owner.
 */
export class Access {
  readonly #options: AccessOptions;
  #role: Role | undefined;
  #joining: Promise<Role> | undefined;
  #retention: Retention | undefined;
  /** The owner that was silent; see `claim`. */
  #silent: number | undefined;
  /** So there is data, wherever it may be now. */
  #wasOpen = false;
  #isClosed = false;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  readonly carry: Carry = async (name, args) => {
    const role = this.#role ?? (await this.#join(name));
    return role.carry(name, args);
  };

  async open(retention: Retention): Promise<BackendInfo> {
    this.#retention = retention;
    const role = this.#role ?? (await this.#join('open'));
    await role.carry('retention', [retention]);
    return role.info;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const role = this.#role ?? (await this.#joining?.catch(() => undefined));
    this.#role = undefined;
    await role?.close();
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
    const role = await this.#claim(operation);
    if (this.#retention !== undefined) await role.carry('retention', [this.#retention]);
    this.#role = role;
    this.#wasOpen = true;
    void role.over.then(() => this.#leave(role));
    return role;
  }

  async #claim(operation: string): Promise<Role> {
    const { folder, clock } = this.#options;
    const claimed = await claim(folder, { clock, operation, silent: this.#silent });
    if (claimed.kind === 'guest') return this.#asGuest(claimed.guest);
    try {
      return await openOwner(claimed, this.#options, this.#wasOpen);
    } catch (error) {
      await claimed.release();
      throw error;
    }
  }

  #asGuest(guest: Guest): Role {
    return {
      carry: guest.carry,
      info: { description: guest.description, warnings: [] },
      over: guest.gone.then(() => {
        this.#silent = guest.isSilent ? guest.epoch : undefined;
      }),
      close: () => guest.close(),
    };
  }

  /** Somebody has to be the next owner, also when nobody calls here. */
  async #leave(role: Role): Promise<void> {
    if (this.#role !== role) return;
    this.#role = undefined;
    if (this.#isClosed) return;
    await role.close().catch(() => undefined);
    await this.#join('takeover').catch(() => undefined);
  }
}
