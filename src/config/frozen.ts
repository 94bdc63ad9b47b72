import { isPlainObject } from '../base/records.ts';

/** Freezes a value deeply. */
export function frozen<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) frozen(item);
  else if (isPlainObject(value)) for (const item of Object.values(value)) frozen(item);
  return Object.freeze(value);
}
