import { channelsIn } from '../../attempt/channels.ts';
import { metadataIn, withoutMetadata } from '../../attempt/metadata.ts';
import { isOwn } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId } from '../../domain/fairness/names.ts';
import type { CancelReply, Page } from '../../domain/port/backend.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import type { TaskGraph } from '../../graph/graph.ts';
import { exportRun } from '../../runs/calls/export.ts';
import { importRun, type RunImportOptions } from '../../runs/calls/import.ts';
import { pauseRun } from '../../runs/calls/pause.ts';
import { type ForkOptions, fork, type RerunOptions, rerun } from '../../runs/calls/rerun.ts';
import { type RunResumeOptions, resumeRun } from '../../runs/calls/resume-edited.ts';
import { retryCommandOf } from '../../runs/calls/retry-command.ts';
import {
  cancelRun,
  type RunCancelReport,
  type RunConsequences,
  runConsequences,
} from '../../runs/calls/run-cancel.ts';
import type { RunExport } from '../../runs/calls/run-format.ts';
import { type RunHandle, StoredRun } from '../../runs/calls/run-handle.ts';
import type { RunTools } from '../../runs/calls/run-submission.ts';
import { RunView } from '../../runs/calls/run-view.ts';
import { type ConsequenceOptions, consequenceLimit } from '../../runs/consequences.ts';
import { type RunDetails, type RunInfo, runInfos } from '../../runs/run-info.ts';
import type { NodeStates } from '../../workflow/notation/drawing.ts';
import { demandStep } from '../../workflow/pipeline-definition.ts';
import type { Step } from '../../workflow/step.ts';
import { listed } from './list-cursor.ts';
import { taskPageRequest } from './page.ts';
import { storedReason } from './reason.ts';
import { explainRun, type RunExplanation } from './run-explanation.ts';
import { filterOf, LIST_KEYS, pageOfRuns, type RunListOptions } from './run-list.ts';
import type { Tasks } from './task-facade.ts';

/** Options of a pause. */
export interface RunPauseOptions {
  /** Reason, shown with the run; at most 200 characters are kept. */
  readonly reason?: string | undefined;
}

const PAUSE_KEYS: OptionKeys<RunPauseOptions> = keysOf<RunPauseOptions>()({ reason: true });

/** Options of a cancel. */
export interface RunCancelOptions {
  /** Reason, shown with the run and its nodes. */
  readonly reason?: string | undefined;
  /** Wait until every node has ended. Default false. */
  readonly wait?: boolean | undefined;
}

const LIMIT_KEYS = keysOf<Pick<ConsequenceOptions, 'limit'>>()({ limit: true });

const CANCEL_KEYS: OptionKeys<RunCancelOptions> = keysOf<RunCancelOptions>()({
  reason: true,
  wait: true,
});

/** A run's graph with the states of its nodes, for `toMermaid` and similar. */
export interface RunGraph {
  /** The graph. */
  readonly graph: TaskGraph;
  /** States by the names of nodes. */
  readonly states: NodeStates;
}

/** `loom.runs`: reads runs, and changes them. */
export class Runs {
  readonly #tools: RunTools;
  readonly #tasks: Tasks;

  /** @internal */
  constructor(tools: RunTools, tasks: Tasks) {
    this.#tools = tools;
    this.#tasks = tasks;
  }

  /** One run with its nodes; `undefined` if it is not stored. */
  async get(id: string): Promise<RunDetails | undefined> {
    const view = await RunView.find(this.#tools.handles, checkId('id', id));
    if (view === undefined) return undefined;
    const { inspect, runs } = await this.#tools.handles.connection.open();
    const [[listed], fields] = await Promise.all([
      runInfos(inspect, [view]),
      runs.readChannel(view.root.id),
    ]);
    if (listed === undefined) return undefined;
    const info = { ...listed, ...metadataIn(fields), ...(await resultOf(view)) };
    try {
      return { ...info, nodes: await view.nodes() };
    } catch (error) {
      // Without the key the run is shown without its nodes.
      if (isOwn(error, 'DECRYPTION_FAILED')) return { ...info, nodes: [] };
      throw error;
    }
  }

  /**
   * Handle of a run by its id, wherever it was enqueued; the pipeline gives the type of its result.
   *
   * @throws {@link InvalidOptionError} when the first is no step, or the second no id.
   */
  handle<I, O, X>(step: Step<I, O, X>, id: string): RunHandle<O | X> {
    demandStep('handle', step);
    return new StoredRun(this.#tools.handles, {
      id: checkId('id', id),
      created: false,
      conflict: false,
    });
  }

  /** One page of the runs in a state, those of each form in the order of that state's index. */
  async list(options: RunListOptions): Promise<Page<RunInfo>> {
    checkOptions('runs.list', options, LIST_KEYS);
    const { handles } = this.#tools;
    const filter = filterOf(options);
    const { form } = options;
    const { inspect } = await handles.connection.open();
    const listing = { list: 'runs.list', filter: { ...filter, form } };
    return listed(listing, taskPageRequest(options), (request) =>
      pageOfRuns({ inspect, codec: handles.codec, filter, form }, request),
    );
  }

  /**
   * Cancels a run and all of its nodes that have not ended; the answer has the outcome of each. May
   * be called again. With `wait` it resolves when all of them have ended.
   */
  async cancel(id: string, options: RunCancelOptions = {}): Promise<RunCancelReport> {
    checkOptions('runs.cancel', options, CANCEL_KEYS);
    const { handles } = this.#tools;
    const cancelTask = (task: string, reason: string | undefined): Promise<CancelReply> =>
      this.#tasks.cancelOne(task, reason);
    const { reason, wait } = options;
    return cancelRun(handles, cancelTask, checkId('id', id), {
      reason,
      ...(wait === true ? { ended: (task) => this.#ended(task) } : {}),
    });
  }

  /**
   * Tasks that `cancel` would end: open nodes of the run, and tasks outside of it by the policies
   * of their edges. Changes nothing.
   *
   * @throws {@link TaskNotFoundError} when it is not stored.
   */
  async consequences(
    id: string,
    options: Pick<ConsequenceOptions, 'limit'> = {},
  ): Promise<RunConsequences> {
    checkOptions('runs.consequences', options, LIMIT_KEYS);
    return runConsequences(this.#tools.handles, checkId('id', id), consequenceLimit(options));
  }

  /**
   * Starts a new run with the same input and graph. Finished nodes are not run again and keep their
   * results; see `from` and `input`.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link InvalidOptionError} when `from`
   * is no node of its graph, or takes no input; {@link InvalidPayloadError} when that cannot be stored, or
   * its schema refuses it; {@link UnknownDependencyError} when a result was removed meanwhile.
   */
  rerun(id: string, options: RerunOptions = {}): Promise<RunHandle<unknown>> {
    return rerun(this.#tools, checkId('id', id), options);
  }

  /**
   * Starts a new run at a node of another one, which may still run: nodes that finished before that
   * node are taken over, with the current values of its channels. The other run is not changed;
   * `forkedFrom` names it.
   *
   * @throws as {@link Runs.rerun}; {@link InvalidOptionError} for a dispatched run with values in channels.
   */
  fork(id: string, options: ForkOptions): Promise<RunHandle<unknown>> {
    return fork(this.#tools, checkId('id', id), options);
  }

  /**
   * Ends the pause of a run, or puts a failed run back under its own id, with new attempts for what
   * has not finished; finished nodes are not run again. A driven run that waits for its next
   * attempt continues now, unless it was paused. May be called again: a run that is running stays
   * as it is. With `node` and `input` that failed node runs with another input.
   *
   * @throws {@link TaskNotFoundError} when it, or a task that it needs, is not stored;
   * {@link WrongStateError} when it has finished, or it or a task that it needs was canceled, or a
   * task outside of it, which it waits for, has failed; {@link TaskBusyError}; {@link InvalidOptionError}
   * when `node` has not failed or takes no input; {@link InvalidPayloadError} when the input is refused.
   */
  async resume(id: string, options: RunResumeOptions = {}): Promise<RunHandle<unknown>> {
    const { handles } = this.#tools;
    await resumeRun(this.#tools, checkId('id', id), options);
    return new StoredRun(handles, { id, created: false, conflict: false });
  }

  /**
   * Pauses a run: once this resolves no node, member or attempt of it begins until `resume`.
   * Running attempts continue to their end; a driven run to the end of its current node. Time
   * limits continue. May be called again: a paused run stays as it is.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link WrongStateError} when it has ended.
   */
  async pause(id: string, options: RunPauseOptions = {}): Promise<RunPause> {
    checkOptions('runs.pause', options, PAUSE_KEYS);
    const { reason } = options;
    const words = reason === undefined ? '' : storedReason(reason);
    return pauseRun(this.#tools.handles, checkId('id', id), words === '' ? undefined : words);
  }

  /**
   * Values of its channels, by channel and key, as they are stored now, without unsaved writes of running
   * handlers. Empty without values, or if the run is not stored. A task's own channels, by its id.
   */
  async channels(id: string): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
    const { runs } = await this.#tools.handles.connection.open();
    return channelsIn(withoutMetadata(await runs.readChannel(checkId('id', id))));
  }

  /**
   * A run as JSON, with its graph, its input and the results of its nodes, to be archived or
   * imported elsewhere. Tasks that handlers ran with `ctx.run` are not included.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link GraphStoreError}.
   */
  export(id: string): Promise<RunExport> {
    return exportRun(this.#tools.handles, checkId('id', id));
  }

  /**
   * Stores an exported run, given as an object or as text, as a new run: finished nodes are not run
   * again and keep their results. The original run is not changed.
   *
   * @throws {@link RunFormatError} when it is no run, damaged, or of a newer version;
   * {@link InvalidPayloadError} when the state of a driven run is larger than an input may be;
   * {@link TaskConflictError} when another task has its id; {@link QueueFullError}.
   */
  import(run: RunExport | string, options: RunImportOptions = {}): Promise<RunHandle<unknown>> {
    return importRun(this.#tools, run, options);
  }

  /**
   * Its graph, with the states of its nodes.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link GraphStoreError}.
   */
  async graph(id: string): Promise<RunGraph> {
    const view = await RunView.demand(this.#tools.handles, checkId('id', id));
    const { graph } = await view.known();
    const nodes = await view.nodes();
    return { graph, states: new Map(nodes.map(({ node, state }) => [node, state])) };
  }

  /**
   * Why a run has not ended: the nodes that wait for no other node, each with its reason.
   *
   * @throws {@link TaskNotFoundError} when it is not stored.
   */
  async explain(id: string): Promise<RunExplanation> {
    const view = await RunView.demand(this.#tools.handles, checkId('id', id));
    const { handles } = this.#tools;
    const back = async (run: RunView): Promise<string | undefined> =>
      run.root.state === 'failed' ? retryCommandOf(handles, run, run.root) : undefined;
    return explainRun(view, (task) => this.#tasks.explain(task), back);
  }

  /** Waits until a task has ended, or is not stored any more. */
  async #ended(id: string): Promise<void> {
    await this.#tools.handles.results.waitForRecord(id).catch((error: unknown) => {
      if (!isOwn(error, 'TASK_NOT_FOUND')) throw error;
    });
  }
}

/** The result of a finished run, as far as it can be read: retention may have removed parts. */
async function resultOf(view: RunView): Promise<Pick<RunDetails, 'result'>> {
  if (view.root.state !== 'finished') return {};
  try {
    return { result: await view.result() };
  } catch {
    return {};
  }
}
