/** How much of a long recipe a run of the suite does. */

/**
 * Rounds of a test whose recipe asks for many: a share, so that every run of the suite has them,
 * or all of them with `FAIRLOOM_ALL_ROUNDS=1`.
 */
export function rounds(all: number, share: number): number {
  return process.env['FAIRLOOM_ALL_ROUNDS'] === '1' ? all : share;
}
