/**
 * Streams: what tasks tell while they run, chunk by chunk. What is stored are blocks, each with the chunks
 * that one call carried. Every chunk, every reset and the end of a stream has an offset of its own.
 */

import { LIMITS } from '../limits.ts';
import { LOG_STREAM } from './task-log.ts';
import { PROGRESS_STREAM } from './task-progress.ts';

/** What a task adds to one of its streams: all of it or nothing. */
export interface StreamWrite {
  /** The stream; a name. */
  readonly name: string;
  /** Which node of the run's task writes; empty for the handler of the task itself. */
  readonly node: string;
  /** Names one call of that handler: another call of the same node begins anew, which readers are told. */
  readonly call: string;
  /** Which attempt that is, from 1. */
  readonly attempt: number;
  /** How many chunks this call had written to the stream before: so a block that is sent again is known. */
  readonly ordinal: number;
  /** How many chunks these are; 0 for none. */
  readonly count: number;
  /** The chunks, each with its length in front as `5:chunk`; empty for none. */
  readonly text: string;
  /** Nothing comes after them. */
  readonly closes: boolean;
}

/** What is stored of a stream, in its order. */
export interface StreamEntry {
  /** Chunks · another call of a node begins anew · the stream was closed. */
  readonly kind: 'chunks' | 'reset' | 'end';
  /** Offset of the first chunk, or of the entry itself. */
  readonly from: number;
  /** The first offset behind it. */
  readonly next: number;
  /** The attempt that wrote it. */
  readonly attempt: number;
  /** As {@link StreamWrite.node}. */
  readonly node: string;
  /** As {@link StreamWrite.text}. */
  readonly text: string;
}

/** What is known of one stream. */
export interface StreamFacts {
  /** The stream. */
  readonly name: string;
  /** The first offset that is still kept. */
  readonly first: number;
  /** The offset that comes next: so much was ever written. */
  readonly next: number;
  /** How long what is kept is, in bytes as stored. */
  readonly bytes: number;
  /** Nothing comes any more, unless another attempt begins anew. */
  readonly closed: boolean;
}

/** What is stored in front of an entry's text: kind, offsets that it takes, attempt and node. */
export function entryHead(
  kind: StreamEntry['kind'],
  count: number,
  { attempt, node }: Pick<StreamEntry, 'attempt' | 'node'>,
): string {
  return `${kind} ${count} ${attempt} ${node}`;
}

/** Puts chunks together, each with its length in front. */
export function blockOf(chunks: readonly string[]): string {
  return chunks.map((chunk) => `${chunk.length}:${chunk}`).join('');
}

/** Takes a block apart; `undefined` when it is none. */
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
  /** Offsets. */
  readonly chunks: number;
  /** As stored. */
  readonly bytes: number;
}

/** When there is more, the oldest blocks go. */
export function keptOf(stream: string): KeptOf {
  const { logLines, logBytes, progressKept, streamChunks, streamBytes } = LIMITS;
  if (stream === LOG_STREAM) return { chunks: logLines, bytes: logBytes };
  if (stream === PROGRESS_STREAM) return { chunks: progressKept, bytes: logBytes };
  return { chunks: streamChunks, bytes: streamBytes };
}

/** Whether it is one of ours, which no caller opens. */
export function isReserved(stream: string): boolean {
  return stream.startsWith('~');
}
