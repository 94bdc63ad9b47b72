/**
 * Marks Fairloom's own errors: their `code` is a row of `docs/errors.md`. A registered symbol, so
 * that all copies of this package in one process share it, and no other error has it.
 */
export const OWN_ERROR: symbol = Symbol.for('fairloom.error');

/** Whether any copy of this package created it. Never throws. */
export function isOwnError(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, OWN_ERROR) === true;
  } catch {
    return false;
  }
}
