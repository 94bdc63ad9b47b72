import { InvalidOptionError } from '../../domain/errors/errors.ts';

/** Characters of a reason that are kept. */
const REASON_CHARS = 200;

/**
 * A caller's reason in stored form.
 *
 * @throws {@link InvalidOptionError} when they are no text.
 */
export function storedReason(reason: unknown, option = 'reason'): string {
  if (typeof reason !== 'string') throw new InvalidOptionError(option, 'a text', reason);
  return reason.slice(0, REASON_CHARS).replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
}
