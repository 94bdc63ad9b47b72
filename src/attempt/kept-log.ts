/** Lines of `ctx.log` that are stored with their task, besides the log of the process. */
import { cut, fieldsAsData, textOf } from '../base/as-data.ts';
import type { LogFields, Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import { type KeepLogs, LOG_STREAM, type LogLineLevel, lineText } from '../domain/task/task-log.ts';
import { say } from '../logging/log-events.ts';
import type { Coalesced } from './coalesced.ts';
import type { HandlerStreams } from './streams.ts';

/** The stored lines of a handler's log, as its calls see them. */
export interface KeptLines {
  /** Whether there are lines since the last wait. */
  readonly hasNew: boolean;
  /** Stores the buffered lines. Never rejects. */
  keep(): Promise<void> | undefined;
  /** Drops lines that an earlier start of the same attempt has stored. */
  drop(): void;
}

/** Parts of the log of one call. */
interface KeptLogParts {
  /** Log of the process. */
  readonly log: Logger;
  readonly keep: Exclude<KeepLogs, 'never'>;
  readonly clock: Clock;
  readonly streams: HandlerStreams;
  /** See `SubRunner.repeats`. */
  readonly repeats: () => Promise<boolean>;
}

/**
 * The log of one call of a handler. A call that succeeds within a second stores nothing, unless
 * `keepLogs` is `always`; a longer one stores its newest lines once a second, and the rest at its end.
 */
export class KeptLog implements Logger, KeptLines {
  readonly #parts: KeptLogParts;
  readonly #lines: Coalesced;
  hasNew = false;

  constructor(parts: KeptLogParts) {
    const { log, clock, streams, repeats: mustWait } = parts;
    this.#parts = parts;
    this.#lines = streams.gather(LOG_STREAM, clock, {
      ...{ most: LIMITS.logLines, mostChars: LIMITS.logBytes, isEager: false, mustWait },
      failed: (error) => say(log, 'log.not-kept', 'lines of its log could not be kept', { error }),
    });
  }

  /** Not stored. */
  debug(message: string, fields?: LogFields): void {
    this.#parts.log.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#parts.log.info(message, fields);
    this.#add('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#parts.log.warn(message, fields);
    this.#add('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#parts.log.error(message, fields);
    this.#add('error', message, fields);
  }

  keep(): Promise<void> | undefined {
    this.hasNew = false;
    return this.#lines.store();
  }

  drop(): void {
    this.hasNew = false;
    this.#lines.drop();
  }

  /** Its handler has ended. Resolves when the lines to keep are stored. */
  ended(isFailure: boolean): Promise<void> | undefined {
    const { keep } = this.#parts;
    return this.#lines.ended(isFailure || keep === 'always' || this.#lines.isStored);
  }

  #add(level: LogLineLevel, message: string, fields: LogFields | undefined): void {
    const short = cut(textOf(message), LIMITS.logMessageChars);
    const line = { at: this.#parts.clock.now(), level, message: short };
    const text = lineText(fields === undefined ? line : { ...line, fields: fieldsAsData(fields) });
    this.hasNew = true;
    this.#lines.add(text);
  }
}
