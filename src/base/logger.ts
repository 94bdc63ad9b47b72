/** Fields of a log line; values other than text are shown as JSON. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receiver of log lines. Every method returns at once and never throws. */
export interface Logger {
  /** Details for debugging. */
  debug(message: string, fields?: LogFields): void;
  /** Normal events of interest to an operator. */
  info(message: string, fields?: LogFields): void;
  /** An abnormal condition; nothing was lost. */
  warn(message: string, fields?: LogFields): void;
  /** An operation failed; an operator should look at it. */
  error(message: string, fields?: LogFields): void;
}
