/** Whether a value is an object of fields: no array, no instance of a class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Freezes a value and all that is in it. */
export function frozen<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) frozen(item);
  else if (isPlain(value)) for (const item of Object.values(value)) frozen(item);
  return Object.freeze(value);
}
