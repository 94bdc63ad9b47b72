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
import { wayBackOf } from '../../runs/calls/way-back.ts';
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

/** How a run is paused. */
export interface RunPauseOptions {
  /** Shown with the run; at most 200 characters are kept. */
  readonly reason?: string | undefined;
}

const PAUSE_KEYS: OptionKeys<RunPauseOptions> = keysOf<RunPauseOptions>()({ reason: true });

/** How a run is canceled. */
export interface RunCancelOptions {
  /** Shown with the run and its nodes. */
  readonly reason?: string | undefined;
  /** Wait until every node has ended. Default false. */
  readonly wait?: boolean | undefined;
}

const LIMIT_KEYS = keysOf<Pick<ConsequenceOptions, 'limit'>>()({ limit: true });

const CANCEL_KEYS: OptionKeys<RunCancelOptions> = keysOf<RunCancelOptions>()({
  reason: true,
  wait: true,
});

/** A run's graph, and where its nodes stand: what `toMermaid` and the others draw. */
export interface RunGraph {
  /** The graph. */
  readonly graph: TaskGraph;
  /** By the names of nodes. */
  readonly states: NodeStates;
}

/** `loom.runs`: looking at runs, and changing them. */
export class Runs {
  readonly #tools: RunTools;
  readonly #tasks: Tasks;

  /** @internal */
  constructor(tools: RunTools, tasks: Tasks) {
    this.#tools = tools;
    this.#tasks = tasks;
  }

  /** One run with its nodes; `undefined` when it is not stored, or no longer. */
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
      // Who has not got the key sees what there is to see without it.
      if (isOwn(error, 'DECRYPTION_FAILED')) return { ...info, nodes: [] };
      throw error;
    }
  }

  /**
   * The way back to a run by its id, wherever it was enqueued; the pipeline says what it gives.
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
   * Cancels a run and all of its nodes that have not ended; the answer has the outcome of each. Safe
   * to call again. With `wait` it is fulfilled when everything has ended.
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
   * What `cancel` would end: nodes of the run that are open, and tasks outside of it that would end
   * with them by the policies of their edges. It changes nothing.
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
   * Runs a run again as a new one, with the same input and graph. Nodes that finished are not run
   * again, and give what they gave; see `from` and `input`.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link InvalidOptionError} when `from`
   * is no node of its graph, or takes no input; {@link InvalidPayloadError} when that cannot be stored, or
   * its schema refuses it; {@link UnknownDependencyError} when a result was removed meanwhile.
   */
  rerun(id: string, options: RerunOptions = {}): Promise<RunHandle<unknown>> {
    return rerun(this.#tools, checkId('id', id), options);
  }

  /**
   * A new run that begins with a node of another one, also while that one goes on: what that one has
   * finished before the node is taken over, with the values of its channels as they are now. The other
   * run is not touched; `forkedFrom` names it.
   *
   * @throws as {@link Runs.rerun}; {@link InvalidOptionError} for a dispatched run with values in channels.
   */
  fork(id: string, options: ForkOptions): Promise<RunHandle<unknown>> {
    return fork(this.#tools, checkId('id', id), options);
  }

  /**
   * Ends the pause of a run, or puts a failed run back under its own id, with fresh attempts for what
   * has not finished; what has finished is not run again. A driven run that waits for its next attempt
   * goes on now, unless it was paused. Safe to call again: a run that goes on already is left as it is.
   * With `node` and `input` that node, which has failed, runs with another input.
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
   * Pauses a run: from when this is fulfilled none of its nodes, members and attempts begins until
   * `resume`. What runs goes on to the end of its attempt; a driven run to the end of the node in hand.
   * Time limits go on. A run that is paused already is left so; safe to call again.
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
   * What its channels hold, by channel and key: as it is stored now, without what handlers that run
   * hold back. Empty when nothing was written, or the run is not stored. A task's own, by its id.
   */
  async channels(id: string): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
    const { runs } = await this.#tools.handles.connection.open();
    return channelsIn(withoutMetadata(await runs.readChannel(checkId('id', id))));
  }

  /**
   * A run as JSON, with its graph, its input and what its nodes gave: to be kept, or imported in
   * another place. What handlers have run by `ctx.run` is not part of it.
   *
   * @throws {@link TaskNotFoundError} when it is not stored; {@link GraphStoreError}.
   */
  export(id: string): Promise<RunExport> {
    return exportRun(this.#tools.handles, checkId('id', id));
  }

  /**
   * Stores an exported run, given as an object or as text, as a new run: nodes that had finished are
   * not run again, and give what they gave. The run that was exported is not touched.
   *
   * @throws {@link RunFormatError} when it is no run, damaged, or of a newer version;
   * {@link InvalidPayloadError} when what a driven run goes on from is larger than an input may be;
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
   * What holds a run up: the nodes that wait for no other node, each with its reason.
   *
   * @throws {@link TaskNotFoundError} when it is not stored.
   */
  async explain(id: string): Promise<RunExplanation> {
    const view = await RunView.demand(this.#tools.handles, checkId('id', id));
    const { handles } = this.#tools;
    const back = async (run: RunView): Promise<string | undefined> =>
      run.root.state === 'failed' ? wayBackOf(handles, run, run.root) : undefined;
    return explainRun(view, (task) => this.#tasks.explain(task), back);
  }

  /** Waits until a task has ended, or is not stored any more. */
  async #ended(id: string): Promise<void> {
    await this.#tools.handles.results.waitForRecord(id).catch((error: unknown) => {
      if (!isOwn(error, 'TASK_NOT_FOUND')) throw error;
    });
  }
}

/** What a run that finished gave, as far as it can still be read: retention may have taken a part. */
async function resultOf(view: RunView): Promise<Pick<RunDetails, 'result'>> {
  if (view.root.state !== 'finished') return {};
  try {
    return { result: await view.result() };
  } catch {
    return {};
  }
}
