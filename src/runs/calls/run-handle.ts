import type { KeepAlive } from '../../base/keep-alive.ts';
import { RunCanceledError, RunFailedError } from '../../domain/errors/errors.ts';
import { type Cause, failedNodeOf } from '../../domain/task/cause.ts';
import type { TaskRecord } from '../../domain/task/task.ts';
import type { ResultOptions, TaskHandle } from '../../enqueue/handle.ts';
import type { Results } from '../../enqueue/results.ts';
import { errorIn, nodeOf } from '../failure-cause.ts';
import type { RunNodeInfo } from '../run-info.ts';
import type { RunCancelReport } from './run-cancel.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** The handle of one run. */
export interface RunHandle<out O> extends TaskHandle<O> {
  /** The same as `id`. */
  readonly runId: string;
  /**
   * Waits for the end and returns the output of the pipeline.
   *
   * @throws {@link RunFailedError} with the node that failed first, {@link RunCanceledError};
   * otherwise as for a task.
   */
  result(options?: ResultOptions): Promise<O>;
  /**
   * Yields each node with its current state, then each change, until the run ends. States between two polls
   * are not seen.
   */
  nodes(): AsyncIterable<RunNodeInfo>;
  /** Cancels the run, with `reason` as a note for people; see `loom.runs.cancel`. */
  cancel(options?: { readonly reason?: string | undefined }): Promise<RunCancelReport>;
}

/** Parts of the client that handles of runs need. */
export interface RunHandleParts extends ViewParts {
  readonly results: Results;
  readonly keepAlive: KeepAlive;
  readonly cancelRun: (
    id: string,
    options?: { readonly reason?: string | undefined },
  ) => Promise<RunCancelReport>;
}

/** The outcome of storing a run. */
export interface RunReply {
  readonly id: string;
  readonly created: boolean;
  readonly conflict: boolean;
}

/** Cause for a record without one. */
const UNKNOWN: Cause = { type: 'request' };

/** Longest wait for a notification, in ms; then the records are read again. */
const REREAD_MS = 1_000;

/** The handle of a run of either form. */
export class StoredRun<O> implements RunHandle<O> {
  readonly id: string;
  readonly created: boolean;
  readonly conflict: boolean;
  readonly replaced = false;
  readonly #parts: RunHandleParts;

  constructor(parts: RunHandleParts, reply: RunReply) {
    this.#parts = parts;
    this.id = reply.id;
    this.created = reply.created;
    this.conflict = reply.conflict;
  }

  get taskId(): string {
    return this.id;
  }

  get runId(): string {
    return this.id;
  }

  async result(options?: ResultOptions): Promise<O> {
    const root = await this.#parts.results.waitForRecord(this.id, options);
    // The output of the last nodes, parsed from JSON: the definitions have its type.
    return (await outcomeOf(this.#parts, root)) as O;
  }

  async *nodes(): AsyncIterable<RunNodeInfo> {
    const view = await RunView.demand(this.#parts, this.id);
    const over = new AbortController();
    this.#parts.keepAlive.hold();
    try {
      yield* view.changes(REREAD_MS, over.signal);
    } finally {
      this.#parts.keepAlive.letGo();
      over.abort();
    }
  }

  cancel(options?: { readonly reason?: string | undefined }): Promise<RunCancelReport> {
    return this.#parts.cancelRun(this.id, options);
  }
}

/** The result of an ended run; throws its error or cancel instead. */
async function outcomeOf(parts: RunHandleParts, root: TaskRecord): Promise<unknown> {
  const view = await RunView.of(parts, root);
  if (root.state === 'finished') {
    return view === undefined ? parts.codec.read(root.result ?? '') : view.result();
  }
  throw await failureOf(view, root);
}

/** Why a run did not finish: the cause of its own end, and the failure behind it. */
async function failureOf(view: RunView | undefined, root: TaskRecord): Promise<Error> {
  // For a failed group its own error is more informative: it names every member.
  const isFollower = view !== undefined && root.cause?.type === 'upstream';
  const behind = isFollower ? await view.cause() : root;
  const { cause = root.cause ?? UNKNOWN } = behind;
  if (root.state === 'canceled') return new RunCanceledError(cause);
  return new RunFailedError(root.id, {
    node: behind.id === root.id ? (failedNodeOf(root.cause) ?? '') : nodeOf(behind),
    taskId: behind.id,
    // A task may have failed because another was canceled.
    why: behind.state === 'failed' ? cause : (root.cause ?? cause),
    error: errorIn(behind),
  });
}
