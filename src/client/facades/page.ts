import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { PageRequest, TaskPageRequest } from '../../domain/port/backend.ts';
import { integerOption } from '../../workflow/task-options.ts';

/** Which part of a listing to give. */
export interface PageOptions {
  /** Rows of one page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  /** What the page before gave as its cursor. */
  readonly cursor?: string | undefined;
}

/** What may stand in {@link PageOptions}. */
export const PAGE_KEYS: OptionKeys<PageOptions> = keysOf<PageOptions>()({
  limit: true,
  cursor: true,
});

/** Which part of a listing of tasks to give. */
export interface TaskPageOptions extends PageOptions {
  /**
   * With input and result, which may weigh a MiB each: a page has fewer rows then, and ends behind the one with
   * which they come to 4 MiB. Default false.
   */
  readonly values?: boolean | undefined;
}

/** What may stand in {@link TaskPageOptions}. */
export const TASK_PAGE_KEYS: OptionKeys<TaskPageOptions> = keysOf<TaskPageOptions>()({
  ...PAGE_KEYS,
  values: true,
});

/** Rows of a page unless the caller says otherwise: a screenful. */
const DEFAULT_ROWS = 50;

/** A checked page of a listing: 50 rows from the start unless the caller says otherwise. */
export function pageRequest({ limit, cursor }: PageOptions): PageRequest {
  const rows =
    limit === undefined
      ? DEFAULT_ROWS
      : integerOption('limit', limit, { least: 1, most: LIMITS.pageMax });
  if (cursor === undefined) return { limit: rows };
  if (typeof cursor !== 'string') throw new InvalidOptionError('cursor', 'a text', cursor);
  return { limit: rows, cursor };
}

/** The same of tasks, which may be listed with payloads and results. */
export function taskPageRequest({ values, ...page }: TaskPageOptions): TaskPageRequest {
  if (values === undefined) return pageRequest(page);
  if (typeof values === 'boolean') return { ...pageRequest(page), values };
  throw new InvalidOptionError('values', 'true or false', values);
}
