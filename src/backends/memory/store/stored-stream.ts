import { utf8Bytes } from '../../../base/json.ts';
import {
  entryHead,
  type KeptOf,
  keptOf,
  type StreamEntry,
  type StreamWrite,
} from '../../../domain/task/stream.ts';

/** A stream of a task: part of its record. */
export class StoredStream {
  readonly entries: StreamEntry[] = [];
  /** By node: its latest call, and the number of chunks that it has written. */
  readonly writers: Map<string, { readonly call: string; written: number }> = new Map();
  next = 0;
  bytes = 0;
  closed = false;

  get first(): number {
    return this.entries[0]?.from ?? this.next;
  }

  /** See `StreamStore.append`. */
  write(what: StreamWrite): 'ok' | 'closed' {
    const { name, node, call, ordinal, count, text, closes } = what;
    const before = this.writers.get(node);
    const own = before?.call === call ? before : undefined;
    // A repeated block, whose answer was lost.
    const isKnown = own !== undefined && (own.written > ordinal || (count === 0 && this.closed));
    if (isKnown) return 'ok';
    if (this.closed && (own !== undefined || before === undefined)) return 'closed';
    if (before !== undefined && own === undefined) this.#add('reset', what, 1, '');
    if (count > 0) this.#add('chunks', what, count, text);
    if (closes) this.#add('end', what, 1, '');
    this.writers.set(node, { call, written: (own?.written ?? 0) + count });
    this.closed = closes;
    this.#trim(keptOf(name));
    return 'ok';
  }

  #add(
    kind: StreamEntry['kind'],
    { attempt, node }: StreamWrite,
    offsets: number,
    text: string,
  ): void {
    const from = this.next;
    this.next += offsets;
    const entry = { kind, from, next: this.next, attempt, node, text };
    this.entries.push(entry);
    this.bytes += bytesOf(entry);
  }

  /** At least one entry stays. */
  #trim(kept: KeptOf): void {
    let gone = 0;
    let [oldest] = this.entries;
    while (oldest !== undefined && gone < this.entries.length - 1) {
      const isOver = this.next - oldest.from > kept.chunks || this.bytes > kept.bytes;
      if (!isOver) break;
      this.bytes -= bytesOf(oldest);
      gone++;
      oldest = this.entries[gone];
    }
    this.entries.splice(0, gone);
  }
}

function bytesOf(entry: StreamEntry): number {
  const head = entryHead(entry.kind, entry.next - entry.from, entry);
  return utf8Bytes(head) + utf8Bytes(entry.text);
}
