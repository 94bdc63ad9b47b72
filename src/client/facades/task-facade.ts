import type { PlanCache } from '../../attempt/attempt-plan.ts';
import { metadataIn } from '../../attempt/metadata.ts';
import type { TaskError } from '../../base/thrown.ts';
import type { Clock } from '../../base/time.ts';
import { errorOf } from '../../codec/task-error.ts';
import {
  InvalidOptionError,
  TaskBusyError,
  TaskNotFoundError,
  WrongStateError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { type Explanation, explain, type PutBack } from '../../domain/explain/explain.ts';
import { type Position, positionOf } from '../../domain/explain/position.ts';
import { checkId, checkName, checkTaskName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import type {
  CancelReply,
  ChangeReply,
  DependentPage,
  Page,
  TaskFacts,
  TaskFilter,
} from '../../domain/port/backend.ts';
import { cycleError } from '../../domain/port/refusal.ts';
import type { Cause } from '../../domain/task/cause.ts';
import { DEPENDENTS_NAMED, dependentsIn } from '../../domain/task/dependents.ts';
import { TASK_STATES, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import { PROGRESS_STREAM } from '../../domain/task/task-progress.ts';
import type { WaitFigure } from '../../domain/task/wait.ts';
import { storedTimeoutMs } from '../../enqueue/stored-options.ts';
import type { Registry } from '../../handlers/registry.ts';
import { type CancelParts, cancelOne, cancelWhole } from '../../runs/calls/task-cancel.ts';
import {
  CONSEQUENCE_KEYS,
  type ConsequenceOptions,
  type Consequences,
  ConsequenceWalk,
  consequenceLimit,
  endingOf,
} from '../../runs/consequences.ts';
import { type SearchPage, search } from '../../search/search.ts';
import { whereOf, whereText } from '../../search/where.ts';
import { caughtUp } from './catch-up.ts';
import { errorGroupOption } from './error-groups.ts';
import { listed } from './list-cursor.ts';
import {
  PAGE_KEYS,
  type PageOptions,
  pageRequest,
  TASK_PAGE_KEYS,
  type TaskPageOptions,
  taskPageRequest,
} from './page.ts';
import { storedReason } from './reason.ts';
import type { Redrive } from './redrive.ts';
import type { StreamReaders } from './stream-reading.ts';
import { type AttemptInfo, attemptInfo, type TaskInfo, taskInfo } from './task-info.ts';
import { type TaskLogLine, type TaskLogOptions, taskLog } from './task-logs.ts';
import { progressIn } from './task-progress.ts';

/** Filter of a listing of tasks. `queued` tasks are listed by user, in the order of their turns. */
export interface TaskListOptions extends TaskPageOptions {
  /** State of the tasks. */
  readonly state: TaskState;
  /** Queue; absent: any. */
  readonly queue?: string | undefined;
  /** User; required for `queued`. */
  readonly user?: string | undefined;
  /** Name, such as `resize`, or `resize@2` for one version; absent: any. */
  readonly name?: string | undefined;
  /** `failed` only: error group, see `loom.dead.groups`; absent: any. */
  readonly error?: string | undefined;
}

const LIST_KEYS: OptionKeys<TaskListOptions> = keysOf<TaskListOptions>()({
  ...TASK_PAGE_KEYS,
  state: true,
  queue: true,
  user: true,
  name: true,
  error: true,
});

/** A search of tasks. */
export interface TaskSearchOptions extends TaskPageOptions {
  /** Filter, such as `state:failed user:acme age:>1h`: see the filter language in the guide. */
  readonly where: string;
}

const SEARCH_KEYS: OptionKeys<TaskSearchOptions> = keysOf<TaskSearchOptions>()({
  ...TASK_PAGE_KEYS,
  where: true,
});

const CANCEL_KEYS: OptionKeys<{ reason: unknown }> = keysOf<{ reason: unknown }>()({
  reason: true,
});

interface FacadeParts extends StreamReaders, CancelParts {
  readonly clock: Clock;
  readonly redrive: Redrive;
  readonly registry: Registry;
  readonly plans: PlanCache;
  readonly putBackFor: (ids: readonly string[]) => Promise<ReadonlyMap<string, PutBack>>;
}

/** `loom.tasks`: reads tasks, and changes single ones. */
export class Tasks {
  readonly #parts: FacadeParts;

  /** @internal */
  constructor(parts: FacadeParts) {
    this.#parts = parts;
  }

  /** One task; `undefined` if it is not stored. */
  async get(id: string): Promise<TaskInfo | undefined> {
    const taskId = checkId('id', id);
    const { inspect, runs, streams } = await this.#parts.connection.open();
    const [[record], page, fields, reports] = await Promise.all([
      inspect.get([taskId]),
      inspect.dependents(taskId, { limit: DEPENDENTS_NAMED }),
      runs.readChannel(taskId),
      streams.read(taskId, PROGRESS_STREAM, 0, LIMITS.progressKept),
    ]);
    if (record === undefined) return undefined;
    const { codec } = this.#parts;
    const said = { ...metadataIn(fields), ...progressIn(reports, codec) };
    return { ...taskInfo(record, codec), ...said, dependents: dependentsIn(page) };
  }

  /**
   * One page of the dependents of a task, in the order in which its end reaches them; those that
   * wait for its redrive last. The id need not be stored, see `onMissing`.
   */
  async dependents(id: string, options: PageOptions = {}): Promise<DependentPage> {
    checkOptions('tasks.dependents', options, PAGE_KEYS);
    const taskId = checkId('id', id);
    const page = pageRequest(options);
    const { inspect } = await this.#parts.connection.open();
    return listed({ list: 'tasks.dependents', filter: { id: taskId } }, page, (request) =>
      inspect.dependents(taskId, request),
    );
  }

  /**
   * Tasks that would end with these tasks, by the policies of their edges and of those between.
   * Changes nothing; a later enqueue or end may change the answer.
   */
  async consequences(
    ids: string | readonly string[],
    options: ConsequenceOptions,
  ): Promise<Consequences> {
    checkOptions('tasks.consequences', options, CONSEQUENCE_KEYS);
    const taskIds = typeof ids === 'string' ? [checkId('id', ids)] : idsOf(ids);
    const ending = endingOf(options);
    const limit = consequenceLimit(options);
    const { inspect } = await this.#parts.connection.open();
    return new ConsequenceWalk(inspect, limit).from(taskIds, ending);
  }

  /** One page of the tasks in a state, in the order of that state's index; optionally with input and result. */
  async list(options: TaskListOptions): Promise<Page<TaskInfo>> {
    checkOptions('tasks.list', options, LIST_KEYS);
    const filter = filterOf(options);
    const { inspect } = await this.#parts.connection.open();
    const listing = { list: 'tasks.list', filter: { ...filter } };
    return listed(listing, taskPageRequest(options), async (request) => {
      const { items, ...rest } = await inspect.list(filter, request);
      return { ...rest, items: items.map((record) => taskInfo(record, this.#parts.codec)) };
    });
  }

  /**
   * One page of the tasks that match a filter, in all states: started ones first, ended ones last.
   * Conditions without an index are checked task by task, at most 10,000 per call: `bound` reports that,
   * and the cursor continues. Internal tasks match only if `name:` names them, as `name:~run`.
   *
   * @throws {@link InvalidOptionError} for a filter that cannot be parsed: its message names the position.
   */
  async search(options: TaskSearchOptions): Promise<SearchPage<TaskInfo>> {
    checkOptions('tasks.search', options, SEARCH_KEYS);
    const where = whereOf(options.where);
    const { connection, clock, codec } = this.#parts;
    const backend = await connection.open();
    const listing = { list: 'tasks.search', filter: { where: whereText(where) } };
    return listed(listing, taskPageRequest(options), async (request) => {
      const found = await search(backend, { where, now: clock.now() }, request);
      return { ...found, items: found.items.map((record) => taskInfo(record, codec)) };
    });
  }

  /**
   * The kept lines of `ctx.log` of a task, see `keepLogs`: the newest 200 of all its attempts, in order,
   * from any process. With `follow` also new lines, within a second, until the task has ended.
   *
   * @throws {@link InvalidOptionError}, also when `from` is beyond the end. During the reading:
   * {@link TaskNotFoundError} when the task is not stored; {@link DecryptionError}; the signal's reason.
   */
  logs(id: string, options: TaskLogOptions = {}): AsyncGenerator<TaskLogLine, void, undefined> {
    return taskLog(this.#parts, checkId('id', id), options);
  }

  /** Number of tasks in each state. */
  async counts(): Promise<Readonly<Record<TaskState, number>>> {
    const { inspect } = await caughtUp(this.#parts.connection);
    return (await inspect.stats()).counts;
  }

  /**
   * Number of missing ids that tasks wait for: see `onMissing`. An id that tasks of several users
   * wait for counts once for each user.
   */
  async missing(): Promise<number> {
    const { inspect } = await this.#parts.connection.open();
    return inspect.missing();
  }

  /** Number of suspended tasks by kind of their wait, and the start of the longest one. */
  async waiting(): Promise<readonly WaitFigure[]> {
    const { waits } = await this.#parts.connection.open();
    return waits.figures();
  }

  /** Its attempts that did not finish it, oldest first, and the last one if there are others. */
  async attempts(id: string): Promise<readonly AttemptInfo[]> {
    const taskId = checkId('id', id);
    const { inspect } = await this.#parts.connection.open();
    return (await inspect.attempts(taskId)).map(attemptInfo);
  }

  /**
   * Why it does not run, or its outcome, with a command that helps.
   *
   * @throws {@link TaskNotFoundError} when it is not stored.
   */
  async explain(id: string): Promise<Explanation> {
    const facts = await this.#facts(id);
    const failed = facts.blockedBy.filter(({ state }) => state === 'failed').map((one) => one.id);
    const ids = facts.record.state === 'failed' ? [facts.record.id] : failed;
    const puts = ids.length === 0 ? undefined : await this.#parts.putBackFor(ids);
    const timeoutMs = this.#timeoutMs(facts);
    const explanation = explain(facts, {
      ...(puts === undefined ? {} : { putBacks: puts }),
      timeoutMs,
    });
    const error = thrownBy(facts.record);
    return error === undefined ? explanation : { ...explanation, error };
  }

  /**
   * Its place in line; `undefined` unless it is queued.
   *
   * @throws {@link TaskNotFoundError} when it is not stored.
   */
  async position(id: string): Promise<Position | undefined> {
    return positionOf(await this.#facts(id));
  }

  /**
   * Cancels a task. The first of cancel and end takes effect, and the answer names it: `canceled`
   * (it had not started), `requested` (it runs: its signal aborts, and it ends as canceled),
   * `already-ended`, `not-found`. Its parts are canceled with it: of a run all that has not ended,
   * as by `loom.runs.cancel`; of a member its members; of a waiting handler the tasks of its
   * `ctx.run`. `reason` is a text for people, shown with its cause.
   */
  async cancel(
    id: string,
    options: { readonly reason?: string | undefined } = {},
  ): Promise<CancelReply> {
    const taskId = checkId('id', id);
    checkOptions('tasks.cancel', options, CANCEL_KEYS);
    return cancelWhole(this.#parts, taskId, requestCause(options.reason));
  }

  /**
   * Cancels this task only.
   *
   * @internal
   */
  cancelOne(id: string, reason: string | undefined): Promise<CancelReply> {
    return cancelOne(this.#parts, checkId('id', id), requestCause(reason));
  }

  /**
   * Puts a failed task back at the tail of its level, with its attempts counted anew; a run as
   * `loom.runs.resume` does.
   *
   * @throws {@link TaskNotFoundError}, {@link TaskBusyError}; {@link WrongStateError}, also for a part
   * of a run, which is resumed as a whole.
   */
  async redrive(id: string): Promise<void> {
    const { redrive } = this.#parts;
    demandOk('redrive', id, await redrive(checkId('id', id)));
  }

  /**
   * Makes a delayed task due now.
   *
   * @throws {@link TaskNotFoundError}, {@link WrongStateError}.
   */
  async runNow(id: string): Promise<void> {
    const { tasks } = await this.#parts.connection.open();
    demandOk('run now', id, await tasks.runNow(checkId('id', id)));
  }

  /**
   * Removes an ended task and everything kept about it.
   *
   * @throws {@link TaskNotFoundError}, {@link WrongStateError}, {@link TaskBusyError}.
   */
  async remove(id: string): Promise<void> {
    const { tasks } = await this.#parts.connection.open();
    demandOk('remove', id, await tasks.remove(checkId('id', id)));
  }

  /** As far as it is known here: workers may have other defaults. */
  #timeoutMs({ record: { name, options }, queue }: TaskFacts): number | undefined {
    const { registry, plans } = this.#parts;
    const definition = registry.runnable(name);
    if (definition === undefined) return storedTimeoutMs(options);
    return plans.planFor(definition, options, queue?.settings).timeoutMs;
  }

  async #facts(id: string): Promise<TaskFacts> {
    const taskId = checkId('id', id);
    const { inspect } = await caughtUp(this.#parts.connection);
    const facts = await inspect.facts(taskId);
    if (facts === undefined) throw new TaskNotFoundError(taskId);
    return facts;
  }
}

/** The error of a failed task; absent if it failed because another did. */
function thrownBy({ state, cause, error }: TaskRecord): TaskError | undefined {
  return state !== 'failed' || cause?.type === 'upstream' ? undefined : errorOf(error);
}

/** A loop, since `map` skips holes. */
function idsOf(ids: unknown): readonly string[] {
  if (!Array.isArray(ids)) throw new InvalidOptionError('ids', 'an id, or a list of them', ids);
  return Array.from(ids, (id: unknown) => checkId('id', id));
}

/** Cause of a cancel, with its reason in stored form. */
function requestCause(reason: string | undefined): Cause {
  if (reason === undefined) return { type: 'request' };
  return { type: 'request', reason: storedReason(reason) };
}

/** Throws the error of a refused change. */
export function demandOk(operation: string, id: string, reply: ChangeReply): void {
  switch (reply.kind) {
    case 'ok':
      return;
    case 'not-found':
      throw new TaskNotFoundError(id);
    case 'wrong-state':
      throw new WrongStateError(operation, id, reply.state);
    case 'busy':
      throw new TaskBusyError(operation, id);
    case 'cycle':
    case 'dependency-limit':
      throw cycleError(id, reply);
  }
}

function filterOf({ state, queue, user, name, error }: TaskListOptions): TaskFilter {
  if (!TASK_STATES.includes(state)) {
    throw new InvalidOptionError('state', `one of ${TASK_STATES.join(', ')}`, state);
  }
  if (state === 'queued' && user === undefined) {
    throw new InvalidOptionError('user', 'a user: queued tasks are listed per user', user);
  }
  if (error !== undefined && state !== 'failed') {
    throw new InvalidOptionError('error', 'nothing: only failed tasks are in error groups', error);
  }
  return {
    state,
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(user === undefined ? {} : { user: checkId('user', user) }),
    ...(name === undefined ? {} : { name: checkTaskName('name', name) }),
    ...(error === undefined ? {} : { error: errorGroupOption(error) }),
  };
}
