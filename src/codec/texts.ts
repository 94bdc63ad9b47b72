/** Seals and opens all texts of users and handlers with the codec. */
import { createHash } from 'node:crypto';
import { DecryptionError } from '../domain/errors/errors.ts';
import { isSealed, SEAL, sealedWith } from '../domain/task/sealed-text.ts';
import { EncryptedCodec } from './encrypted.ts';
import type { KeyRing } from './key-ring.ts';
import type { Codec } from './sealed-codec.ts';
import type { TextKind } from './text-kind.ts';

/** Seals texts, and opens them. The empty text, which means no value, stays. */
export interface Texts {
  seal(text: string, kind: TextKind): string;
  /** Never throws: an unreadable text stays as it is stored, and {@link problemOf} has the reason. */
  open(text: string, kind: TextKind): string;
  /** The same for required texts. @throws {@link DecryptionError} */
  demand(text: string, kind: TextKind): string;
  /** Why `open` could not read a text. */
  problemOf(text: string): DecryptionError;
  /** Other stored forms of an input with this text. */
  sealedBefore(text: string): readonly string[];
  /** Stored name of content with this hash. */
  nameOf(hash: string): string;
}

/** `undefined` without a codec: texts are stored as they are. */
export function textsOf(codec: Codec | undefined): Texts | undefined {
  if (codec === undefined) return undefined;
  if (codec instanceof EncryptedCodec) return new RingTexts(codec.ring, codec.acceptUnencrypted);
  return new CodedTexts(codec);
}

/** Error of a process without a codec. */
export function withoutKeys(text: string): DecryptionError {
  return new DecryptionError(sealedWith(text), 'unknown-key');
}

/** Kinds that backends also write themselves. */
const OFTEN_UNENCRYPTED: ReadonlySet<TextKind> = new Set(['error', 'reason']);

/** The result of a join, which backends write. */
const JOINED = 'null';

/** Mark of a text that was unexpectedly not encrypted. */
const UNENCRYPTED = `${SEAL}:`;

class RingTexts implements Texts {
  readonly #ring: KeyRing;
  readonly #acceptUnencrypted: boolean;

  constructor(ring: KeyRing, acceptUnencrypted: boolean) {
    this.#ring = ring;
    this.#acceptUnencrypted = acceptUnencrypted;
  }

  seal(text: string, kind: TextKind): string {
    // An unreadable text is passed on as it is.
    if (text === '' || isSealed(text)) return text;
    return this.#ring.seal(text, kind, kind === 'input');
  }

  open(text: string, kind: TextKind): string {
    if (text === '') return text;
    if (!isSealed(text)) {
      const isOwn = OFTEN_UNENCRYPTED.has(kind) || (kind === 'result' && text === JOINED);
      return isOwn || this.#acceptUnencrypted ? text : UNENCRYPTED + text;
    }
    try {
      return this.#ring.open(text, kind);
    } catch {
      return text;
    }
  }

  demand(text: string, kind: TextKind): string {
    const opened = this.open(text, kind);
    if (isSealed(opened)) throw this.problemOf(opened);
    return opened;
  }

  problemOf(text: string): DecryptionError {
    const id = sealedWith(text);
    if (id === '') return new DecryptionError(id, 'not-encrypted');
    return new DecryptionError(id, this.#ring.has(id) ? 'altered' : 'unknown-key');
  }

  sealedBefore(text: string): readonly string[] {
    return text === '' || isSealed(text) ? [] : this.#ring.sealedBefore(text, 'input');
  }

  nameOf(hash: string): string {
    return this.#ring.nameOf(hash);
  }
}

/** The codec encodes values already; all other texts are sealed here. */
const VALUES: ReadonlySet<TextKind> = new Set(['input', 'result', 'xcom', 'stream']);

/** Prefix in place of the id of a key. */
const CODEC = `${SEAL}codec:`;

class CodedTexts implements Texts {
  readonly #codec: Codec;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  seal(text: string, kind: TextKind): string {
    if (text === '' || VALUES.has(kind) || isSealed(text)) return text;
    return CODEC + this.#codec.encode(text);
  }

  open(text: string, kind: TextKind): string {
    if (VALUES.has(kind) || !text.startsWith(CODEC)) return text;
    try {
      const opened = this.#codec.decode(text.slice(CODEC.length));
      return typeof opened === 'string' ? opened : text;
    } catch {
      return text;
    }
  }

  demand(text: string, kind: TextKind): string {
    const opened = this.open(text, kind);
    if (!VALUES.has(kind) && isSealed(opened)) throw this.problemOf(opened);
    return opened;
  }

  problemOf(text: string): DecryptionError {
    const id = sealedWith(text);
    return new DecryptionError(id, text.startsWith(CODEC) ? 'altered' : 'unknown-key');
  }

  sealedBefore(): readonly string[] {
    return [];
  }

  nameOf(hash: string): string {
    return createHash('sha256').update(this.#codec.encode(hash)).digest('hex');
  }
}
