import { textOfError, thrownOf } from './thrown.ts';

/** The message for people of any thrown value, its causes included. Never throws. */
export function messageOf(thrown: unknown): string {
  return textOfError(thrownOf(thrown));
}
