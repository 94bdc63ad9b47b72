/**
 * Cursors for callers that see some users only. A cursor is a place in an index of all users, and so names
 * tasks of others: such callers get it encrypted, with a key that is kept in the store, so that every process
 * behind one address reads what another has given.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import { coreOf, type Fairloom } from '../client/client.ts';
import { InvalidOptionError, isOwn } from '../domain/errors/errors.ts';
import type { View } from '../operations/view.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** Of the number that is used once; the standard of the cipher. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Its length is a multiple of this, so that it does not tell how long the names in it are. */
const BLOCK_BYTES = 512;

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

  /**
   * A cursor as a caller may have it; for one that sees all as it is. The same for the same place, so that a
   * listing that has not changed looks so.
   */
  async seal(view: View, listing: string, cursor: string): Promise<string> {
    if (view.users === undefined) return cursor;
    const scope = `${view.scope} ${listing}`;
    const key = await this.#demandKey();
    const iv = createHmac('sha256', key)
      .update(`${scope} ${cursor}`)
      .digest()
      .subarray(0, IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(scope));
    const text = Buffer.concat([cipher.update(padded(cursor)), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** @throws {@link InvalidOptionError} for what was not sealed for this caller and this listing. */
  async open(view: View, listing: string, sealed: string): Promise<string> {
    if (view.users === undefined) return sealed;
    const scope = `${view.scope} ${listing}`;
    const key = await this.#demandKey();
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
      cipher.setAAD(Buffer.from(scope));
      cipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const text = cipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      return unpadded(Buffer.concat([text, cipher.final()]));
    } catch {
      throw new InvalidOptionError(
        'cursor',
        'the cursor of a page of this listing, with the same filter',
        sealed,
      );
    }
  }

  async #demandKey(): Promise<Buffer> {
    const now = elapsedMs(this.#clock);
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

/** The text, a mark where it ends, and blanks. */
function padded(cursor: string): Buffer {
  const bytes = Buffer.byteLength(cursor) + 1;
  return Buffer.from(`${cursor}.${' '.repeat(-bytes & (BLOCK_BYTES - 1))}`);
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('utf8').trimEnd().slice(0, -1);
}

/** A path of the table with the parts that were named. */
export function filledPath(path: string, part: (name: string) => string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(part(name)));
}

/** What tells a listing from others: what is listed, and all that chooses its rows; not how many. */
export function listingOf(path: string, query: Readonly<Record<string, unknown>>): string {
  const { cursor: _cursor, limit: _limit, format: _format, ...filter } = query;
  return canonicalJson([path, filter]);
}
