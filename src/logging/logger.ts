import { fieldsAsData, fieldsOf, textOf } from '../base/as-data.ts';
import type { LogFields, Logger } from '../base/logger.ts';

/** Lowest level of logged lines; `silent`: none. */
export type LogLevel = keyof Logger | 'silent';

/** The lowest first. */
export const LOG_LEVEL_NAMES: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** The default of `FairloomOptions.log`: lines on stderr. */
export const stderrLogger: Logger = {
  debug: (message, fields) => write('debug', message, fields),
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
};

/**
 * Logs nothing.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, silentLogger } from 'fairloom';
 *
 * const loom = new Fairloom({ backend: memory(), log: silentLogger });
 * await loom.close();
 * ```
 */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The same logger with additional fields in every line. */
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
 * The logger of the engine: lines from a level up, and its calls never throw. Fields that the logger cannot
 * handle are passed once more as plain data; if that fails too the line goes to stderr.
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
