import { messageOf } from '../../base/message-of.ts';
import type { BackendSettings } from '../../domain/port/backend.ts';
import type { CommandLog } from './log/command-log.ts';

/** Says when a snapshot was not made. Nothing is lost by that: the log has everything, and goes on growing. */
export class SnapshotProblems {
  readonly #log: CommandLog;
  readonly #report: BackendSettings['report'];
  /** Why the last one was not made. */
  #last: { readonly error: unknown } | undefined;

  constructor(log: CommandLog, report: BackendSettings['report']) {
    this.#log = log;
    this.#report = report;
  }

  /** What is wrong now, a line each. */
  lines(): readonly string[] {
    if (this.#last === undefined) return [];
    const { log } = this.#log.bytes;
    return [
      `no snapshot can be made, and the log has grown to ${log} bytes: ${messageOf(this.#last.error)}`,
    ];
  }

  /** One was made. */
  made(): void {
    this.#last = undefined;
  }

  /** While work goes on. */
  failed(error: unknown): void {
    this.#last = { error };
    this.#say('no snapshot could be made: the log grows on, and it is tried again', error);
  }

  /** The last one, when the folder was closed. */
  failedAtEnd(error: unknown): void {
    this.#say('no snapshot could be left: the next opening replays the log', error);
  }

  /** A log that can go on no more refuses calls, which says enough. */
  #say(text: string, error: unknown): void {
    const { isBroken, bytes } = this.#log;
    if (!isBroken) this.#report?.({ text, error, logBytes: bytes.log });
  }
}
