/** Fairness of the turns of this process's workers between two reads. */
import type { UserStatus } from '../client/facades/user-facade.ts';

/** A user in line that nothing of its own holds back. */
export interface InLine {
  /** Id of the user. */
  readonly user: string;
  /** Weight of the user. */
  readonly weight: number;
}

/** Fairness figures; both are 1 when every turn was fair. */
export interface FairnessFigures {
  /** Jain's index of turns by weight: (Σx)² / (n·Σx²). */
  readonly jain: number;
  /** The least share of a user: its turns divided by the turns that its weight entitles it to. */
  readonly minShare: number;
}

/** Most users of a queue whose turns are counted separately. */
const COUNTED_USERS = 10_000;

/**
 * Whether a user's turns can be compared with its weight: it has tasks in line, and nothing of its
 * own holds them back. One that is a task below its `maxRunning` was at it a moment ago.
 */
export function couldBeServed({ queued, ready, running, settings }: Reckoned): boolean {
  const { maxRunning = Number.POSITIVE_INFINITY } = settings;
  return queued > 0 && ready && running + 1 < maxRunning;
}

/** Facts that decide this. */
type Reckoned = Pick<UserStatus, 'queued' | 'ready' | 'running'> & {
  readonly settings: Pick<UserStatus['settings'], 'maxRunning'>;
};

/** Counts turns of one queue between reads. */
export class FairnessWindow {
  #turns = new Map<string, number>();
  #before: ReadonlyMap<string, InLine> = new Map();

  turn(user: string): void {
    const turns = this.#turns.get(user);
    if (turns === undefined && this.#turns.size >= COUNTED_USERS) return;
    this.#turns.set(user, (turns ?? 0) + 1);
  }

  /**
   * Ends the window and starts the next. Compares only users that could have been served at both
   * its ends: others had no claim for some of the time. `undefined` with fewer than two of them, or
   * without a turn of theirs.
   */
  look(inLine: readonly InLine[]): FairnessFigures | undefined {
    const compared = inLine
      .filter(({ user }) => this.#before.has(user))
      .map(({ user, weight }) => ({ weight, turns: this.#turns.get(user) ?? 0 }));
    this.#before = new Map(inLine.map((one) => [one.user, one]));
    this.#turns = new Map();
    const turns = compared.reduce((sum, one) => sum + one.turns, 0);
    if (compared.length < 2 || turns === 0) return undefined;
    const weights = compared.reduce((sum, { weight }) => sum + weight, 0);
    const shares = compared.map((one) => (one.turns * weights) / (turns * one.weight));
    const sum = shares.reduce((all, share) => all + share, 0);
    const squares = shares.reduce((all, share) => all + share * share, 0);
    return { jain: (sum * sum) / (shares.length * squares), minShare: Math.min(...shares) };
  }
}
