import { isSignal } from '../base/abort-watch.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';

/** @throws {@link InvalidOptionError} when the value is not an abort signal. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || isSignal(signal)) return;
  throw new InvalidOptionError('signal', 'an AbortSignal', signal);
}
