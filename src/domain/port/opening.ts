/** Opening and pinging a backend; part of the port in `backend.ts`. */
import type { Retention } from '../fairness/settings.ts';
import type { DeadLetters } from '../task/dead-letter.ts';

/** Settings with which a client opens a backend. */
export interface BackendSettings {
  /** How long ended tasks are kept. */
  readonly retention: Retention;
  /** Called once for each problem that fails no call. Absent: they are not reported. */
  readonly report?: (problem: BackendProblem) => void;
  /** Called with tasks that a step of this process has failed and that no call's answer names. Absent: not reported. */
  readonly deadLetters?: (letters: DeadLetters) => void;
}

/** A problem that makes no call fail: nothing is lost, and work continues. */
export interface BackendProblem {
  /** One line for the log. */
  readonly text: string;
  /** Its cause. */
  readonly error: unknown;
  /** Bytes of log that the next opening would replay. */
  readonly logBytes: number;
}

/** Facts about an opened backend. */
export interface BackendInfo {
  /** One line for the log: server, version, and the durability in force. */
  readonly description: string;
  /** Settings that make it less safe, a line each. */
  readonly warnings: readonly string[];
}

/** Answer to a ping. */
export interface Pong {
  /** Round trip to the store, in ms. */
  readonly ms: number;
  /** Present problems that make no call fail, a line each; absent: none. */
  readonly problems?: readonly string[];
}
