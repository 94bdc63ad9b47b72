import type { SharedBackend } from '../../backends/shared-backend.ts';
import { mapInChunks } from '../../base/chunks.ts';
import type { KeepAlive } from '../../base/keep-alive.ts';
import { keysIn } from '../../base/records.ts';
import type { Clock } from '../../base/time.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName, checkTaskName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { ChangeReply, Page, TaskFilter } from '../../domain/port/backend.ts';
import { culpritOf } from '../../domain/task/cause.ts';
import { integerOption } from '../../workflow/task-options.ts';
import { type ErrorGroup, errorGroup, errorGroupOption } from './error-groups.ts';
import { listed } from './list-cursor.ts';
import { Pace } from './pace.ts';
import {
  PAGE_KEYS,
  type PageOptions,
  pageRequest,
  TASK_PAGE_KEYS,
  type TaskPageOptions,
  taskPageRequest,
} from './page.ts';
import type { Redrive } from './redrive.ts';
import { type RateOptions, rateOption } from './settings-options.ts';
import { type TaskInfo, taskInfo } from './task-info.ts';

/** Which dead letters. */
export interface DeadFilter {
  /** Of this queue; absent: of any. */
  readonly queue?: string | undefined;
  /** Of this user; absent: of any. */
  readonly user?: string | undefined;
  /** With this name; absent: with any. */
  readonly name?: string | undefined;
  /** Of this error group, see `loom.dead.groups`; absent: of any. */
  readonly error?: string | undefined;
}

const FILTER_KEYS: OptionKeys<DeadFilter> = keysOf<DeadFilter>()({
  queue: true,
  user: true,
  name: true,
  error: true,
});

/** Which dead letters to list. */
export interface DeadListOptions extends DeadFilter, TaskPageOptions {
  /** Also tasks that failed since another did not finish. Default false. */
  readonly followers?: boolean | undefined;
}

const LIST_KEYS: OptionKeys<DeadListOptions> = keysOf<DeadListOptions>()({
  ...FILTER_KEYS,
  ...TASK_PAGE_KEYS,
  followers: true,
});

/** Which dead letters to change, and how many at most: some field of the filter, or `all`. */
export interface DeadBulkOptions extends DeadFilter {
  /** Every dead letter, of all queues, users and names. Not beside a filter. */
  readonly all?: true | undefined;
  /** At most so many, oldest first, up to 10,000. Default 100. */
  readonly limit?: number | undefined;
}

const BULK_KEYS: OptionKeys<DeadBulkOptions> = keysOf<DeadBulkOptions>()({
  ...FILTER_KEYS,
  all: true,
  limit: true,
});

/** Which dead letters to put back, how many at most, and how fast. */
export interface DeadRedriveOptions extends DeadBulkOptions {
  /**
   * So many are put back per time, so that what failed for all at once does not come back all at once.
   * Default: as fast as it goes.
   */
  readonly rate?: RateOptions | undefined;
  /** Once it aborts nothing more is put back; the report says what was. */
  readonly signal?: AbortSignal | undefined;
}

const REDRIVE_KEYS: OptionKeys<DeadRedriveOptions> = keysOf<DeadRedriveOptions>()({
  ...BULK_KEYS,
  rate: true,
  signal: true,
});

/** What a bulk change came to. */
export interface BulkReport {
  /** How many were changed. */
  readonly changed: number;
  /** Those that were gone, or in use, when their turn came. */
  readonly skipped: number;
  /** There may be more that match. */
  readonly more: boolean;
}

/** Tasks that one bulk change touches unless the caller says otherwise. */
const DEFAULT_BULK = 100;

/** Rows that are read at a time. */
const READ_ROWS = 200;

/** Changes that are under way at once. */
const AT_ONCE = 16;

interface DeadParts {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  /** Puts back what one bulk change has found. */
  readonly redrive: () => Redrive;
}

/** `loom.dead`: the failed tasks. */
export class Dead {
  readonly #parts: DeadParts;

  /** @internal */
  constructor(parts: DeadParts) {
    this.#parts = parts;
  }

  /**
   * One page, oldest failure first: the tasks at which something went wrong. Those that failed since
   * another did not finish are left out, so a page may have fewer rows than were asked for.
   */
  async list(options: DeadListOptions = {}): Promise<Page<TaskInfo>> {
    checkOptions('dead.list', options, LIST_KEYS);
    const { inspect } = await this.#parts.connection.open();
    const { followers = false } = options;
    const filter = filterOf(options);
    const listing = { list: 'dead.list', filter: { ...filter, followers } };
    return listed(listing, taskPageRequest(options), async (request) => {
      const { items, ...rest } = await inspect.list(filter, request);
      const shown = items.filter(({ cause }) => followers || culpritOf(cause) === undefined);
      return { ...rest, items: shown.map((record) => taskInfo(record, this.#parts.codec)) };
    });
  }

  /**
   * One page of what tasks failed with: errors of tasks of one name that differ in nothing but ids, numbers and what
   * is quoted are one group. First the groups of which failed tasks are kept, then those whose tasks are tried
   * again, for a day; of each the one seen last first. Tasks that only followed another belong to none.
   */
  async groups(options: PageOptions = {}): Promise<Page<ErrorGroup>> {
    checkOptions('dead.groups', options, PAGE_KEYS);
    const { inspect } = await this.#parts.connection.open();
    return listed({ list: 'dead.groups' }, pageRequest(options), async (request) => {
      const { items, ...rest } = await inspect.errorGroups(request);
      const samples = await inspect.get(items.map(({ sample }) => sample));
      return { ...rest, items: items.map((facts, at) => errorGroup(facts, samples[at])) };
    });
  }

  /**
   * Puts them back, with fresh attempts; of runs and their parts the runs, as `loom.runs.resume` does.
   * It needs no worker, but with a rate the process has to live for as long as it takes; what it came to stays
   * done, and another call goes on with the rest. What is to go on without it is a bulk action: `loom.bulk.start`.
   *
   * @throws {@link InvalidOptionError} when neither a filter nor `all` says which.
   */
  async redrive(options: DeadRedriveOptions): Promise<BulkReport> {
    checkOptions('dead.redrive', options, REDRIVE_KEYS);
    const { rate, signal = new AbortController().signal, ...which } = options;
    if (!(signal instanceof AbortSignal)) {
      throw new InvalidOptionError('signal', 'an AbortSignal', signal);
    }
    const bulk = bulkOf('dead.redrive', which);
    const redrive = this.#parts.redrive();
    const { clock, keepAlive } = this.#parts;
    const pace = rate === undefined ? undefined : new Pace(rateOption('rate', rate), clock);
    keepAlive.hold();
    try {
      return await this.#each(bulk, async (id) => {
        await pace?.turn(signal);
        return signal.aborted ? undefined : redrive(id);
      });
    } finally {
      keepAlive.letGo();
    }
  }

  /**
   * Takes them away for good.
   *
   * @throws {@link InvalidOptionError} when neither a filter nor `all` says which.
   */
  async remove(options: DeadBulkOptions): Promise<BulkReport> {
    const bulk = bulkOf('dead.remove', options);
    const { tasks } = await this.#parts.connection.open();
    return this.#each(bulk, (id) => tasks.remove(id));
  }

  /** `change` answers `undefined` for one that it has not tried. */
  async #each(
    { filter, most }: Bulk,
    change: (id: string) => Promise<ChangeReply | undefined>,
  ): Promise<BulkReport> {
    const { ids, more } = await this.#ids(filter, most);
    const replies = await mapInChunks(ids, AT_ONCE, change);
    const tried = replies.filter((reply) => reply !== undefined);
    const changed = tried.filter(({ kind }) => kind === 'ok').length;
    return { changed, skipped: tried.length - changed, more: more || tried.length < ids.length };
  }

  /** All ids first: a change would move the pages under the cursor. */
  async #ids(
    filter: TaskFilter,
    most: number,
  ): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
    const { inspect } = await this.#parts.connection.open();
    const ids: string[] = [];
    const pages = allPages(READ_ROWS, (page) =>
      inspect.list(filter, { ...page, limit: Math.min(page.limit, most - ids.length) }),
    );
    for await (const { items, cursor } of pages) {
      for (const { id } of items) ids.push(id);
      if (ids.length === most) return { ids, more: cursor !== undefined };
    }
    return { ids, more: false };
  }
}

/** Which tasks a bulk change means, checked. */
interface Bulk {
  readonly filter: TaskFilter;
  readonly most: number;
}

/** A change of many says whom it means: a field that was left out by mistake would mean everybody. */
function bulkOf(where: string, options: DeadBulkOptions): Bulk {
  checkOptions(where, options, BULK_KEYS);
  const { all, limit = DEFAULT_BULK } = options;
  if (all !== undefined && all !== true) throw new InvalidOptionError('all', 'true', all);
  const isFiltered = keysIn(FILTER_KEYS).some((key) => options[key] !== undefined);
  if (isFiltered === (all === true)) {
    const got = isFiltered ? 'both' : 'neither';
    const expected = 'a queue, user, name or error that is given, or all: true';
    throw new InvalidOptionError(`${where}: which`, expected, got);
  }
  const most = integerOption('limit', limit, { least: 1, most: LIMITS.bulkMax });
  return { filter: filterOf(options), most };
}

function filterOf({ queue, user, name, error }: DeadFilter): TaskFilter {
  return {
    state: 'failed',
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(user === undefined ? {} : { user: checkId('user', user) }),
    ...(name === undefined ? {} : { name: checkTaskName('name', name) }),
    ...(error === undefined ? {} : { error: errorGroupOption(error) }),
  };
}
