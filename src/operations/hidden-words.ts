/**
 * What an API that hides payloads, or redacts them, does not look into: the words of errors, in which what is hidden
 * may stand. A search that finds by them tells them letter by letter, and a group of failures is made of them.
 */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { whereOf } from '../search/where.ts';
import type { Around } from './operation.ts';

type Facts = Around['api'];

/** Which error group of the store is made of the words of an error; others are made of names alone. */
const MADE_OF_WORDS = /^[0-9a-f]{16}$/;

const NOT_SHOWN = 'the words of errors are not shown here';

/** @throws {@link InvalidOptionError} for a filter that looks into what is not shown. */
export function demandShownWhere({ hidesWords }: Facts, where: string): void {
  if (!hidesWords) return;
  for (const one of whereOf(where)) {
    if (one.word === 'text') {
      const expected = 'id, name, user, queue, run or error before a text';
      const message = `where: ${NOT_SHOWN}, so no text is looked for in them: expected ${expected}`;
      throw new InvalidOptionError('where', expected, one.text, message);
    }
    if (one.word === 'error') for (const value of one.values) demandShownName(value);
  }
}

/** @throws {@link InvalidOptionError} for the group of an error by its words, wherever one is named. */
export function demandShownError({ hidesWords }: Facts, error: string | undefined): void {
  if (!hidesWords || error === undefined || !MADE_OF_WORDS.test(error)) return;
  const expected = 'a group without words, as "lost:resize"';
  const instead = 'GET /tasks?where=state:failed+error:TypeError finds the name of an error';
  const message = `error: ${NOT_SHOWN}, so no group of them is looked for: expected ${expected}; ${instead}`;
  throw new InvalidOptionError('error', expected, error, message);
}

/** @throws {@link InvalidOptionError} where failures are to be grouped by what is not shown. */
export function demandGroups({ hidesWords }: Facts): void {
  if (!hidesWords) return;
  const message = `groups: ${NOT_SHOWN}, so failures are not grouped by them: list GET /dead instead`;
  throw new InvalidOptionError('groups', 'GET /dead', 'error groups', message);
}

function demandShownName(value: string): void {
  if (!MADE_OF_WORDS.test(value)) return;
  const message = `where: ${NOT_SHOWN}, so no group of them is looked for: expected the name of an error`;
  throw new InvalidOptionError('where', 'the name of an error', value, message);
}
