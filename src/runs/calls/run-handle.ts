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
   * Waits for the end and gives the output of the pipeline.
   *
   * @throws {@link RunFailedError} with the node that failed first, {@link RunCanceledError};
   * otherwise as for a task.
   */
  result(options?: ResultOptions): Promise<O>;
  /**
   * Each node with its current state, then each change, until the run has ended. States between two polls are
   * not seen.
   */
  nodes(): AsyncIterable<RunNodeInfo>;
  /** Cancels the run, with words for people as `reason`; see `loom.runs.cancel`. */
  cancel(options?: { readonly reason?: string | undefined }): Promise<RunCancelReport>;
}

/** What handles of runs need of their client. */
export interface RunHandleParts extends ViewParts {
  readonly results: Results;
  readonly keepAlive: KeepAlive;
  readonly cancelRun: (
    id: string,
    options?: { readonly reason?: string | undefined },
  ) => Promise<RunCancelReport>;
}

/** How a stored run was met. */
export interface RunReply {
  readonly id: string;
  readonly created: boolean;
  readonly conflict: boolean;
}

/** Of a record that says nothing of it. */
const UNKNOWN: Cause = { type: 'request' };

/** Longest wait for one hint, in ms; then the records are looked at again. */
const LOOK_MS = 1_000;

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
    // What the last nodes returned, back from JSON: the definitions say of which type.
    return (await outcomeOf(this.#parts, root)) as O;
  }

  async *nodes(): AsyncIterable<RunNodeInfo> {
    const view = await RunView.demand(this.#parts, this.id);
    const over = new AbortController();
    this.#parts.keepAlive.hold();
    try {
      yield* view.changes(LOOK_MS, over.signal);
    } finally {
      this.#parts.keepAlive.letGo();
      over.abort();
    }
  }

  cancel(options?: { readonly reason?: string | undefined }): Promise<RunCancelReport> {
    return this.#parts.cancelRun(this.id, options);
  }
}

/** The result of a run that has ended; throws its error or cancel instead. */
async function outcomeOf(parts: RunHandleParts, root: TaskRecord): Promise<unknown> {
  const view = await RunView.of(parts, root);
  if (root.state === 'finished') {
    return view === undefined ? parts.codec.read(root.result ?? '') : view.result();
  }
  throw await failureOf(view, root);
}

/** Why a run did not finish: its own end says how, and what is behind that says why. */
async function failureOf(view: RunView | undefined, root: TaskRecord): Promise<Error> {
  // Of a group that failed, its own error says more: it names every member.
  const isFollower = view !== undefined && root.cause?.type === 'upstream';
  const behind = isFollower ? await view.cause() : root;
  const { cause = root.cause ?? UNKNOWN } = behind;
  if (root.state === 'canceled') return new RunCanceledError(cause);
  return new RunFailedError(root.id, {
    node: behind.id === root.id ? (failedNodeOf(root.cause) ?? '') : nodeOf(behind),
    taskId: behind.id,
    // It may have failed since another was canceled.
    why: behind.state === 'failed' ? cause : (root.cause ?? cause),
    error: errorIn(behind),
  });
}
