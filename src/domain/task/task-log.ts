/** Lines of log that are kept with their task: in a stream of it whose name no caller can give. */
import { isRecord } from '../../base/records.ts';
import { LIMITS } from '../limits.ts';

/** That stream; its chunks are texts of {@link LogLine}. */
export const LOG_STREAM = '~log';

/**
 * Which lines of `ctx.log` are kept: all, those of attempts that fail or take longer than a second, or
 * none.
 */
export type KeepLogs = 'always' | 'failures' | 'never';

/** All that {@link KeepLogs} may be. */
export const KEEP_LOGS: readonly KeepLogs[] = ['always', 'failures', 'never'];

/** How loud a line that is kept may be. */
export type LogLineLevel = 'info' | 'warn' | 'error';

/** One line of `ctx.log`. */
export interface LogLine {
  /** When it was written, in ms since the epoch on the clock of that process. */
  readonly at: number;
  /** How loud it is; `debug` is not kept. */
  readonly level: LogLineLevel;
  /** What it says. */
  readonly message: string;
  /** What was logged with it, as data; absent when there was nothing, and when it was too long. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What is stored for a line: JSON, also of texts that have no UTF-8 form. */
export function lineText(line: LogLine): string {
  const text = JSON.stringify(line);
  if (text.length <= LIMITS.logLineChars) return text;
  const { fields: _long, ...rest } = line;
  return JSON.stringify(rest);
}

/** Reads it back; what cannot be read is shown as it is. */
export function readLine(stored: unknown): LogLine {
  try {
    const line: unknown = JSON.parse(String(stored));
    if (isLine(line)) return line;
  } catch {
    // Text of another form: it is the message.
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
