/** XCom in the hands of handlers: what an attempt changes is pending until its end is written down. */

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

/** The values of a client's backend, and what holds for those that say nothing. */
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

  /** On behalf of no task. */
  async write(writes: readonly XComWrite[]): Promise<void> {
    const { xcom } = await this.#connection.ready();
    await xcom.write(writes);
  }

  /** The write that pushes a value, checked in every part; a promise only when its schema gives one. */
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

  /** The result of a task whose definition hands it on; `undefined` for others. */
  resultOf(
    { taskName, options }: TaskDefinition,
    user: string,
    text: string,
  ): XComWrite | undefined {
    if (options.xcom !== true) return undefined;
    const place = { user, namespace: XCOM_NAMESPACE, key: taskName };
    return { type: 'push', place, text, ttlMs: this.#ttlMs };
  }

  /** What was pushed under a key; a promise only when its schema gives one. */
  valueOf(key: XComKeyDefinition, text: string): unknown {
    return checked(key, this.#codec.read(text));
  }
}

/**
 * A result that is handed on is a value too.
 *
 * @throws {@link InvalidResultError} when it is too large for one.
 */
export function checkXComResult(text: string): void {
  const bytes = utf8Bytes(text);
  if (bytes <= LIMITS.xcomValueBytes) return;
  const problem = `is ${bytes} bytes, at most ${LIMITS.xcomValueBytes} with the option xcom`;
  throw new InvalidResultError('$', problem);
}

/** What the schema of a key makes of a value; a promise only when the schema gives one. */
function checked({ name, schema }: XComKeyDefinition, value: unknown): unknown {
  return checkedBy(`xcom key ${JSON.stringify(name)}`, schema, value);
}

/** What one attempt of a handler pushes and deletes. */
export class PendingXComWrites {
  readonly values: XComValues;
  readonly #user: string;
  /** By place, the last write to each. */
  readonly #pending = new Map<string, XComWrite>();
  #bytes = 0;
  #isClosed = false;

  constructor(values: XComValues, user: string) {
    this.values = values;
    this.#user = user;
  }

  /** The view of a namespace; one by default. */
  open(namespace: string = XCOM_NAMESPACE): XCom {
    return new HandlerXCom(this, namespace);
  }

  /** What is to be applied; nothing can be changed any more. */
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
    // In the order of the last writes.
    this.#pending.delete(name);
    this.#pending.set(name, write);
    this.#bytes = bytes;
  }
}

/** What counts of a write towards what one attempt pushes. */
function pushedBytes(write: XComWrite | undefined): number {
  return write?.type === 'push' ? utf8Bytes(write.text) : 0;
}

/** One namespace as a handler sees it. Its types are promises only; callers see {@link XCom}. */
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
    // Pending at once unless a schema is asynchronous, so that a push counts that is not awaited.
    this.#pending.add(write instanceof Promise ? await write : write);
  }

  async pull(key: unknown): Promise<never> {
    const definition = xcomKeyOf(key);
    const text = await this.#pending.read(this.#pending.placeOf(this.#namespace, definition.name));
    const value = text === undefined ? undefined : this.#pending.values.valueOf(definition, text);
    // The key says of which type its value is.
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
