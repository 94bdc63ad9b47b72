import { fieldsAsData, fieldsOf, textOf } from '../base/as-data.ts';
import type { LogFields, Logger } from '../base/logger.ts';

/** How loud a line must be to be logged; `silent`: none is. */
export type LogLevel = keyof Logger | 'silent';

/** The quietest first. */
export const LOG_LEVEL_NAMES: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** The logger that holds unless `FairloomOptions.log` names another: lines on stderr. */
export const stderrLogger: Logger = {
  debug: (message, fields) => write('debug', message, fields),
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
};

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The same logger with fields that every line carries. */
export function withFields(log: Logger, fixed: LogFields): Logger {
  const join = (fields: LogFields | undefined): LogFields =>
    fields === undefined ? fixed : { ...fixed, ...Object.fromEntries(fieldsOf(fields)) };
  return {
    debug: (message, fields) => log.debug(message, join(fields)),
    info: (message, fields) => log.info(message, join(fields)),
    warn: (message, fields) => log.warn(message, join(fields)),
    error: (message, fields) => log.error(message, join(fields)),
  };
}

/**
 * The logger as the engine uses it: lines from a level up, and no call of it ever throws. What it
 * cannot show is given to it once more as plain data; what it refuses even so goes to stderr.
 */
export function safeLogger(log: Logger, least: LogLevel): Logger {
  const line = (level: keyof Logger): Logger['info'] => {
    if (LOG_LEVEL_NAMES.indexOf(level) < LOG_LEVEL_NAMES.indexOf(least)) return () => undefined;
    return (message, fields) => {
      const again = (): void => sendAsData(log, level, message, fields);
      try {
        const sent: unknown = log[level](message, fields);
        if (sent instanceof Promise) void sent.catch(again);
      } catch {
        again();
      }
    };
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

function sendAsData(
  log: Logger,
  level: keyof Logger,
  message: string,
  fields: LogFields | undefined,
): void {
  const [text, data] = [textOf(message), fieldsAsData(fields)];
  const toStderr = (): void => write(level, text, data);
  try {
    const sent: unknown = log[level](text, data);
    if (sent instanceof Promise) void sent.catch(toStderr);
  } catch {
    toStderr();
  }
}

function write(level: keyof Logger, message: string, fields?: LogFields): void {
  const { event, ...rest } = fieldsAsData(fields);
  const name = typeof event === 'string' ? ` ${event}` : '';
  const shown = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  process.stderr.write(`fairloom ${level}${name}: ${textOf(message)}${shown}\n`);
}
