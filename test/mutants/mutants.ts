/** A change that must not pass: exact strings, so that one that no longer fits is noticed. */
export interface Mutant {
  /** What it breaks, in a few words; unique. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The file of tests that is tried first: of the engine in test/engine/, of Lua in test/redis/; of a data folder in test/file/, also some. */
  readonly first?: string;
}
