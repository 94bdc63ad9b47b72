import type { LogFields, Logger } from '../base/logger.ts';

type Level = 'info' | 'warn' | 'error';

/** The logger that holds unless `FairloomOptions.log` names another: lines on stderr, no debug. */
export const stderrLogger: Logger = {
  debug: () => undefined,
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
    fields === undefined ? fixed : { ...fixed, ...fields };
  return {
    debug: (message, fields) => log.debug(message, join(fields)),
    info: (message, fields) => log.info(message, join(fields)),
    warn: (message, fields) => log.warn(message, join(fields)),
    error: (message, fields) => log.error(message, join(fields)),
  };
}

function write(level: Level, message: string, { event, ...fields }: LogFields = {}): void {
  const name = typeof event === 'string' ? ` ${event}` : '';
  process.stderr.write(`fairloom ${level}${name}: ${message}${shown(fields)}\n`);
}

function shown(fields: LogFields): string {
  if (Object.keys(fields).length === 0) return '';
  try {
    return ` ${JSON.stringify(fields, plain)}`;
  } catch {
    return ' {…}';
  }
}

/** What JSON cannot show. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === 'bigint' ? `${value}n` : value;
}
