/** Who takes part in the demo. */
export interface Actor {
  readonly user: string;
  readonly weight: number;
  /** Tasks that wait for its turns: all at once for the noisy one, topped up for the others. */
  readonly backlog: number;
}

/** The one that would starve everybody else in a plain queue. */
export const NOISY: Actor = { user: 'noisy', weight: 1, backlog: 100_000 };

/**
 * Waiting tasks of a quiet user per unit of weight. While it is topped up a few leases may pass,
 * of at most 62 turns each and W = 34: 20 tasks per unit of weight outlast ten of them.
 */
const BACKLOG_PER_WEIGHT = 20;

/** Nine users of three sizes, each with a short backlog of its own. */
export const QUIET: readonly Actor[] = [
  ...['ada', 'ben', 'cleo'].map((user) => quiet(user, 7)),
  ...['dan', 'eva', 'finn'].map((user) => quiet(user, 3)),
  ...['gus', 'hana', 'ivo'].map((user) => quiet(user, 1)),
];

/** Everybody's weight. */
export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  [NOISY, ...QUIET].map(({ user, weight }) => [user, weight]),
);

function quiet(user: string, weight: number): Actor {
  return { user, weight, backlog: weight * BACKLOG_PER_WEIGHT };
}
