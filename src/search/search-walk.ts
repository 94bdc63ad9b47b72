/** Reads stored tasks that may meet the conditions, page by page from the indexes. */
import { compareUtf8 } from '../base/utf8-order.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend, Page, TaskFilter, UserInfo } from '../domain/port/backend.ts';
import { isErrorGroup } from '../domain/task/cause.ts';
import { TASK_STATES, type TaskRow, type TaskState } from '../domain/task/task.ts';
import { valuesOf, type Where } from './where.ts';

/**
 * Position of a walk: a state, and a cursor in it. Queued tasks are walked by user, and users by
 * queue unless the conditions name them: `users` is the page of users that contains the user.
 */
export interface WalkPlace {
  readonly state: TaskState;
  readonly queue?: string;
  readonly users?: string;
  readonly user?: string;
  readonly cursor?: string;
}

/** Result of one step of a walk. */
export interface WalkStep {
  readonly rows: readonly TaskRow[];
  /** Number of tasks that were read, or of users without tasks. */
  readonly looked: number;
  /** Absent at the end. */
  readonly next?: WalkPlace;
}

/** Size of one step. */
export interface StepRequest {
  /** Most rows, up to `LIMITS.pageMax`. */
  readonly limit: number;
  /** With payloads and results. */
  readonly values?: boolean;
}

/** Users per read. */
const USERS = 100;

/** Short lines of users that are read at once. */
const LINES_AT_ONCE = 16;

/** A user's line in a queue. */
interface Line {
  readonly user: string;
  readonly queued: number;
  /** Cursor of the page of users that contains the user. */
  readonly users?: string;
}

/** Walks the tasks of some states, one state after the other. */
export class SearchWalk {
  readonly #backend: Pick<Backend, 'inspect' | 'users' | 'queues'>;
  readonly #where: Where;
  readonly #states: readonly TaskState[];
  /** Filter for the index of a state. */
  readonly #filter: Omit<TaskFilter, 'state'>;
  #queues: readonly string[] | undefined;
  /** The last page of users. */
  #page: { readonly key: string; readonly page: Page<UserInfo> } | undefined;

  /**
   * Walks the given states that the conditions allow, in this order. Runs match by the names of
   * their pipelines, which have no index: with `runs` all names are walked.
   */
  constructor(
    backend: Pick<Backend, 'inspect' | 'users' | 'queues'>,
    where: Where,
    { states, runs = false }: { readonly states: readonly TaskState[]; readonly runs?: boolean },
  ) {
    const said = valuesOf(where, 'state');
    this.#backend = backend;
    this.#where = where;
    this.#states = states.filter((state) => said?.includes(state) ?? true);
    const [queue, user] = [this.#only('queue'), this.#only('user')];
    const name = runs ? undefined : this.#only('name');
    this.#filter = {
      ...(queue === undefined ? {} : { queue }),
      ...(user === undefined ? {} : { user }),
      ...(name === undefined ? {} : { name }),
    };
  }

  /** The first position; `undefined` if no task can match. */
  get start(): WalkPlace | undefined {
    const [state] = this.#states;
    return state === undefined ? undefined : { state };
  }

  /** Reads on from a position. */
  async step(place: WalkPlace, request: StepRequest): Promise<WalkStep> {
    const ids = valuesOf(this.#where, 'id');
    if (ids !== undefined) return this.#byId(ids, place, request);
    const { state, cursor } = place;
    if (state === 'queued') return this.#inLine(place, request);
    const error = state === 'failed' ? this.#group() : undefined;
    const { items, cursor: behind } = await this.#backend.inspect.list(
      { ...this.#filter, state, ...(error === undefined ? {} : { error }) },
      { ...request, ...(cursor === undefined ? {} : { cursor }) },
    );
    const looked = lookedAt(items.length, request, behind);
    if (behind === undefined) return { rows: items, looked, ...this.#after(state) };
    return { rows: items, looked, next: { state, cursor: behind } };
  }

  /** The position after the first `count` rows of a step. */
  async behind(from: WalkPlace, step: WalkStep, count: number): Promise<WalkPlace | undefined> {
    const [last, following] = [step.rows[count - 1], step.rows[count]];
    if (last === undefined || following === undefined) return step.next;
    if (valuesOf(this.#where, 'id') !== undefined) return { ...from, cursor: last.id };
    if (from.state !== 'queued' || valuesOf(this.#where, 'user') !== undefined) {
      const again = await this.step(from, { limit: count });
      return again.next;
    }
    if (following.user !== last.user) return lineOf(from, following);
    const ofLine = step.rows.slice(0, count).filter(({ user }) => user === last.user).length;
    const cursor = last.user === from.user ? from.cursor : undefined;
    const line = { user: last.user, queue: last.queue };
    const page = await this.#line(line, { limit: ofLine }, cursor);
    const next = step.rows.slice(count).find(({ user }) => user !== last.user);
    if (page.cursor !== undefined) return { ...lineOf(from, last), cursor: page.cursor };
    return next === undefined ? step.next : lineOf(from, next);
  }

  /** Error groups have an index; names of errors have none. */
  #group(): string | undefined {
    const error = this.#only('error');
    return error !== undefined && isErrorGroup(error) ? error : undefined;
  }

  /** A filter of the index takes one value. */
  #only(word: 'queue' | 'user' | 'name' | 'error'): string | undefined {
    const [only, ...others] = valuesOf(this.#where, word) ?? [];
    return others.length > 0 ? undefined : only;
  }

  #after(state: TaskState): Pick<WalkStep, 'next'> {
    const next = this.#states[this.#states.indexOf(state) + 1];
    return next === undefined ? {} : { next: { state: next } };
  }

  /** Reads as many ids at once as a text can hold; the cursor is the last id read. */
  async #byId(
    ids: readonly string[],
    { cursor }: WalkPlace,
    { limit, values = false }: StepRequest,
  ): Promise<WalkStep> {
    const some = cursor === undefined ? ids : ids.slice(ids.indexOf(cursor) + 1);
    const [now, last] = [some.slice(0, limit), some[limit - 1]];
    const records = await this.#backend.inspect.get(now);
    const rows = records.flatMap((record) => {
      if (record === undefined || !this.#states.includes(record.state)) return [];
      const { payload: _payload, result: _result, ...row } = record;
      return [values ? record : row];
    });
    const [state = 'queued'] = this.#states;
    const isAll = last === undefined || some.length <= limit;
    return { rows, looked: now.length, ...(isAll ? {} : { next: { state, cursor: last } }) };
  }

  async #inLine(place: WalkPlace, request: StepRequest): Promise<WalkStep> {
    const named = valuesOf(this.#where, 'user');
    if (named !== undefined) return this.#ofNamed(named, place, request);
    const queues = valuesOf(this.#where, 'queue') ?? (await this.#queueNames());
    const queue = place.queue ?? queues[0];
    if (queue === undefined) return { rows: [], looked: 0, ...this.#after('queued') };
    const lines = await this.#linesFrom(queue, place);
    const chosen = shortest(lines.here, request.limit, place.cursor !== undefined);
    const pages = await Promise.all(
      chosen.map(({ user }, at) =>
        this.#line(
          { queue, user },
          request,
          at === 0 && user === place.user ? place.cursor : undefined,
        ),
      ),
    );
    const rows: TaskRow[] = [];
    for (const [at, { items, cursor }] of pages.entries()) {
      rows.push(...items);
      const line = chosen[at];
      if (cursor === undefined || line === undefined) continue;
      return { rows, looked: rows.length + at, next: placeOf(queue, line, cursor) };
    }
    const looked = Math.max(rows.length, chosen.length === 0 ? lines.seen : chosen.length);
    const following = lines.here[chosen.length];
    if (following !== undefined) return { rows, looked, next: placeOf(queue, following) };
    if (lines.more !== undefined) {
      return { rows, looked, next: { state: 'queued', queue, users: lines.more } };
    }
    const next = queues[queues.indexOf(queue) + 1];
    if (next === undefined) return { rows, looked, ...this.#after('queued') };
    return { rows, looked, next: { state: 'queued', queue: next } };
  }

  /** Lines of the users that the conditions name, in all their queues. */
  async #ofNamed(
    named: readonly string[],
    { user: at, cursor }: WalkPlace,
    request: StepRequest,
  ): Promise<WalkStep> {
    const user = at ?? named[0] ?? '';
    const { queue } = this.#filter;
    const page = await this.#line(
      queue === undefined ? { user } : { user, queue },
      request,
      cursor,
    );
    const { items: rows, cursor: behind } = page;
    const looked = lookedAt(rows.length, request, behind);
    if (behind !== undefined) {
      return { rows, looked, next: { state: 'queued', user, cursor: behind } };
    }
    const next = named[named.indexOf(user) + 1];
    if (next === undefined) return { rows, looked, ...this.#after('queued') };
    return { rows, looked, next: { state: 'queued', user: next } };
  }

  #line(
    line: { readonly user: string; readonly queue?: string },
    request: StepRequest,
    cursor: string | undefined,
  ): Promise<Page<TaskRow>> {
    const filter = { ...this.#filter, ...line, state: 'queued' } as const;
    return this.#backend.inspect.list(
      filter,
      cursor === undefined ? request : { ...request, cursor },
    );
  }

  /** Users in line from a position on: those of its page, and the start of the next. */
  async #linesFrom(
    queue: string,
    { queue: at, users, user }: WalkPlace,
  ): Promise<{ readonly here: readonly Line[]; readonly seen: number; readonly more?: string }> {
    const from = at === queue ? users : undefined;
    const { items, cursor } = await this.#usersOf(queue, from);
    const here = items.filter(({ user: one, queued }) => {
      return queued > 0 && (user === undefined || compareUtf8(one, user) >= 0);
    });
    const lines = here.map(({ user: one, queued }) => ({
      user: one,
      queued,
      ...(from === undefined ? {} : { users: from }),
    }));
    return { here: lines, seen: items.length, ...(cursor === undefined ? {} : { more: cursor }) };
  }

  async #usersOf(queue: string, cursor: string | undefined): Promise<Page<UserInfo>> {
    const key = `${queue}\n${cursor ?? ''}`;
    if (this.#page?.key === key) return this.#page.page;
    const request = cursor === undefined ? { limit: USERS } : { limit: USERS, cursor };
    const page = await this.#backend.users.list(queue, request, { configured: false });
    this.#page = { key, page };
    return page;
  }

  async #queueNames(): Promise<readonly string[]> {
    this.#queues ??= (await this.#backend.queues.list())
      .map(({ queue }) => queue)
      .sort(compareUtf8);
    return this.#queues;
  }
}

/** Text of a position. */
export function placeText(place: WalkPlace): string {
  return JSON.stringify(place);
}

/** @throws {@link InvalidOptionError} for a text that is not from {@link placeText}. */
export function placeIn(cursor: string): WalkPlace {
  try {
    const place: unknown = JSON.parse(cursor);
    if (isPlace(place)) return place;
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}

const FIELDS = ['state', 'queue', 'users', 'user', 'cursor'];

function isPlace(value: unknown): value is WalkPlace {
  if (typeof value !== 'object' || value === null) return false;
  const isText = ([key, one]: readonly [string, unknown]): boolean =>
    FIELDS.includes(key) && typeof one === 'string';
  const state: unknown = Reflect.get(value, 'state');
  return Object.entries(value).every(isText) && TASK_STATES.some((one) => one === state);
}

/** The line of a row, on the same page of users. */
function lineOf({ users }: WalkPlace, { queue, user }: TaskRow): WalkPlace {
  return { state: 'queued', queue, user, ...(users === undefined ? {} : { users }) };
}

function placeOf(queue: string, { user, users }: Line, cursor?: string): WalkPlace {
  return {
    ...{ state: 'queued', queue, user },
    ...(users === undefined ? {} : { users }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** Lines to read together: at least one; more while they fit in one page. */
function shortest(lines: readonly Line[], limit: number, isWithin: boolean): readonly Line[] {
  let rows = 0;
  const most = isWithin ? 1 : LINES_AT_ONCE;
  const end = lines.findIndex(({ queued }, at) => {
    rows += queued;
    return at >= most || (at > 0 && rows > limit);
  });
  return lines.slice(0, end < 0 ? lines.length : end);
}

/** A page that is not full has read as much as one page may. */
function lookedAt(rows: number, { limit }: StepRequest, cursor: string | undefined): number {
  return cursor === undefined || rows >= limit ? rows : Math.max(rows, LIMITS.pageScan);
}
