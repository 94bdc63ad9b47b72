/** The lines are none of a state, or not all of it. */
export class BadStateError extends Error {
  /** The name of the class. */
  override readonly name = 'BadStateError';
}
