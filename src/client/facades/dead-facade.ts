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

/** Filter of dead letters. */
export interface DeadFilter {
  /** Queue; absent: any. */
  readonly queue?: string | undefined;
  /** User; absent: any. */
  readonly user?: string | undefined;
  /** Name; absent: any. */
  readonly name?: string | undefined;
  /** Error group, see `loom.dead.groups`; absent: any. */
  readonly error?: string | undefined;
}

const FILTER_KEYS: OptionKeys<DeadFilter> = keysOf<DeadFilter>()({
  queue: true,
  user: true,
  name: true,
  error: true,
});

/** Dead letters to list. */
export interface DeadListOptions extends DeadFilter, TaskPageOptions {
  /** Include tasks that failed because another did not finish. Default false. */
  readonly followers?: boolean | undefined;
}

const LIST_KEYS: OptionKeys<DeadListOptions> = keysOf<DeadListOptions>()({
  ...FILTER_KEYS,
  ...TASK_PAGE_KEYS,
  followers: true,
});

/** Dead letters to change, and their maximum: a filter, or `all`. */
export interface DeadBulkOptions extends DeadFilter {
  /** Every dead letter, of all queues, users and names. Not with a filter. */
  readonly all?: true | undefined;
  /** Most tasks to change, oldest first, up to 10,000. Default 100. */
  readonly limit?: number | undefined;
}

const BULK_KEYS: OptionKeys<DeadBulkOptions> = keysOf<DeadBulkOptions>()({
  ...FILTER_KEYS,
  all: true,
  limit: true,
});

/** Dead letters to put back, their maximum, and the rate. */
export interface DeadRedriveOptions extends DeadBulkOptions {
  /**
   * Most redrives per time, so that tasks which failed together do not return together. Default:
   * unlimited.
   */
  readonly rate?: RateOptions | undefined;
  /** Stops the redrive; the report counts those before. */
  readonly signal?: AbortSignal | undefined;
}

const REDRIVE_KEYS: OptionKeys<DeadRedriveOptions> = keysOf<DeadRedriveOptions>()({
  ...BULK_KEYS,
  rate: true,
  signal: true,
});

/** Result of a bulk change. */
export interface BulkReport {
  /** Number of changed tasks. */
  readonly changed: number;
  /** Number of tasks that were gone, or in use, at their turn. */
  readonly skipped: number;
  /** More tasks may match. */
  readonly more: boolean;
}

/** Default maximum of a bulk change. */
const DEFAULT_BULK = 100;

/** Rows per read. */
const READ_ROWS = 200;

/** Most changes in parallel. */
const AT_ONCE = 16;

interface DeadParts {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  /** Creates the redrive of one bulk change. */
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
   * One page, oldest failure first. Tasks that failed because another did not finish are left out,
   * so a page may have fewer rows than requested.
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
   * One page of error groups: errors of tasks of one name that differ only in ids, numbers and
   * quoted text. Groups with failed tasks come first, then those whose tasks are retried, for a
   * day; in both the latest first. Tasks that failed because another did belong to none.
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
   * Puts dead letters back, with new attempts; for parts of runs their runs, as `loom.runs.resume` does. It
   * needs no worker, but with a rate the process has to live until the end; after a crash a second call
   * continues with the rest. Use `loom.bulk.start` for a change that survives this process.
   *
   * @throws {@link InvalidOptionError} when neither a filter nor `all` is given.
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
   * Removes dead letters.
   *
   * @throws {@link InvalidOptionError} when neither a filter nor `all` is given.
   */
  async remove(options: DeadBulkOptions): Promise<BulkReport> {
    const bulk = bulkOf('dead.remove', options);
    const { tasks } = await this.#parts.connection.open();
    return this.#each(bulk, (id) => tasks.remove(id));
  }

  /** `change` answers `undefined` for a task that it has not tried. */
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

  /** Reads all ids first: a change would move the pages under the cursor. */
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

/** The checked options of a bulk change. */
interface Bulk {
  readonly filter: TaskFilter;
  readonly most: number;
}

/** Requires a filter or `all`: a field omitted by mistake would select all tasks. */
function bulkOf(where: string, options: DeadBulkOptions): Bulk {
  checkOptions(where, options, BULK_KEYS);
  const { all, limit = DEFAULT_BULK } = options;
  if (all !== undefined && all !== true) throw new InvalidOptionError('all', 'true', all);
  const isFiltered = keysIn(FILTER_KEYS).some((key) => options[key] !== undefined);
  if (isFiltered === (all === true)) {
    const got = isFiltered ? 'both' : 'neither';
    const expected = 'a queue, user, name or error, or all: true';
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
