import type { ChangeReply, Page, TaskFilter } from '../domain/backend.ts';
import { checkId, checkName } from '../domain/names.ts';
import { integerOption } from '../workflow/task-options.ts';
import type { ValueCodec } from './codec.ts';
import type { Connection } from './connection.ts';
import { type PageOptions, pageRequest } from './page.ts';
import { type TaskInfo, taskInfo } from './task-info.ts';

/** Which dead letters. */
export interface DeadFilter {
  /** Of this queue; absent: of any. */
  readonly queue?: string | undefined;
  /** Of this user; absent: of any. */
  readonly user?: string | undefined;
  /** With this name; absent: with any. */
  readonly name?: string | undefined;
}

/** Which dead letters to change, and how many at most. */
export interface DeadBulkOptions extends DeadFilter {
  /** At most so many, oldest first, up to 10,000. Default 100. */
  readonly limit?: number | undefined;
}

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

/** Most tasks of one bulk change; their ids are held in memory. */
const LARGEST_BULK = 10_000;

/** Rows that are read at a time. */
const READ_ROWS = 200;

/** Changes that are under way at once. */
const AT_ONCE = 16;

/** `loom.dead`: the failed tasks. */
export class Dead {
  readonly #connection: Connection;
  readonly #codec: ValueCodec;

  /** @internal */
  constructor(connection: Connection, codec: ValueCodec) {
    this.#connection = connection;
    this.#codec = codec;
  }

  /** One page, oldest failure first. */
  async list(options: DeadFilter & PageOptions = {}): Promise<Page<TaskInfo>> {
    const { inspect } = await this.#connection.open();
    const { items, cursor } = await inspect.list(filterOf(options), pageRequest(options));
    const infos = items.map((record) => taskInfo(record, this.#codec));
    return cursor === undefined ? { items: infos } : { items: infos, cursor };
  }

  /** Puts them back, with fresh attempts. */
  async redrive(options: DeadBulkOptions = {}): Promise<BulkReport> {
    const { tasks } = await this.#connection.open();
    return this.#each(options, (id) => tasks.redrive(id));
  }

  /** Takes them away for good. */
  async remove(options: DeadBulkOptions = {}): Promise<BulkReport> {
    const { tasks } = await this.#connection.open();
    return this.#each(options, (id) => tasks.remove(id));
  }

  async #each(
    options: DeadBulkOptions,
    change: (id: string) => Promise<ChangeReply>,
  ): Promise<BulkReport> {
    const { limit = DEFAULT_BULK } = options;
    const most = integerOption('limit', limit, { least: 1, most: LARGEST_BULK });
    const { ids, more } = await this.#ids(filterOf(options), most);
    let changed = 0;
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const replies = await Promise.all(ids.slice(at, at + AT_ONCE).map(change));
      changed += replies.filter(({ kind }) => kind === 'ok').length;
    }
    return { changed, skipped: ids.length - changed, more };
  }

  /** All ids first: a change would move the pages under the cursor. */
  async #ids(
    filter: TaskFilter,
    most: number,
  ): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
    const { inspect } = await this.#connection.open();
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const limit = Math.min(READ_ROWS, most - ids.length);
      const page = await inspect.list(filter, cursor === undefined ? { limit } : { limit, cursor });
      for (const { id } of page.items) ids.push(id);
      cursor = page.cursor;
    } while (cursor !== undefined && ids.length < most);
    return { ids, more: cursor !== undefined };
  }
}

function filterOf({ queue, user, name }: DeadFilter): TaskFilter {
  return {
    state: 'failed',
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(user === undefined ? {} : { user: checkId('user', user) }),
    ...(name === undefined ? {} : { name: checkName('name', name) }),
  };
}
