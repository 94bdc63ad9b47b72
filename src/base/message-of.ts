import { textOfError, thrownOf } from './thrown.ts';

/** What people are told of whatever was thrown, its causes included. Never throws. */
export function messageOf(thrown: unknown): string {
  return textOfError(thrownOf(thrown));
}
