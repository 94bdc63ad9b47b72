import type { Clock } from '../../base/time.ts';
import type { BackendInfo, BackendSettings, SyncMode } from '../../domain/port/backend.ts';
import type { Carry } from './log/calls.ts';

/** How data is opened. */
export interface AccessOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly sync: SyncMode;
  readonly maxBytes: number | undefined;
  /** False: a process that lives is not taken over, however long it does not answer; calls are refused. Default true. */
  readonly takesSilent?: boolean | undefined;
}

/** Of a process that opens data as its owner. */
export interface OwnerOptions
  extends AccessOptions,
    Pick<BackendSettings, 'report' | 'deadLetters'> {}

/** What this process is to the data, for as long as it is that. */
export interface Role {
  readonly carry: Carry;
  readonly info: BackendInfo;
  /** When the owner of the data syncs. */
  readonly sync: SyncMode;
  /** Settles when it is that no more, and takes no more calls: the data has another owner, or needs one. */
  readonly over: Promise<void>;
  /** After that: fulfilled when another owner may be looked for. */
  leave(): Promise<void>;
  close(): Promise<void>;
}
