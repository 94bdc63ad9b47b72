/** How the codec in force keeps texts: everything that users and handlers wrote, on its way to the store and back. */
import { createHash } from 'node:crypto';
import { DecryptionError } from '../domain/errors/errors.ts';
import { isSealed, SEAL, sealedWith } from '../domain/task/sealed-text.ts';
import { EncryptedCodec } from './encrypted.ts';
import type { KeyRing } from './key-ring.ts';
import type { Codec } from './sealed-codec.ts';
import type { TextKind } from './text-kind.ts';

/** Makes texts unreadable, and readable again. The empty text, which says that there is no value, stays. */
export interface Texts {
  seal(text: string, kind: TextKind): string;
  /** Never throws: a text that cannot be read stays as it is stored, and {@link problemOf} tells why. */
  open(text: string, kind: TextKind): string;
  /** The same for texts that must be there for anything to go on. @throws {@link DecryptionError} */
  demand(text: string, kind: TextKind): string;
  /** Why a text cannot be read that `open` has left. */
  problemOf(text: string): DecryptionError;
  /** Other forms in which an input of this text may have been stored. */
  sealedBefore(text: string): readonly string[];
  /** The name under which what has this hash is stored. */
  nameOf(hash: string): string;
}

/** `undefined` without a codec: then texts are stored as they are. */
export function textsOf(codec: Codec | undefined): Texts | undefined {
  if (codec === undefined) return undefined;
  if (codec instanceof EncryptedCodec) return new RingTexts(codec.ring, codec.acceptUnencrypted);
  return new CodedTexts(codec);
}

/** Why a process without a codec cannot read a text. */
export function withoutKeys(text: string): DecryptionError {
  return new DecryptionError(sealedWith(text), 'unknown-key');
}

/** Backends write such texts themselves. */
const OFTEN_UNENCRYPTED: ReadonlySet<TextKind> = new Set(['error', 'reason']);

/** The result that backends give a join. */
const JOINED = 'null';

/** What was found not to be encrypted: marked as what cannot be read. */
const UNENCRYPTED = `${SEAL}:`;

class RingTexts implements Texts {
  readonly #ring: KeyRing;
  readonly #acceptUnencrypted: boolean;

  constructor(ring: KeyRing, acceptUnencrypted: boolean) {
    this.#ring = ring;
    this.#acceptUnencrypted = acceptUnencrypted;
  }

  seal(text: string, kind: TextKind): string {
    // A text that could not be read is handed on as it is.
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

/** Values are the codec's already; so become all other texts. */
const VALUES: ReadonlySet<TextKind> = new Set(['input', 'result', 'xcom', 'stream']);

/** Stands for the id of a key. */
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
