/** Facts beside a line of log; values that are not text are shown as JSON. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where lines go. Every method returns at once and never throws. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
