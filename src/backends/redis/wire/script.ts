import { createHash } from 'node:crypto';

/** A Lua script with its hash. */
export interface Script {
  readonly text: string;
  /** Hex SHA-1 of the text. */
  readonly sha: string;
}

/** A value of ARGV; numbers are sent as decimal text. */
export type ScriptArgument = string | number;

/** The one place of the text that reads the server's clock. */
const SERVER_TIME = /\b([\w.]+)\('TIME'\)/;

/** Reads the time from a hash beside the clock's instead, so that a test can set it. */
const MANUAL_TIME = "$1('HMGET', KEYS[1] .. '-by-hand', 'manual_s', 'manual_us')";

/** A script of this text, with its SHA-1. */
export function defineScript(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** The text with a clock that a test sets. */
export function withManualTime(text: string): string {
  return text.replace(SERVER_TIME, MANUAL_TIME);
}
