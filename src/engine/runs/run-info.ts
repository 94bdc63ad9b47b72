/** What is shown of a run. */
import { type Cause, readableCause } from '../../domain/cause.ts';
import { type DecryptionError, isOwn } from '../../domain/errors.ts';
import type { Level, TaskRecord, TaskState } from '../../domain/task.ts';
import { errorOf, type TaskError } from '../task-error.ts';
import type { RunPlace } from './record.ts';
import type { RunForm } from './run-options.ts';

/** One run. Moments are ms since the epoch on the backend's clock. */
export interface RunInfo {
  /** The run. */
  readonly id: string;
  /** The name of its pipeline. */
  readonly name: string;
  /** How it is carried out. */
  readonly form: RunForm;
  /** `deferred` while it waits for its nodes. */
  readonly state: TaskState;
  /** Whose turns its tasks take. */
  readonly user: string;
  /** Of the run; nodes may have queues of their own. */
  readonly queue: string;
  /** Of its tasks unless they have their own, 1 to 6. */
  readonly priority: Level;
  /** Hash of its graph; see `loom.graphs.get`. */
  readonly graph: string;
  /** When it was enqueued. */
  readonly createdAt: number;
  /** In an end state. */
  readonly endedAt?: number;
  /** What it was enqueued with; absent when it cannot be read. */
  readonly input?: unknown;
  /** It cannot be read here: the id of the key with which it is encrypted. */
  readonly encryptedWith?: string;
  /** Why it did not finish. */
  readonly cause?: Cause;
  /** Runs whose results it goes on from, the newest first. */
  readonly past?: readonly string[];
}

/** One run with its nodes. */
export interface RunDetails extends RunInfo {
  /**
   * In the order of the graph, each after those that it waits for; groups where they end. Empty when
   * the graph cannot be read here.
   */
  readonly nodes: readonly RunNodeInfo[];
}

/** One node of a run. */
export interface RunNodeInfo {
  /** Its name in the graph. */
  readonly node: string;
  /** The key of the member of a `parallel` that it is, where that is called otherwise. */
  readonly member?: string;
  /** `pending`: a driven run has not come to it. `gone`: retention has removed its record. */
  readonly state: TaskState | 'pending' | 'gone';
  /** For `loom.tasks`; absent when it is no task of the queue. */
  readonly taskId?: string;
  /** Of its newest failure. */
  readonly error?: TaskError;
}

/** What a run's own task says of it. */
interface RunFacts {
  readonly root: TaskRecord;
  readonly place: RunPlace;
  readonly form: RunForm;
  /** May throw. */
  readonly input: unknown;
}

/** A run without its nodes. */
export function runInfo(facts: RunFacts): RunInfo {
  const { root, place, form } = facts;
  const { id, state, user, queue, level, createdAt, endedAt, cause } = root;
  return {
    id,
    name: place.name ?? '',
    form,
    state,
    user,
    queue,
    priority: level,
    graph: place.graph,
    createdAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...readable(() => facts.input),
    ...(cause === undefined ? {} : { cause: readableCause(cause) }),
    ...(place.past === undefined ? {} : { past: place.past }),
  };
}

/** One node, as its record says. */
export function nodeInfo(node: string, record: TaskRecord | undefined): RunNodeInfo {
  if (record === undefined) return { node, state: 'gone' };
  const error = errorOf(record.error);
  const { state, id: taskId } = record;
  return error === undefined ? { node, state, taskId } : { node, state, taskId, error };
}

/** A listing must show a run also when its text is damaged. */
function readable(input: () => unknown): Pick<RunInfo, 'input' | 'encryptedWith'> {
  try {
    return { input: input() };
  } catch (error) {
    if (!isOwn<DecryptionError>(error, 'DECRYPTION_FAILED')) return {};
    return { encryptedWith: error.keyId ?? '' };
  }
}
