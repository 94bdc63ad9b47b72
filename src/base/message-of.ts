import { textOfError, thrownOf } from './thrown.ts';

/** Message for people of any thrown value, with its causes. Never throws. */
export function messageOf(thrown: unknown): string {
  return textOfError(thrownOf(thrown));
}
