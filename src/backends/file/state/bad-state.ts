/** Lines are none of a state, or not all of it; or a store has something that nobody can write. */
export class BadStateError extends Error {
  /** The name of the class. */
  override readonly name = 'BadStateError';
}
