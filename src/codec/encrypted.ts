import { decodeJson, encodeJson } from '../base/json.ts';
import { isRecord } from '../base/records.ts';
import { InvalidOptionError, InvalidPayloadError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { isKeyId } from '../domain/task/sealed-text.ts';
import { KEY_BYTES, KeyRing } from './key-ring.ts';
import type { Codec } from './sealed-codec.ts';

/** One key of {@link encrypted}. */
export interface EncryptionKey {
  /** Its id, part of every text that it encrypts: 1 to 32 letters, digits, `.`, `_` and `-`. Never reuse one. */
  readonly id: string;
  /** 32 random bytes, raw or as base64: `openssl rand -base64 32` creates some. */
  readonly key: Uint8Array | string;
}

/** Options of the encryption. */
export interface EncryptionOptions {
  /** The first encrypts; all decrypt, so that earlier ones stay readable until no text of theirs is left. */
  readonly keys: readonly EncryptionKey[];
  /** Codec between values and texts, before the encryption. Default: strict JSON. */
  readonly codec?: Codec | undefined;
  /**
   * Also read unencrypted values, while a store that was used without keys is migrated. Default
   * false: such a value is an error, as an altered one is.
   */
  readonly acceptUnencrypted?: boolean | undefined;
}

/**
 * A codec that encrypts all data of users and handlers, with AES-256-GCM: inputs, results, errors,
 * reasons, channels, XCom, streams, journals, schedules, graphs. Names, users, ids and keys stay
 * readable, and so do numbers in channels. See `docs/guide/encryption.md`.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { encrypted, Fairloom, memory, task } from 'fairloom';
 *
 * const codec = encrypted({ keys: [{ id: '2026-11', key: randomBytes(32) }] });
 * const greet = task('greet', async (name: string) => `Hello, ${name}!`);
 * const loom = new Fairloom({ backend: memory(), tasks: [greet], codec });
 * await loom.worker().start();
 * const handle = await loom.enqueue(greet, 'Ada');
 * console.log(await handle.result()); // prints Hello, Ada!
 * await loom.close();
 * ```
 *
 * @throws InvalidOptionError for invalid keys.
 */
export function encrypted(options: EncryptionOptions): Codec {
  checkOptions('encrypted', options, OPTION_KEYS);
  const { codec, acceptUnencrypted = false } = options;
  if (typeof acceptUnencrypted !== 'boolean') {
    throw new InvalidOptionError('acceptUnencrypted', 'true or false', acceptUnencrypted);
  }
  const isCodec = typeof codec?.encode === 'function' && typeof codec.decode === 'function';
  if (codec !== undefined && (!isCodec || codec instanceof EncryptedCodec)) {
    throw new InvalidOptionError('codec', 'a codec that does not encrypt', codec);
  }
  return new EncryptedCodec(ringOf(options.keys), codec, acceptUnencrypted);
}

const OPTION_KEYS: OptionKeys<EncryptionOptions> = keysOf<EncryptionOptions>()({
  keys: true,
  codec: true,
  acceptUnencrypted: true,
});

/** The codec of {@link encrypted}. */
export class EncryptedCodec implements Codec {
  readonly ring: KeyRing;
  /** Codec between values and texts; absent: JSON. */
  readonly form: Codec | undefined;
  readonly acceptUnencrypted: boolean;

  constructor(ring: KeyRing, form: Codec | undefined, acceptUnencrypted: boolean) {
    this.ring = ring;
    this.form = form;
    this.acceptUnencrypted = acceptUnencrypted;
  }

  /** For single values; a client encrypts all that it stores. */
  encode(value: unknown): string {
    return this.ring.seal(this.#text(value), 'input', true);
  }

  decode(text: string): unknown {
    const cleartext = this.ring.open(text, 'input');
    return this.form === undefined ? decodeJson(cleartext) : this.form.decode(cleartext);
  }

  #text(value: unknown): string {
    if (this.form !== undefined) return this.form.encode(value);
    const encoded = encodeJson(value, Number.MAX_SAFE_INTEGER);
    if (encoded.ok) return encoded.text;
    throw new InvalidPayloadError(encoded.path, encoded.problem);
  }
}

/** @throws InvalidOptionError for invalid keys. */
export function ringOf(keys: unknown): KeyRing {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new InvalidOptionError('keys', 'a list of at least one key', keys);
  }
  const ids = new Set<string>();
  const [first, ...rest] = Array.from(keys, (given: unknown, at) => {
    const { id, key } = isRecord(given) ? given : {};
    const path = `keys[${at}]`;
    if (!isKeyId(id)) {
      throw new InvalidOptionError(`${path}.id`, 'letters, digits, ".", "_" and "-", 1 to 32', id);
    }
    if (ids.has(id)) throw new InvalidOptionError(`${path}.id`, 'a unique id', id);
    ids.add(id);
    return { id, key: keyBytes(`${path}.key`, key) };
  });
  return new KeyRing([first ?? none(), ...rest]);
}

/** The bytes of a key. Errors never show it. */
function keyBytes(option: string, key: unknown): Buffer {
  const isText = typeof key === 'string';
  const isBase64 = isText && /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);
  const bytes = isBase64 ? Buffer.from(key, 'base64') : undefined;
  const given = key instanceof Uint8Array ? Buffer.from(key) : bytes;
  if (given?.length === KEY_BYTES) return given;
  const got = given === undefined ? typeof key : `${given.length} bytes`;
  throw new InvalidOptionError(option, `${KEY_BYTES} bytes, or base64 of them`, got);
}

function none(): never {
  throw new InvalidOptionError('keys', 'a list of at least one key', []);
}
