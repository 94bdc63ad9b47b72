/** Channels of handlers: writes of an attempt are buffered until its end is stored. */

import { decodeJson, encodeJson, tooLong, utf8Bytes } from '../base/json.ts';
import {
  ChannelLimitError,
  ChannelTypeError,
  ClosedError,
  type FairloomError,
  InvalidOptionError,
  InvalidPayloadError,
  LeaseLostError,
  TaskNotFoundError,
} from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { checkId } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { LeaseRef, RunStore } from '../domain/port/backend.ts';
import { refOf } from '../domain/port/leasing.ts';
import {
  type ChannelRefusal,
  ChannelValues,
  type ChannelWrite,
  folded,
  writeBytes,
  written,
} from '../domain/task/channel.ts';
import { isSealed, readableWords } from '../domain/task/sealed-text.ts';
import {
  type ChannelDefinition,
  channelDefinitionOf,
  ONCE_KEYS,
  type OnceOptions,
} from '../workflow/channel.ts';
import { checkedBy } from '../workflow/standard-schema.ts';
import type { Failure } from './handler-call.ts';

/** Store of a run's channels. */
export interface ChannelStore {
  /** The stored JSON text of one field. */
  read(field: string): Promise<string | undefined>;
  /** Writes at once; throws the error of {@link channelError}. */
  write(write: ChannelWrite): Promise<void>;
}

/** The channels of a stored run, under a lease. */
export class StoredChannels implements ChannelStore {
  readonly #runs: RunStore;
  readonly #run: string;
  /** Its lease may change during a wait. */
  readonly #holder: { readonly lease: LeaseRef };

  constructor(runs: RunStore, run: string, holder: { readonly lease: LeaseRef }) {
    this.#runs = runs;
    this.#run = run;
    this.#holder = holder;
  }

  async read(field: string): Promise<string | undefined> {
    return (await this.#runs.readChannel(this.#run, [field]))[field];
  }

  async write(write: ChannelWrite): Promise<void> {
    const lease = refOf(this.#holder.lease);
    const channel = { run: this.#run, writes: [write] };
    const answer = await this.#runs.writeChannel(lease, channel);
    if (answer === 'lost') throw new LeaseLostError(lease.id);
    if (answer !== 'ok') throw channelError(answer);
  }
}

/** The channels of a run that is not stored. */
export class LocalChannels implements ChannelStore {
  readonly #values = new ChannelValues();

  async read(field: string): Promise<string | undefined> {
    return this.#values.read([field])[field];
  }

  async write(write: ChannelWrite): Promise<void> {
    this.apply([write]);
  }

  /** Applies the writes of a handler that has succeeded: all of them, or it throws. */
  apply(writes: readonly ChannelWrite[]): void {
    const refusal = this.#values.write(writes);
    if (refusal !== undefined) throw channelError(refusal);
  }
}

/** Buffered writes of one attempt of a handler. */
export class PendingChannelWrites {
  readonly #store: ChannelStore;
  /** Writes to a field, combined, by field. */
  #pending: Map<string, ChannelWrite> | undefined;
  #bytes = 0;
  #isClosed = false;

  constructor(store: ChannelStore) {
    this.#store = store;
  }

  /** @throws {@link InvalidOptionError} when the value is not a channel. */
  open(channel: unknown): HandlerChannel {
    const definition = channelDefinitionOf(channel);
    const store = this.#store;
    const live = new ChannelView(definition, store);
    const own: ChannelStore = {
      read: (field) => this.#read(field),
      write: async (write) => this.#add(definition, write),
    };
    return new HandlerChannel(definition, own, live);
  }

  /** Returns the writes to apply; later writes are refused. */
  take(): readonly ChannelWrite[] {
    this.#isClosed = true;
    return this.#pending === undefined ? NO_WRITES : [...this.#pending.values()];
  }

  async #read(field: string): Promise<string | undefined> {
    const pending = this.#pending?.get(field);
    const isWhole = pending?.type === 'set' || pending?.type === 'delete';
    const stored = isWhole ? undefined : await this.#store.read(field);
    if (pending === undefined) return stored;
    const text = written(stored, pending);
    if (typeof text === 'object') throw channelError(text);
    return text;
  }

  #add({ name }: ChannelDefinition, write: ChannelWrite): void {
    if (this.#isClosed) throw new ClosedError(`channel ${name} of a handler that has ended`);
    if ('once' in write) {
      throw new InvalidOptionError('once', 'no value: a buffered write counts once', write.once);
    }
    const { field } = write;
    this.#pending ??= new Map();
    const before = this.#pending.get(field);
    const after = folded(before, write);
    if (after.type === 'unfit') throw channelError(after);
    const isLong = 'text' in after && utf8Bytes(after.text) > LIMITS.channelValueBytes;
    if (isLong) throw new ChannelLimitError(placeOf(field), 'channelValueBytes');
    const bytes = this.#bytes + writeBytes(after) - (before === undefined ? 0 : writeBytes(before));
    if (bytes > LIMITS.channelBytes) throw new ChannelLimitError(placeOf(field), 'channelBytes');
    if (before === undefined && this.#pending.size >= LIMITS.channelWrites) {
      throw new ChannelLimitError(placeOf(field), 'channelWrites');
    }
    this.#pending.set(field, after);
    this.#bytes = bytes;
  }
}

/** Writes of a handler that did not use channels. */
export const NO_WRITES: readonly ChannelWrite[] = [];

/** One view of a channel. Callers see `LiveChannel`; its types exist at compile time only. */
class ChannelView {
  readonly #definition: ChannelDefinition;
  readonly #store: ChannelStore;

  constructor(definition: ChannelDefinition, store: ChannelStore) {
    this.#definition = definition;
    this.#store = store;
  }

  async get(key: string): Promise<unknown> {
    const text = await this.#store.read(this.#field(key));
    return text === undefined ? undefined : this.#checked(key, decodeJson(text));
  }

  async set(key: string, value: unknown): Promise<void> {
    const field = this.#field(key);
    const text = this.#encoded(key, value);
    const checked = this.#checked(key, value);
    if (checked instanceof Promise) await checked;
    await this.#store.write({ type: 'set', field, text });
  }

  async delete(key: string): Promise<void> {
    await this.#store.write({ type: 'delete', field: this.#field(key) });
  }

  async append(key: string, element: unknown, options: OnceOptions = {}): Promise<void> {
    checkOptions('append', options, ONCE_KEYS);
    const field = this.#field(key);
    const text = this.#encoded(key, element);
    await this.#store.write({ type: 'append', field, text, ...onceOf(options) });
  }

  async add(key: string, by: number, options: OnceOptions = {}): Promise<void> {
    checkOptions('add', options, ONCE_KEYS);
    const field = this.#field(key);
    if (!Number.isFinite(by)) throw this.#invalid(key, '$', `${String(by)} is not a JSON number`);
    await this.#store.write({ type: 'add', field, by, ...onceOf(options) });
  }

  #field(key: unknown): string {
    return `${this.#definition.name}:${checkId('channel key', key)}`;
  }

  #encoded(key: string, value: unknown): string {
    if (value === undefined) throw this.#invalid(key, '$', 'undefined has no JSON form');
    const encoded = encodeJson(value, LIMITS.channelValueBytes);
    if (encoded.ok) return encoded.text;
    if (encoded.problem === tooLong(LIMITS.channelValueBytes)) {
      throw new ChannelLimitError(placeOf(this.#field(key)), 'channelValueBytes');
    }
    throw this.#invalid(key, encoded.path, encoded.problem);
  }

  /** The value that the schema returns; a promise only when the schema returns one. */
  #checked(key: string, value: unknown): unknown {
    const schema = this.#definition.schemas.get(key);
    return schema === undefined ? value : checkedBy(this.#where(key), schema, value);
  }

  #invalid(key: string, path: string, problem: string): InvalidPayloadError {
    return new InvalidPayloadError(path, `${problem} (${this.#where(key)})`);
  }

  #where(key: string): string {
    return `channel ${this.#definition.name}, key ${JSON.stringify(key)}`;
  }
}

/** A channel as a handler sees it. */
class HandlerChannel extends ChannelView {
  readonly live: ChannelView;

  constructor(definition: ChannelDefinition, store: ChannelStore, live: ChannelView) {
    super(definition, store);
    this.live = live;
  }
}

/** The error for refused writes. */
export function channelError(refusal: ChannelRefusal): FairloomError {
  switch (refusal.type) {
    case 'run-gone':
      return new TaskNotFoundError(refusal.run);
    case 'unfit':
      return new ChannelTypeError(placeOf(refusal.field), refusal.operation);
    case 'over':
      return new ChannelLimitError(placeOf(refusal.field), refusal.limit);
  }
}

/** The failure for refused writes: another attempt would be refused too. */
export function channelFailure(refusal: ChannelRefusal): Failure {
  return { error: channelError(refusal), failureType: 'error', retryable: false };
}

/** Channel and key of a field. */
function placeOf(field: string): { readonly channel: string; readonly key: string } {
  const colon = field.indexOf(':');
  return { channel: field.slice(0, colon), key: field.slice(colon + 1) };
}

/** Values of a run by channel and key. */
export function channelsIn(
  fields: Readonly<Record<string, string>>,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const channels = new Map<string, [string, unknown][]>();
  for (const [field, text] of Object.entries(fields)) {
    const { channel, key } = placeOf(field);
    const known = channels.get(channel) ?? [];
    known.push([key, shownValue(text)]);
    channels.set(channel, known);
  }
  const sorted = [...channels].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, values]) => [name, Object.fromEntries(values)] as const),
  );
}

/** A value for display; an unreadable one is shown by the id of its key. */
export function shownValue(text: string): unknown {
  if (isSealed(text)) return readableWords(text);
  const value = decodeJson(text);
  const words = (one: unknown): unknown => (typeof one === 'string' ? readableWords(one) : one);
  return Array.isArray(value) ? value.map(words) : words(value);
}

function onceOf({ once }: OnceOptions): { readonly once?: string } {
  return once === undefined ? {} : { once: checkId('once', once) };
}
