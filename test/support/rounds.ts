/** How much of a long recipe a run of the suite does. */

/**
 * Rounds of a test whose recipe asks for many: a share, so that every run of the suite has them,
 * or all of them with `FAIRLOOM_ALL_ROUNDS=1`.
 */
export function rounds(all: number, share: number): number {
  return process.env['FAIRLOOM_ALL_ROUNDS'] === '1' ? all : share;
}

/**
 * How far it is from one call that goes wrong to the next: every call of the embedded backend, every seventh on Redis,
 * where the same code of workers makes the same calls. All of both with `FAIRLOOM_ALL_ROUNDS=1`.
 */
export function stride(backend: 'memory' | 'redis'): number {
  return backend === 'memory' ? 1 : rounds(1, 7);
}
