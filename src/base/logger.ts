/** Facts beside a line of log; values that are not text are shown as JSON. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where lines go. Every method returns at once and never throws. */
export interface Logger {
  /** Details for the search for a fault. */
  debug(message: string, fields?: LogFields): void;
  /** What an operator may want to know. */
  info(message: string, fields?: LogFields): void;
  /** Something is not as it should be; nothing was lost. */
  warn(message: string, fields?: LogFields): void;
  /** An operation failed; an operator should look at it. */
  error(message: string, fields?: LogFields): void;
}
