/**
 * Channels of a run: their stored values, and the effect of writes. Writes are operations on the
 * stored value, never copies of it, so concurrent writes are not lost. A field is
 * `<channel>:<key>`; values are JSON texts without spaces, as `JSON.stringify` gives.
 */
import { utf8Bytes } from '../../base/json.ts';
import { LIMITS } from '../limits.ts';

/** One operation on one value. */
export type ChannelWrite =
  | {
      readonly type: 'set';
      /** `<channel>:<key>`. */
      readonly field: string;
      /** JSON text of the value. */
      readonly text: string;
    }
  /** Removes the value; marks of `once` stay. */
  | { readonly type: 'delete'; readonly field: string }
  /** Appends elements to a list; at least one. */
  | {
      readonly type: 'append';
      /** `<channel>:<key>`. */
      readonly field: string;
      /** JSON texts separated by commas, without brackets around them. */
      readonly text: string;
      /** Only the first write of a field with this mark takes effect; absent: each does. */
      readonly once?: string;
    }
  /** Adds a finite number. Only the first write of a field with the same `once` takes effect. */
  | {
      readonly type: 'add';
      /** `<channel>:<key>`. */
      readonly field: string;
      /** The summand; may be negative. */
      readonly by: number;
      /** See `append`. */
      readonly once?: string;
    };

/** Writes to the channels of one run, applied all or none. */
export interface ChannelWrites {
  /** Id of the run; its channels are removed with its record. */
  readonly run: string;
  /** In order; at most `LIMITS.channelWrites`. */
  readonly writes: readonly ChannelWrite[];
}

/** Why writes were refused. Nothing was changed. */
export type ChannelRefusal =
  /** The run is not stored. */
  | { readonly type: 'run-gone'; readonly run: string }
  | Unfit
  | {
      readonly type: 'over';
      /** `<channel>:<key>` of the first value that would exceed the limit. */
      readonly field: string;
      /** Name of the limit in `LIMITS`. */
      readonly limit: ChannelLimit;
    };

/** The value is no list to append to or no number to add to, or the sum is not finite. */
export interface Unfit {
  /** Discriminant. */
  readonly type: 'unfit';
  /** `<channel>:<key>`. */
  readonly field: string;
  /** The operation that failed. */
  readonly operation: 'append' | 'add';
}

/** Limits of stored values. */
export type ChannelLimit = 'channelValueBytes' | 'channelKeys' | 'channelBytes';

/** Every number counts with the length of its longest text, so that backends may format it differently. */
export const CHANNEL_NUMBER_BYTES = 24;

/** Stored values of the channels of one run. */
export class ChannelValues {
  /** Field → JSON text. */
  private readonly values = new Map<string, string>();
  /** Marks of `once` that were used. */
  private readonly done = new Set<string>();
  private bytes = 0;

  /** All values, or those of some fields; a field without a value is left out. */
  read(fields: Iterable<string> = this.values.keys()): Readonly<Record<string, string>> {
    const found: [string, string][] = [];
    for (const field of fields) {
      const text = this.values.get(field);
      if (text !== undefined) found.push([field, text]);
    }
    return Object.fromEntries(found);
  }

  /** Marks of `once` that were used. */
  marks(): Iterable<string> {
    return this.done;
  }

  /** Takes the values and marks stored elsewhere. */
  takeOver(
    values: Iterable<readonly [field: string, text: string]>,
    marks: Iterable<string>,
  ): void {
    for (const [field, text] of values) {
      this.values.set(field, text);
      this.bytes += entryBytes(field, text);
    }
    for (const mark of marks) {
      this.done.add(mark);
      this.bytes += utf8Bytes(mark);
    }
  }

  /** Applies all of the writes, or none and answers why. */
  write(writes: readonly ChannelWrite[]): ChannelRefusal | undefined {
    const fresh = new Map<string, string | undefined>();
    const done = new Set<string>();
    let bytes = this.bytes;
    let keys = this.values.size;
    for (const write of writes) {
      const { field } = write;
      const mark = markOf(write);
      if (mark !== undefined) {
        if (this.done.has(mark) || done.has(mark)) continue;
        done.add(mark);
        bytes += utf8Bytes(mark);
      }
      const before = fresh.has(field) ? fresh.get(field) : this.values.get(field);
      const after = written(before, write);
      if (typeof after === 'object') return after;
      if (bytesOf(after) > LIMITS.channelValueBytes) return over(field, 'channelValueBytes');
      bytes += entryBytes(field, after) - entryBytes(field, before);
      keys += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
      fresh.set(field, after);
    }
    const last = writes.at(-1)?.field ?? '';
    if (keys > LIMITS.channelKeys) return over(last, 'channelKeys');
    if (bytes > LIMITS.channelBytes) return over(last, 'channelBytes');
    this.#keep(fresh, done, bytes);
    return undefined;
  }

  #keep(
    fresh: ReadonlyMap<string, string | undefined>,
    done: ReadonlySet<string>,
    bytes: number,
  ): void {
    for (const [field, text] of fresh) {
      if (text === undefined) this.values.delete(field);
      else this.values.set(field, text);
    }
    for (const mark of done) this.done.add(mark);
    this.bytes = bytes;
  }
}

/** The value after a write; `undefined` is no value. */
export function written(
  before: string | undefined,
  write: ChannelWrite,
): string | undefined | Unfit {
  switch (write.type) {
    case 'set':
      return write.text;
    case 'delete':
      return undefined;
    case 'append':
      return appended(before ?? '[]', write.text) ?? unfit(write.field, 'append');
    case 'add':
      return added(before ?? '0', write.by) ?? unfit(write.field, 'add');
  }
}

/**
 * Merges two writes to one field, both without `once`. The merged write is still an operation, so
 * writes of others in between are kept.
 */
export function folded(before: ChannelWrite | undefined, write: ChannelWrite): FoldedWrite {
  const { field } = write;
  if (before === undefined || write.type === 'set' || write.type === 'delete') return write;
  if (before.type === 'append' || before.type === 'add') {
    if (before.type === 'append' && write.type === 'append') {
      return { type: 'append', field, text: `${before.text},${write.text}` };
    }
    if (before.type !== 'add' || write.type !== 'add') return unfit(field, write.type);
    const by = before.by + write.by;
    return Number.isFinite(by) ? { type: 'add', field, by } : unfit(field, 'add');
  }
  const text = written(before.type === 'set' ? before.text : undefined, write);
  if (typeof text === 'object') return text;
  return text === undefined ? { type: 'delete', field } : { type: 'set', field, text };
}

/** A write, or why two do not merge. */
type FoldedWrite = ChannelWrite | Unfit;

/** Size of a write in memory, in bytes. */
export function writeBytes(write: ChannelWrite): number {
  return utf8Bytes(write.field) + ('text' in write ? utf8Bytes(write.text) : CHANNEL_NUMBER_BYTES);
}

/** A list as JSON text with more elements; `undefined` when the text is no list. */
function appended(list: string, elements: string): string | undefined {
  if (!list.startsWith('[')) return undefined;
  return list === '[]' ? `[${elements}]` : `${list.slice(0, -1)},${elements}]`;
}

/** A sum as JSON text; `undefined` when the text is no number or the sum is not finite. */
function added(number: string, by: number): string | undefined {
  if (!isNumber(number)) return undefined;
  const sum = Number(number) + by;
  return Number.isFinite(sum) ? JSON.stringify(sum) : undefined;
}

/** Whether a JSON text is a number. */
export function isNumber(text: string): boolean {
  return /^[-\d]/.test(text);
}

/** The stored mark of a write with `once`. */
function markOf(write: ChannelWrite): string | undefined {
  if (write.type === 'set' || write.type === 'delete' || write.once === undefined) return undefined;
  return `${utf8Bytes(write.field)}:${write.field}${write.once}`;
}

function bytesOf(text: string | undefined): number {
  if (text === undefined) return 0;
  return isNumber(text) ? CHANNEL_NUMBER_BYTES : utf8Bytes(text);
}

function entryBytes(field: string, text: string | undefined): number {
  return text === undefined ? 0 : utf8Bytes(field) + bytesOf(text);
}

function unfit(field: string, operation: 'append' | 'add'): Unfit {
  return { type: 'unfit', field, operation };
}

function over(field: string, limit: ChannelLimit): ChannelRefusal {
  return { type: 'over', field, limit };
}
