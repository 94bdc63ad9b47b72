import { InvalidOptionError } from '../../../domain/errors/errors.ts';

/** Parses a cursor of a listing of tasks: the index, and score and id of the last row that was read. */
export function placeIn(cursor: string): readonly [index: string, score: string, id: string] {
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place) && place.length === 3) {
      const [index, score, id]: readonly unknown[] = place;
      const isText =
        typeof index === 'string' && typeof score === 'string' && typeof id === 'string';
      if (isText && Number.isFinite(Number(score))) return [index, score, id];
    }
  } catch {
    // Falls through to the refusal.
  }
  throw foreignCursor(cursor);
}

/** The refusal of another listing's cursor, or none. */
export function foreignCursor(cursor: string | undefined): InvalidOptionError {
  return new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}
