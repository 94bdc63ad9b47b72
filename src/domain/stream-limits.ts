/** Limits of streams, metadata, log and progress of running handlers; part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type StreamLimitKey =
  | 'streams'
  | 'streamChunks'
  | 'streamBytes'
  | 'streamChunkBytes'
  | 'streamBlockChunks'
  | 'streamBlockBytes'
  | 'streamPendingBytes'
  | 'streamPage'
  | 'streamLookMs'
  | 'metadataBytes'
  | 'logLines'
  | 'logBytes'
  | 'logLineChars'
  | 'logMessageChars'
  | 'progressKept'
  | 'reportMs';

/** As `LIMIT_TABLE`, which takes them in. */
export const STREAM_LIMITS: Readonly<Record<StreamLimitKey, Limit>> = {
  streams: limit(16, 'streams', 'of one task; each may take its share of memory'),
  streamChunks: limit(
    20_000,
    'chunks',
    'kept of one stream: a long answer by tokens; the oldest are removed, and readers are notified',
  ),
  streamBytes: limit(
    1_048_576,
    'bytes',
    'kept of one stream, as a payload; the oldest are removed',
  ),
  streamChunkBytes: limit(65_536, 'bytes', 'one chunk; a stream is for live output'),
  streamBlockChunks: limit(1_000, 'chunks', 'that one call stores: less than a millisecond'),
  streamBlockBytes: limit(65_536, 'bytes', 'the same; a single chunk may be as long'),
  streamPendingBytes: limit(
    1_048_576,
    'bytes',
    'of one stream, on their way to the backend: a faster writer waits',
  ),
  streamPage: limit(16, 'blocks', 'that one read answers: about a MiB at most'),
  streamLookMs: limit(5_000, 'ms', 'a reader reads without a notice after this time'),
  metadataBytes: limit(
    4_096,
    'bytes',
    'one value of the metadata of a run: every read of the run reads all of them',
  ),
  logLines: limit(200, 'lines', 'kept of the log of one task; the oldest are removed'),
  logBytes: limit(65_536, 'bytes', 'the same: a page that people read'),
  logLineChars: limit(4_096, 'characters', 'of a line that is kept; a longer one loses its fields'),
  logMessageChars: limit(1_000, 'characters', 'of its message; a longer one is cut'),
  progressKept: limit(
    32,
    'reports',
    'of progress, kept of one task: the newest of each running node',
  ),
  reportMs: limit(
    1_000,
    'ms',
    'shortest interval in which an attempt stores its log and progress; a shorter attempt stores no log unless it fails',
  ),
};
