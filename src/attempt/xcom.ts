/** XCom of handlers: changes of an attempt are buffered until its end is stored. */

import type { SharedBackend } from '../backends/shared-backend.ts';
import { utf8Bytes } from '../base/json.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { ClosedError, InvalidResultError, XComLimitError } from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { checkId } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import {
  XCOM_NAMESPACE,
  type XComPlace,
  type XComWrite,
  xcomPlaceText,
} from '../domain/task/xcom.ts';
import { checkedBy } from '../workflow/standard-schema.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import { durationOption } from '../workflow/task-options.ts';
import { XCOM_PUSH_KEYS, type XCom, type XComPushOptions } from '../workflow/xcom.ts';
import { type XComKeyDefinition, xcomKeyOf } from '../workflow/xcom-key.ts';

const BOUNDS = { least: 1, most: LIMITS.delayMaxMs };

/** The values of a client's backend, and the default `ttl`. */
export class XComValues {
  readonly #connection: SharedBackend;
  readonly #codec: ValueCodec;
  readonly #ttlMs: number;

  constructor(connection: SharedBackend, codec: ValueCodec, ttlMs: number) {
    this.#connection = connection;
    this.#codec = codec;
    this.#ttlMs = ttlMs;
  }

  async read(place: XComPlace): Promise<string | undefined> {
    const { xcom } = await this.#connection.ready();
    const [value] = await xcom.read([place]);
    return value?.text;
  }

  /** Writes without a task. */
  async write(writes: readonly XComWrite[]): Promise<void> {
    const { xcom } = await this.#connection.ready();
    await xcom.write(writes);
  }

  /** The write that pushes a checked value; a promise only when its schema returns one. */
  pushOf(
    place: XComPlace,
    key: XComKeyDefinition,
    { value, options }: { readonly value: unknown; readonly options: XComPushOptions },
  ): XComWrite | Promise<XComWrite> {
    const ttlMs =
      options.ttl === undefined ? this.#ttlMs : durationOption('ttl', options.ttl, BOUNDS);
    const text = this.#codec.xcom(key.name, value);
    const write: XComWrite = { type: 'push', place, text, ttlMs };
    const passed = checked(key, value);
    return passed instanceof Promise ? passed.then(() => write) : write;
  }

  /** The result of a task with `xcom: true` as a write; `undefined` for others. */
  resultOf(
    { taskName, options }: TaskDefinition,
    user: string,
    text: string,
  ): XComWrite | undefined {
    if (options.xcom !== true) return undefined;
    const place = { user, namespace: XCOM_NAMESPACE, key: taskName };
    return { type: 'push', place, text, ttlMs: this.#ttlMs };
  }

  /** The value of a stored text; a promise only when its schema returns one. */
  valueOf(key: XComKeyDefinition, text: string): unknown {
    return checked(key, this.#codec.read(text));
  }
}

/**
 * A shared result has the limit of a value too.
 *
 * @throws {@link InvalidResultError} when it exceeds that.
 */
export function checkXComResult(text: string): void {
  const bytes = utf8Bytes(text);
  if (bytes <= LIMITS.xcomValueBytes) return;
  const problem = `is ${bytes} bytes, at most ${LIMITS.xcomValueBytes} with the option xcom`;
  throw new InvalidResultError('$', problem);
}

/** The value that the schema of a key returns; a promise only when the schema returns one. */
function checked({ name, schema }: XComKeyDefinition, value: unknown): unknown {
  return checkedBy(`xcom key ${JSON.stringify(name)}`, schema, value);
}

/** Buffered pushes and deletes of one attempt of a handler. */
export class PendingXComWrites {
  readonly values: XComValues;
  readonly #user: string;
  /** The latest write to each place. */
  readonly #pending = new Map<string, XComWrite>();
  #bytes = 0;
  #isClosed = false;

  constructor(values: XComValues, user: string) {
    this.values = values;
    this.#user = user;
  }

  /** The view of a namespace, or of the default one. */
  open(namespace: string = XCOM_NAMESPACE): XCom {
    return new HandlerXCom(this, namespace);
  }

  /** Returns the writes to apply; later changes are refused. */
  take(): readonly XComWrite[] {
    this.#isClosed = true;
    return [...this.#pending.values()];
  }

  placeOf(namespace: string, key: string): XComPlace {
    return { user: this.#user, namespace, key };
  }

  async read(place: XComPlace): Promise<string | undefined> {
    const pending = this.#pending.get(xcomPlaceText(place));
    if (pending === undefined) return this.values.read(place);
    return pending.type === 'push' ? pending.text : undefined;
  }

  add(write: XComWrite): void {
    const { key } = write.place;
    if (this.#isClosed) throw new ClosedError('xcom of a handler that has ended');
    const name = xcomPlaceText(write.place);
    const before = this.#pending.get(name);
    const bytes = this.#bytes + pushedBytes(write) - pushedBytes(before);
    if (bytes > LIMITS.xcomBytes) throw new XComLimitError(key, 'xcomBytes');
    if (before === undefined && this.#pending.size >= LIMITS.xcomWrites) {
      throw new XComLimitError(key, 'xcomWrites');
    }
    // Keeps the order of the latest writes.
    this.#pending.delete(name);
    this.#pending.set(name, write);
    this.#bytes = bytes;
  }
}

/** Bytes of a write that count towards the limit of one attempt. */
function pushedBytes(write: XComWrite | undefined): number {
  return write?.type === 'push' ? utf8Bytes(write.text) : 0;
}

/** A namespace for a handler, without the types of {@link XCom}, which callers see. */
class HandlerXCom implements XCom {
  readonly #pending: PendingXComWrites;
  readonly #namespace: string;

  constructor(pending: PendingXComWrites, namespace: string) {
    this.#pending = pending;
    this.#namespace = namespace;
  }

  async push(key: unknown, value: unknown, options: XComPushOptions = {}): Promise<void> {
    checkOptions('xcom.push', options, XCOM_PUSH_KEYS);
    const definition = xcomKeyOf(key);
    const place = this.#pending.placeOf(this.#namespace, definition.name);
    const write = this.#pending.values.pushOf(place, definition, { value, options });
    // Buffered at once unless a schema is asynchronous, so that a push counts that is not awaited.
    this.#pending.add(write instanceof Promise ? await write : write);
  }

  async pull(key: unknown): Promise<never> {
    const definition = xcomKeyOf(key);
    const text = await this.#pending.read(this.#pending.placeOf(this.#namespace, definition.name));
    const value = text === undefined ? undefined : this.#pending.values.valueOf(definition, text);
    // The key has the type of its value.
    return (await value) as never;
  }

  async delete(key: unknown): Promise<void> {
    const { name } = xcomKeyOf(key);
    this.#pending.add({ type: 'delete', place: this.#pending.placeOf(this.#namespace, name) });
  }

  in(namespace: string): XCom {
    return this.#pending.open(checkId('namespace', namespace));
  }
}
