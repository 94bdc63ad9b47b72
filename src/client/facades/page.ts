import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { PageRequest, TaskPageRequest } from '../../domain/port/backend.ts';
import { integerOption } from '../../workflow/task-options.ts';

/** Page of a listing. */
export interface PageOptions {
  /** Most rows of the page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  /** Cursor of the previous page. */
  readonly cursor?: string | undefined;
}

/** Keys of {@link PageOptions}. */
export const PAGE_KEYS: OptionKeys<PageOptions> = keysOf<PageOptions>()({
  limit: true,
  cursor: true,
});

/** Page of a listing of tasks. */
export interface TaskPageOptions extends PageOptions {
  /**
   * Include input and result, up to 1 MiB each: the page ends behind the row with which they reach
   * 4 MiB. Default false.
   */
  readonly values?: boolean | undefined;
}

/** Keys of {@link TaskPageOptions}. */
export const TASK_PAGE_KEYS: OptionKeys<TaskPageOptions> = keysOf<TaskPageOptions>()({
  ...PAGE_KEYS,
  values: true,
});

/** Default number of rows: a screenful. */
const DEFAULT_ROWS = 50;

/** Checks the page of a listing; by default the first 50 rows. */
export function pageRequest({ limit, cursor }: PageOptions): PageRequest {
  const rows =
    limit === undefined
      ? DEFAULT_ROWS
      : integerOption('limit', limit, { least: 1, most: LIMITS.pageMax });
  if (cursor === undefined) return { limit: rows };
  if (typeof cursor !== 'string') throw new InvalidOptionError('cursor', 'a text', cursor);
  return { limit: rows, cursor };
}

/** The same for tasks, which may be listed with payloads and results. */
export function taskPageRequest({ values, ...page }: TaskPageOptions): TaskPageRequest {
  if (values === undefined) return pageRequest(page);
  if (typeof values === 'boolean') return { ...pageRequest(page), values };
  throw new InvalidOptionError('values', 'true or false', values);
}
