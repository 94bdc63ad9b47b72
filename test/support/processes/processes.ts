/** Processes that handlers start, by their ids. */
import { readFileSync } from 'node:fs';
import type { LogFields, Logger } from '../../../src/base/logger.ts';

/** Whether a process runs. One that has exited and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isDefunct(pid);
}

function isDefunct(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/, ')'));
  } catch {
    // No such file system, or gone in between.
    return false;
  }
}

/** A line of a log. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps what it is told. */
export interface KeptLog extends Logger {
  readonly lines: readonly LogLine[];
  /** The lines that say this, once there are so many. */
  said(message: string | RegExp, times?: number): Promise<readonly LogLine[]>;
}

export function keepLog(): KeptLog {
  const lines: LogLine[] = [];
  let waiting: (() => void)[] = [];
  const keep =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
      const told = waiting;
      waiting = [];
      for (const tell of told) tell();
    };
  return {
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    said: async (message, times = 1) => {
      const fits = (line: LogLine): boolean =>
        typeof message === 'string' ? line.message === message : message.test(line.message);
      for (;;) {
        const found = lines.filter(fits);
        if (found.length >= times) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
