/**
 * AES-256-GCM with a list of keys. No counter limits how much one key may encrypt: every text has
 * its own key, derived from the key and half of a nonce of 192 bits, whose rest is the nonce of
 * GCM. So texts of a kind can also be encrypted without randomness, with a MAC of the text as
 * nonce: equal texts are then stored equal, which is how the store compares inputs.
 */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { impossible } from '../base/never.ts';
import { DecryptionError } from '../domain/errors/errors.ts';
import { SEAL, sealedWith } from '../domain/task/sealed-text.ts';
import type { TextKind } from './text-kind.ts';

/** Bytes of a key of AES-256. */
export const KEY_BYTES = 32;

const HALF_NONCE = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** The id and the keys derived from a key: one for each purpose. */
interface RingKey {
  readonly id: string;
  readonly encrypt: Buffer;
  readonly nonce: Buffer;
}

/** Keys; the first encrypts, all decrypt. */
export class KeyRing {
  readonly #first: RingKey;
  readonly #keys = new Map<string, RingKey>();

  /** Keys have {@link KEY_BYTES} bytes; ids are unique. */
  constructor(keys: readonly [KeyOfRing, ...KeyOfRing[]]) {
    for (const { id, key } of keys) {
      const derived = { id, encrypt: derive(key, 'encrypt'), nonce: derive(key, 'nonce') };
      this.#keys.set(id, derived);
    }
    this.#first = this.#keys.get(keys[0].id) ?? impossible('a ring without a key');
  }

  /** `isEqual`: equal texts of a kind give equal results. */
  seal(text: string, kind: TextKind, isEqual: boolean): string {
    return sealWith(this.#first, text, { kind, isEqual });
  }

  /** The text encrypted with each of the other keys: it may have been stored before the first one was in use. */
  sealedBefore(text: string, kind: TextKind): readonly string[] {
    const older = [...this.#keys.values()].filter((key) => key !== this.#first);
    return older.map((key) => sealWith(key, text, { kind, isEqual: true }));
  }

  /** @throws {@link DecryptionError}. */
  open(text: string, kind: TextKind): string {
    const id = sealedWith(text);
    const key = this.#keys.get(id);
    if (key === undefined) throw new DecryptionError(id, 'unknown-key');
    try {
      return openWith(key, text.slice(SEAL.length + id.length + 1), kind);
    } catch {
      throw new DecryptionError(id, 'altered');
    }
  }

  has(id: string): boolean {
    return this.#keys.has(id);
  }

  /** A name for content with this hash, which reveals nothing without the key. */
  nameOf(hash: string): string {
    return createHmac('sha256', this.#first.nonce).update(`name\0${hash}`).digest('hex');
  }
}

/** A key and its id. */
export interface KeyOfRing {
  readonly id: string;
  readonly key: Buffer;
}

interface How {
  readonly kind: TextKind;
  readonly isEqual: boolean;
}

function sealWith({ id, encrypt, nonce }: RingKey, text: string, { kind, isEqual }: How): string {
  const cleartext = Buffer.from(text);
  const whole = isEqual
    ? createHmac('sha256', nonce).update(`${kind}\0`).update(cleartext).digest()
    : randomBytes(2 * HALF_NONCE);
  const head = whole.subarray(0, HALF_NONCE);
  const tail = whole.subarray(HALF_NONCE, 2 * HALF_NONCE);
  const cipher = createCipheriv(CIPHER, keyOf(encrypt, head), tail);
  cipher.setAAD(contextOf(id, kind));
  const body = cipher.update(cleartext);
  cipher.final();
  const all = Buffer.concat([head, tail, cipher.getAuthTag(), body]);
  return `${SEAL}${id}:${all.toString('base64url')}`;
}

function openWith({ id, encrypt }: RingKey, text: string, kind: TextKind): string {
  const all = Buffer.from(text, 'base64url');
  const at = 2 * HALF_NONCE;
  const head = all.subarray(0, HALF_NONCE);
  const decipher = createDecipheriv(CIPHER, keyOf(encrypt, head), all.subarray(HALF_NONCE, at), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(contextOf(id, kind));
  decipher.setAuthTag(all.subarray(at, at + TAG_BYTES));
  const cleartext = decipher.update(all.subarray(at + TAG_BYTES));
  decipher.final();
  return cleartext.toString();
}

/** The key of one text. */
function keyOf(encrypt: Buffer, half: Buffer): Buffer {
  return createHmac('sha256', encrypt).update(half).digest();
}

/** Binds a text to its kind, so that it cannot replace a text of another kind. */
function contextOf(id: string, kind: TextKind): Buffer {
  return Buffer.from(`fairloom\0${id}\0${kind}`);
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `fairloom ${purpose}`, KEY_BYTES));
}
