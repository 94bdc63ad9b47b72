/**
 * Says that an error is one of our own: its `code` means what `docs/errors.md` says. Registered, so
 * that all copies of this package in one process agree, and no other error is taken for ours.
 */
export const OWN_ERROR: symbol = Symbol.for('fairloom.error');

/** Whether any copy of this package made it. Never throws. */
export function isOwnError(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, OWN_ERROR) === true;
  } catch {
    return false;
  }
}
