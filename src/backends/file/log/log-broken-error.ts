/** The error of a log that cannot go on. */
import { messageOf } from '../../../base/message-of.ts';

/** Codes of a disk that is full. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether the file system has said that there is no room. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL.has(error.code);
}

/** Whether lines were written is unknown; the log takes no more until the folder is opened again. */
export class LogBrokenError extends Error {
  override readonly name = 'LogBrokenError';
  /** The disk is full. */
  readonly isFull: boolean;

  constructor(cause: unknown) {
    super(`the log cannot be written: ${messageOf(cause)}`, { cause });
    this.isFull = isDiskFull(cause);
  }
}
