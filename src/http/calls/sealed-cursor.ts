/**
 * Cursors for callers that see some users only. A cursor is a place in an index of all users, and so names
 * tasks of others: such callers get it encrypted, with a key that is kept in the store, so that every process
 * behind one address reads what another has given.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/time.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import { InvalidOptionError, isOwn } from '../../domain/errors/errors.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** Of the number that is used once; the standard of the cipher. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Where the key is; no task is of this user. */
const PLACE = { user: '~fairloom', namespace: 'http' } as const;
const KEY_NAME = 'cursor-key';
/** A cursor is for the next page, and not for next year. */
const KEPT = '3650d';

/** How long a process trusts the key that it has, in ms: two that begin at once agree after so long. */
const TRUST_MS = 60_000;

/** Cursors of one API. */
export class SealedCursors {
  readonly #loom: Fairloom;
  readonly #clock: Clock;
  /** For a process that cannot read what the others have encrypted: its cursors are for itself alone. */
  readonly #unshared = randomBytes(KEY_BYTES).toString('base64url');
  #key: { readonly bytes: Buffer; readonly at: number } | undefined;

  constructor(loom: Fairloom) {
    this.#loom = loom;
    this.#clock = coreOf(loom).clock;
  }

  /** The same for the same place, so that a listing that has not changed looks so. */
  async seal(scope: string, cursor: string): Promise<string> {
    const key = await this.#demandKey();
    const iv = createHmac('sha256', key)
      .update(`${scope} ${cursor}`)
      .digest()
      .subarray(0, IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(scope));
    const text = Buffer.concat([cipher.update(cursor, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** @throws {@link InvalidOptionError} for what was not sealed for this scope. */
  async open(scope: string, sealed: string): Promise<string> {
    const key = await this.#demandKey();
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
      cipher.setAAD(Buffer.from(scope));
      cipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const text = cipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      return Buffer.concat([text, cipher.final()]).toString('utf8');
    } catch {
      throw new InvalidOptionError('cursor', 'the cursor of a page of this listing', sealed);
    }
  }

  async #demandKey(): Promise<Buffer> {
    const now = this.#clock.now();
    if (this.#key !== undefined && now - this.#key.at < TRUST_MS) return this.#key.bytes;
    const bytes = (await this.#stored()) ?? (await this.#made());
    this.#key = { bytes, at: now };
    return bytes;
  }

  async #stored(): Promise<Buffer | undefined> {
    const value = await this.#loom.xcom.pull(KEY_NAME, PLACE).catch((error: unknown) => {
      if (!isOwn(error, 'DECRYPTION_FAILED')) throw error;
      return this.#unshared;
    });
    if (typeof value !== 'string') return undefined;
    const bytes = Buffer.from(value, 'base64url');
    return bytes.length === KEY_BYTES ? bytes : undefined;
  }

  async #made(): Promise<Buffer> {
    const bytes = randomBytes(KEY_BYTES);
    await this.#loom.xcom.push(KEY_NAME, bytes.toString('base64url'), { ...PLACE, ttl: KEPT });
    return (await this.#stored()) ?? bytes;
  }
}
