import { callUserCode } from '../base/async-scope.ts';
import { decodeJson, type Encoded, encodeJson, utf8Bytes } from '../base/json.ts';
import type { Logger } from '../base/logger.ts';
import {
  type DecryptionError,
  InvalidPayloadError,
  InvalidResultError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { valueOwnerText } from '../domain/task/node-name.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import { say } from '../logging/log-events.ts';
import { EncryptedCodec } from './encrypted.ts';
import type { Codec } from './sealed-codec.ts';
import { type Texts, textsOf, withoutKeys } from './texts.ts';

/** The codec of a client, with the limits of stored values. */
export class ValueCodec {
  /** Seals stored texts; `undefined` without a codec. */
  readonly texts: Texts | undefined;
  /** Values are encrypted: other systems must not get them either. */
  readonly isSecret: boolean;
  readonly #own: Codec | undefined;
  readonly #log: Logger;
  /** Names whose large values were reported, once each. */
  readonly #warned = new Set<string>();

  constructor(codec: Codec | undefined, log: Logger) {
    const encrypts = codec instanceof EncryptedCodec;
    this.isSecret = encrypts;
    const form = encrypts ? codec.form : codec;
    this.#own = form === undefined ? undefined : apartCodec(form);
    this.texts = textsOf(encrypts ? codec : this.#own);
    this.#log = log;
  }

  /** @throws {@link InvalidPayloadError} when the input cannot be stored unchanged. */
  payload(name: string, input: unknown): string {
    if (input === undefined && this.#own === undefined) return '';
    const encoded = this.#encode(input);
    if (!encoded.ok) throw new InvalidPayloadError(encoded.path, encoded.problem);
    if (encoded.bytes > LIMITS.payloadWarnBytes) this.#warn('input', name, encoded.bytes);
    return encoded.text;
  }

  /** @throws {@link InvalidResultError} when the result cannot be stored unchanged. */
  result(name: string, value: unknown): string {
    if (value === undefined && this.#own === undefined) return '';
    const encoded = this.#encode(value);
    if (!encoded.ok) throw new InvalidResultError(encoded.path, encoded.problem);
    if (encoded.bytes > LIMITS.payloadWarnBytes) this.#warn('result', name, encoded.bytes);
    return encoded.text;
  }

  /** A value of XCom. @throws {@link InvalidPayloadError} when it cannot be stored unchanged. */
  xcom(key: string, value: unknown): string {
    const where = `xcom key ${JSON.stringify(key)}`;
    if (value === undefined) throw new InvalidPayloadError('$', `undefined has no text (${where})`);
    const encoded = this.#encode(value);
    if (!encoded.ok) throw new InvalidPayloadError(encoded.path, `${encoded.problem} (${where})`);
    if (encoded.bytes <= LIMITS.xcomValueBytes) return encoded.text;
    const problem = `is ${encoded.bytes} bytes, at most ${LIMITS.xcomValueBytes} (${where})`;
    throw new InvalidPayloadError('$', problem);
  }

  /** A chunk of a stream, and its bytes. @throws {@link InvalidPayloadError} for a value that changes when stored. */
  chunk(stream: string, value: unknown): { readonly text: string; readonly bytes: number } {
    const where = `stream ${stream}`;
    if (value === undefined) throw new InvalidPayloadError('$', `undefined has no text (${where})`);
    const encoded = this.#encode(value);
    if (!encoded.ok) throw new InvalidPayloadError(encoded.path, `${encoded.problem} (${where})`);
    if (encoded.bytes <= LIMITS.streamChunkBytes) return encoded;
    const problem = `is ${encoded.bytes} bytes, at most ${LIMITS.streamChunkBytes} (${where})`;
    throw new InvalidPayloadError('$', problem);
  }

  /** For a value that is composed of stored ones and not stored itself; throws as `payload` does. */
  anyLength(value: unknown): string {
    if (value === undefined && this.#own === undefined) return '';
    const encoded =
      this.#own === undefined
        ? encodeJson(value, Number.MAX_SAFE_INTEGER)
        : ({ ok: true, text: this.#own.encode(value) } as const);
    if (encoded.ok) return encoded.text;
    throw new InvalidPayloadError(encoded.path, encoded.problem);
  }

  /**
   * Throws the codec's error for a text that is not its own.
   *
   * @throws {@link DecryptionError} when it is encrypted with an unknown key.
   */
  read(text: string): unknown {
    try {
      return this.#own === undefined ? decodeJson(text) : this.#own.decode(text);
    } catch (error) {
      throw isSealed(text) ? this.unreadable(text) : error;
    }
  }

  /** Why an encrypted text cannot be read here. */
  unreadable(text: string): DecryptionError {
    return this.texts?.problemOf(text) ?? withoutKeys(text);
  }

  #encode(value: unknown): Encoded {
    if (this.#own === undefined) return encodeJson(value, LIMITS.payloadBytes);
    try {
      return sized(this.#own.encode(value));
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'the codec refused it';
      return { ok: false, path: '$', problem };
    }
  }

  #warn(what: string, name: string, bytes: number): void {
    const key = `${what} ${name}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    const of = valueOwnerText(name);
    const message = `${what} of ${of} is ${bytes} bytes; store a reference instead`;
    say(this.#log, 'value.large', message, { name, what, bytes });
  }
}

/** Its functions are user code. */
function apartCodec(own: Codec): Codec {
  return {
    encode: (value) => callUserCode(() => own.encode(value)),
    decode: (text) => callUserCode(() => own.decode(text)),
  };
}

function sized(text: unknown): Encoded {
  if (typeof text !== 'string') {
    return { ok: false, path: '$', problem: `the codec gave ${typeof text}, not text` };
  }
  const bytes = utf8Bytes(text);
  if (bytes <= LIMITS.payloadBytes) return { ok: true, text, bytes };
  const problem = `is ${bytes} bytes, at most ${LIMITS.payloadBytes}`;
  return { ok: false, path: '$', problem };
}
