/** What both kinds of places are asked before they are copied or overwritten. */
import { CopyRefusedError } from '../../domain/errors/errors.ts';

/** @throws `CopyRefusedError` when some of these workers live in one of the places. */
export function mustHaveNone(live: readonly string[], where: 'source' | 'target'): void {
  const [first] = live;
  if (first === undefined) return;
  const others = live.length > 1 ? ` and ${live.length - 1} more` : '';
  throw new CopyRefusedError(
    `workers live in the ${where} (${first}${others}): stop them, and copy again`,
  );
}
