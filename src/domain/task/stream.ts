/**
 * Streams: output of running tasks, in chunks. A stream is stored in blocks; each has the chunks of
 * one call. Every chunk, every reset and the end of a stream has its own offset.
 */

import { LIMITS } from '../limits.ts';
import { LOG_STREAM } from './task-log.ts';
import { PROGRESS_STREAM } from './task-progress.ts';

/** An addition to one stream of a task: all of it or nothing. */
export interface StreamWrite {
  /** Name of the stream. */
  readonly name: string;
  /** Node that writes, within the run's task; empty for the handler of the task itself. */
  readonly node: string;
  /** Id of one call of that handler: another call of the same node resets its output, and readers are notified. */
  readonly call: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Number of chunks that this call wrote to the stream before; detects a repeated block. */
  readonly ordinal: number;
  /** Number of chunks in `text`; 0 for none. */
  readonly count: number;
  /** The chunks, each preceded by its length, as `5:chunk`; empty for none. */
  readonly text: string;
  /** Closes the stream. */
  readonly closes: boolean;
}

/** A stored entry of a stream, in order. */
export interface StreamEntry {
  /** Chunks · a reset by another call of a node · the end of the stream. */
  readonly kind: 'chunks' | 'reset' | 'end';
  /** Offset of the first chunk, or of the entry itself. */
  readonly from: number;
  /** The next offset after it. */
  readonly next: number;
  /** Number of the attempt that wrote it. */
  readonly attempt: number;
  /** See {@link StreamWrite.node}. */
  readonly node: string;
  /** See {@link StreamWrite.text}. */
  readonly text: string;
}

/** Facts about one stream. */
export interface StreamFacts {
  /** Name of the stream. */
  readonly name: string;
  /** The first kept offset. */
  readonly first: number;
  /** The next offset, which is the number of offsets ever used. */
  readonly next: number;
  /** Size of the kept part, in bytes as stored. */
  readonly bytes: number;
  /** It is closed; only another attempt may reopen it. */
  readonly closed: boolean;
}

/** Stored prefix of an entry's text: kind, number of offsets, attempt and node. */
export function entryHead(
  kind: StreamEntry['kind'],
  count: number,
  { attempt, node }: Pick<StreamEntry, 'attempt' | 'node'>,
): string {
  return `${kind} ${count} ${attempt} ${node}`;
}

/** Joins chunks, each preceded by its length. */
export function blockOf(chunks: readonly string[]): string {
  return chunks.map((chunk) => `${chunk.length}:${chunk}`).join('');
}

/** Splits a block; `undefined` for a text of another form. */
export function chunksOf(block: string): readonly string[] | undefined {
  const chunks: string[] = [];
  for (let at = 0; at < block.length; ) {
    const colon = block.indexOf(':', at);
    const digits = block.slice(at, colon);
    const end = colon + 1 + Number(digits);
    if (colon === -1 || !/^\d{1,9}$/.test(digits) || end > block.length) return undefined;
    chunks.push(block.slice(colon + 1, end));
    at = end;
  }
  return chunks;
}

/** How much of a stream is kept. */
export interface KeptOf {
  /** Number of offsets. */
  readonly chunks: number;
  /** Bytes as stored. */
  readonly bytes: number;
}

/** The kept part of a stream; beyond it the oldest blocks are removed. */
export function keptOf(stream: string): KeptOf {
  const { logLines, logBytes, progressKept, streamChunks, streamBytes } = LIMITS;
  if (stream === LOG_STREAM) return { chunks: logLines, bytes: logBytes };
  if (stream === PROGRESS_STREAM) return { chunks: progressKept, bytes: logBytes };
  return { chunks: streamChunks, bytes: streamBytes };
}

/** Whether a name is reserved for Fairloom's own streams. */
export function isReserved(stream: string): boolean {
  return stream.startsWith('~');
}
