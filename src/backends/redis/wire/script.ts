import { createHash } from 'node:crypto';

/** A Lua script as the server knows it. */
export interface Script {
  readonly text: string;
  /** Hex SHA-1 of the text. */
  readonly sha: string;
}

/** What may stand in ARGV; numbers are sent as their decimal text. */
export type ScriptArgument = string | number;

/** What in the text reads the server's clock; it stands there once. */
const SERVER_TIME = /\b([\w.]+)\('TIME'\)/;

/** Reads the moment from a hash beside the clock's instead, so that a test can set it. */
const MANUAL_TIME = "$1('HMGET', KEYS[1] .. '-by-hand', 'manual_s', 'manual_us')";

/** A text with the SHA-1 by which Redis knows it. */
export function defineScript(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** A text that reads the clock that a test sets. */
export function withManualTime(text: string): string {
  return text.replace(SERVER_TIME, MANUAL_TIME);
}
