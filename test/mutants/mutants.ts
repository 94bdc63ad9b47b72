/** A change that the tests must notice. */
export interface Mutant {
  /** What tells it from all others in a list of results. */
  readonly name: string;
  readonly file: string;
  readonly topic?: Topic;
  /** The tests that are tried first: of the engine in test/engine/, of Lua in test/redis/; of a data folder in test/file/, also some. */
  readonly first?: string;
  /** The file with the change in it; throws when it does not fit. */
  changed(text: string): string;
}

/** A rule that users rely on, and a change that breaks it: exact strings, so that one that no longer fits is noticed. */
export interface Law {
  /** The rule, in a sentence. */
  readonly law: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly first?: string;
}

/** What laws are about; it decides which tests are tried. */
export type Topic =
  | 'turns'
  | 'attempts'
  | 'dependencies'
  | 'edges'
  | 'runs'
  | 'waits'
  | 'schedules'
  | 'channels'
  | 'xcom'
  | 'streams'
  | 'bulk'
  | 'handed'
  | 'damage'
  | 'at once'
  | 'file';
