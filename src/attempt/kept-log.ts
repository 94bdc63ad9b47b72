/** Lines of `ctx.log` that are kept with their task, beside going where the process logs. */
import { cut, fieldsAsData, textOf } from '../base/as-data.ts';
import type { LogFields, Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import { type KeepLogs, LOG_STREAM, type LogLineLevel, lineText } from '../domain/task/task-log.ts';
import { say } from '../logging/log-events.ts';
import type { Coalesced } from './coalesced.ts';
import type { HandlerStreams } from './streams.ts';

/** Lines that a handler has logged and that are kept, as what it calls sees them. */
export interface KeptLines {
  /** There are some that stand behind no wait yet. */
  readonly hasNew: boolean;
  /** Stores what there is. Never rejects. */
  keep(): Promise<void> | undefined;
  /** An earlier part of the same attempt has stored them: they are not stored again. */
  drop(): void;
}

/** What a log needs of its call. */
interface KeptLogParts {
  /** Where the process logs. */
  readonly log: Logger;
  readonly keep: Exclude<KeepLogs, 'never'>;
  readonly clock: Clock;
  readonly streams: HandlerStreams;
  /** See `SubRunner.repeats`. */
  readonly repeats: () => Promise<boolean>;
}

/**
 * The log of one call of a handler. A call that succeeds within a second stores nothing, unless all is to
 * be kept; what takes longer stores its newest lines once a second, and the rest at its end.
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

  /** Not kept. */
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

  /** Its handler has ended. Fulfilled once the lines are stored that are to be kept. */
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
