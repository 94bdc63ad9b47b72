/** Reports of a running handler: streams, lines of log and progress. */
import { cut } from '../base/as-data.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { KeepLogs } from '../domain/task/task-log.ts';
import { PROGRESS_STREAM, progressText } from '../domain/task/task-progress.ts';
import { say } from '../logging/log-events.ts';
import type { TaskStream } from '../workflow/task-stream.ts';
import type { Coalesced } from './coalesced.ts';
import { type KeptLines, KeptLog } from './kept-log.ts';
import type { HandlerStreams, StreamOpener } from './streams.ts';

interface ReportParts {
  /** Opens its streams, once. */
  readonly opener: StreamOpener;
  /** Id of the node; empty for the handler of a task itself. */
  readonly node: string;
  readonly attempt: number;
  readonly clock: Clock;
  /** Log of the process. */
  readonly log: Logger;
  readonly keepLogs: KeepLogs;
  /** See `SubRunner.repeats`. */
  readonly repeats: () => Promise<boolean>;
}

/** The reports of one call of a handler; each part is made on first use. */
export class HandlerReports {
  readonly #parts: ReportParts;
  #streams: HandlerStreams | undefined;
  #log: KeptLog | undefined;
  #progress: Coalesced | undefined;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /** Opens a stream, or returns the open one. */
  stream(name: string): TaskStream {
    return this.#own.open(name);
  }

  /** Lines of its log to keep; `undefined` when none are kept, or there is none. */
  get lines(): KeptLines | undefined {
    return this.#log;
  }

  /** See {@link HandlerStreams.ended}. */
  streamed(): Promise<unknown> | undefined {
    return this.#streams?.ended();
  }

  /** A log that writes to `log` and keeps lines, unless none are kept. */
  keptLog(log: Logger): Logger {
    const { opener, clock, keepLogs: keep, repeats } = this.#parts;
    if (!opener.isStored || keep === 'never') return log;
    this.#log = new KeptLog({ log, keep, clock, streams: this.#own, repeats });
    return this.#log;
  }

  /** @throws {@link InvalidOptionError}. */
  progress(fraction: unknown, message: unknown): void {
    if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
      throw new InvalidOptionError('fraction', 'a number from 0 to 1', fraction);
    }
    if (message !== undefined && typeof message !== 'string') {
      throw new InvalidOptionError('message', 'a text', message);
    }
    const { opener, clock } = this.#parts;
    if (!opener.isStored) return;
    this.#progress ??= this.#own.gather(PROGRESS_STREAM, clock, {
      ...{ most: 1, mostChars: LIMITS.logBytes, isEager: true },
      failed: (error) => this.#failed(error),
    });
    const note = message === undefined ? {} : { message: cut(message, LIMITS.logMessageChars) };
    this.#progress.add(progressText({ fraction, ...note, at: clock.now() }));
  }

  /** Its handler has ended. Resolves when everything to keep is stored; never rejects. */
  ended(isFailure: boolean): Promise<unknown> | undefined {
    const log = this.#log?.ended(isFailure);
    const progress = this.#progress?.ended(true);
    if (log === undefined || progress === undefined) return log ?? progress;
    return Promise.all([log, progress]);
  }

  get #own(): HandlerStreams {
    const { opener, node, attempt } = this.#parts;
    this.#streams ??= opener.streamsFor(node, attempt);
    return this.#streams;
  }

  #failed(error: unknown): void {
    say(this.#parts.log, 'progress.not-kept', 'its progress could not be stored', { error });
  }
}
