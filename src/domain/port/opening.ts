/** What is said when a backend is opened, and asked of it when it is open. */
import type { Retention } from '../fairness/settings.ts';
import type { DeadLetters } from '../task/dead-letter.ts';

/** What a client says about the place when it opens it. */
export interface BackendSettings {
  /** How long ended tasks are kept here. */
  readonly retention: Retention;
  /** Called once for each problem that fails no call. Absent: they are not reported. */
  readonly report?: (problem: BackendProblem) => void;
  /** Called with the dead letters of each step that is taken here and that no call answers with. Absent: they have no line. */
  readonly deadLetters?: (letters: DeadLetters) => void;
}

/** What goes wrong beside all calls: nothing is lost, and work goes on. */
export interface BackendProblem {
  /** One line for the log. */
  readonly text: string;
  /** Why. */
  readonly error: unknown;
  /** How long the log is that the next opening would replay. */
  readonly logBytes: number;
}

/** What a place says about itself when it is opened. */
export interface BackendInfo {
  /** One line for the log: server, version, and the durability in force. */
  readonly description: string;
  /** What makes it less safe than it could be, a line each. */
  readonly warnings: readonly string[];
}

/** What a backend answers to a ping. */
export interface Pong {
  /** Round trip to the store, in ms. */
  readonly ms: number;
  /** What goes wrong there that no call fails of, a line each, as long as it does; absent: nothing. */
  readonly problems?: readonly string[];
}
