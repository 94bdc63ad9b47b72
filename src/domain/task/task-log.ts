/** Stored log lines of a task, in a stream with a reserved name. */
import { isRecord } from '../../base/records.ts';
import { LIMITS } from '../limits.ts';

/** Name of that stream; its chunks are texts of {@link LogLine}. */
export const LOG_STREAM = '~log';

/**
 * Which lines of `ctx.log` are kept: all, those of attempts that fail or take longer than a second, or
 * none.
 */
export type KeepLogs = 'always' | 'failures' | 'never';

/** All values of {@link KeepLogs}. */
export const KEEP_LOGS: readonly KeepLogs[] = ['always', 'failures', 'never'];

/** Levels of stored lines. */
export type LogLineLevel = 'info' | 'warn' | 'error';

/** One line of `ctx.log`. */
export interface LogLine {
  /** When it was written, in ms since the epoch on the clock of that process. */
  readonly at: number;
  /** Its level; `debug` lines are not stored. */
  readonly level: LogLineLevel;
  /** Its message. */
  readonly message: string;
  /** Logged data; absent without any, and when it was too long. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Stored text of a line: JSON, with lone surrogates escaped. */
export function lineText(line: LogLine): string {
  const text = JSON.stringify(line);
  if (text.length <= LIMITS.logLineChars) return text;
  const { fields: _long, ...rest } = line;
  return JSON.stringify(rest);
}

/** Parses a stored line; text of another form becomes the message. */
export function readLine(stored: unknown): LogLine {
  try {
    const line: unknown = JSON.parse(String(stored));
    if (isLine(line)) return line;
  } catch {
    // Text of another form: use it as the message.
  }
  return { at: 0, level: 'info', message: String(stored) };
}

function isLine(value: unknown): value is LogLine {
  if (!isRecord(value)) return false;
  const { at, level, message, fields } = value;
  const isLevel = level === 'info' || level === 'warn' || level === 'error';
  const isData = fields === undefined || isRecord(fields);
  return typeof at === 'number' && isLevel && typeof message === 'string' && isData;
}
