/** Lines are not those of a whole state, or a store holds something that cannot be written. */
export class BadStateError extends Error {
  /** The name of the class. */
  override readonly name = 'BadStateError';
}
