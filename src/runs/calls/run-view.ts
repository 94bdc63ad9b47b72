import { withoutMetadata } from '../../attempt/metadata.ts';
import type { SharedBackend } from '../../backends/shared-backend.ts';
import { linkAbort } from '../../base/abort-watch.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { isEnd, type TaskRecord } from '../../domain/task/task.ts';
import { memberKeys } from '../../graph/graph.ts';
import type { NodeOutcome } from '../../graph/graph-values.ts';
import type { WalkStep } from '../../graph/run-walk.ts';
import { drivenNodes, type OpenMember, openBelow, openMembers } from '../driven/driven-nodes.ts';
import { type DrivenRun, replay, seedOf } from '../driven/seeds.ts';
import { causeOf, culpritsOf, recordsOf } from '../failure-cause.ts';
import type { GraphCache } from '../graph-cache.ts';
import type { KnownGraph } from '../known-graph.ts';
import {
  isPartId,
  isRun,
  JOIN_TASK,
  nodeScope,
  nodeTaskId,
  type RunGiven,
  type RunPlace,
  runGivenOf,
  runInputOf,
  runPlaceOf,
  type Seed,
} from '../record.ts';
import { formOf, nodeInfo, type RunNodeInfo } from '../run-info.ts';
import type { RunForm } from '../run-options.ts';

/** Parts of the client that read a run. */
export interface ViewParts {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly graphs: GraphCache;
}

/** A run and its tasks. */
export class RunView {
  readonly root: TaskRecord;
  readonly place: RunPlace;
  readonly form: RunForm;
  readonly #parts: ViewParts;
  readonly #backend: Backend;

  private constructor(parts: ViewParts, backend: Backend, root: TaskRecord, place: RunPlace) {
    this.#parts = parts;
    this.#backend = backend;
    this.root = root;
    this.place = place;
    this.form = formOf(root);
  }

  /** `undefined` when no run of this id is stored. */
  static async find(parts: ViewParts, id: string): Promise<RunView | undefined> {
    const backend = await parts.connection.open();
    const [root] = await backend.inspect.get([id]);
    return root === undefined ? undefined : RunView.#of(parts, backend, root);
  }

  /** @throws {@link TaskNotFoundError} when no run of this id is stored. */
  static async demand(parts: ViewParts, id: string): Promise<RunView> {
    const view = await RunView.find(parts, id);
    if (view === undefined) throw new TaskNotFoundError(id);
    return view;
  }

  /** The run of a record; `undefined` when it is another task. */
  static async of(parts: ViewParts, root: TaskRecord): Promise<RunView | undefined> {
    return RunView.#of(parts, await parts.connection.open(), root);
  }

  static #of(parts: ViewParts, backend: Backend, root: TaskRecord): RunView | undefined {
    const place = runPlaceOf(root.options);
    if (place === undefined || !isRun(root)) return undefined;
    return new RunView(parts, backend, root, place);
  }

  /** @throws the errors of {@link GraphCache.get}. */
  known(): Promise<KnownGraph> {
    return this.#parts.graphs.get(this.place.graph);
  }

  get input(): unknown {
    return runInputOf(this.#parts.codec, this.root.payload);
  }

  /** The payload of its own task: input, seed, edited inputs. */
  get given(): RunGiven {
    return runGivenOf(this.#parts.codec, this.root.payload);
  }

  /** The records of all stored nodes of a dispatched run, including joins. */
  async records(): Promise<ReadonlyMap<string, TaskRecord>> {
    const { dispatch } = await this.known();
    return this.recordsOf(dispatch.tasks.map(({ id }) => id));
  }

  /** The records of these nodes; for a result of another run, the record of that run. */
  async recordsOf(nodes: readonly string[]): Promise<ReadonlyMap<string, TaskRecord>> {
    const { past = [] } = this.place;
    const found = new Map<string, TaskRecord>();
    let left = nodes;
    for (const scope of [nodeScope(this.place), ...past]) {
      const ids = left.map((node) => nodeTaskId(scope, node));
      for (const [at, record] of (await recordsOf(this.#backend.inspect, ids)).entries()) {
        const node = left[at];
        if (record !== undefined && node !== undefined) found.set(node, record);
      }
      left = left.filter((node) => !found.has(node));
      if (left.length === 0) break;
    }
    return found;
  }

  /** Information on each node in the order of the graph, then open members of groups. */
  async nodes(): Promise<readonly RunNodeInfo[]> {
    const known = await this.known();
    const keys = memberKeys(known.graph);
    const nodes = await this.#nodesOf(known);
    return nodes.map((one) => {
      const member = keys.get(one.node);
      return member === undefined ? one : { ...one, member };
    });
  }

  async #nodesOf(known: KnownGraph): Promise<readonly RunNodeInfo[]> {
    const { root, input } = this;
    const { codec } = this.#parts;
    if (this.form === 'driven') return drivenNodes(this.#backend, { known, root, codec, input });
    const records = await this.records();
    const infos = known.dispatch.tasks.flatMap(({ id, plan }) =>
      plan === undefined || plan.kind === 'join' ? [] : [nodeInfo(id, records.get(id))],
    );
    return known.graph.start === undefined ? infos : withLeftOut(known, infos);
  }

  /** Members of a driven run that have not ended. */
  openMembers(): Promise<readonly OpenMember[]> {
    return openMembers(this.#backend.inspect, this.root);
  }

  /** Open members of groups that these tasks have started. */
  openBelow(ids: readonly string[]): Promise<readonly OpenMember[]> {
    return openBelow(this.#backend.inspect, ids);
  }

  /** Its open tasks that wait for no other task of it, in the order of the graph; members last. */
  async waitingOutside(): Promise<readonly OpenMember[]> {
    const open = this.form === 'driven' ? await this.openMembers() : await this.#openTasks();
    return open.filter(({ record: { state, blockedBy } }) => {
      return state !== 'deferred' || !blockedBy.some(isPartId);
    });
  }

  /** For a dispatched run: nodes that have not ended, then members of groups that they started. */
  async #openTasks(): Promise<readonly OpenMember[]> {
    const records = [...(await this.records())].map(([node, record]) => ({ node, record }));
    const open = records.filter(({ record }) => !isEnd(record.state) && record.name !== JOIN_TASK);
    const below = await this.openBelow(open.map(({ record }) => record.id));
    const known = new Set(open.map(({ record }) => record.id));
    return [...open, ...below.filter(({ record }) => !known.has(record.id))];
  }

  /** Started tasks of the run except its own, found by their options. */
  async started(): Promise<readonly string[]> {
    const { id, user } = this.root;
    const { inspect } = this.#backend;
    const found: string[] = [];
    const pages = allPages(LIMITS.pageMax, (page) =>
      inspect.list({ state: 'started', user }, page),
    );
    for await (const { items } of pages) {
      for (const one of items) {
        if (one.id !== id && runPlaceOf(one.options)?.id === id) found.push(one.id);
      }
    }
    return found;
  }

  /** The current state of the same run; `undefined` when it is not stored any more. */
  again(): Promise<RunView | undefined> {
    return RunView.find(this.#parts, this.root.id);
  }

  /**
   * The results of this run that a new driven run reuses: everything finished, or only steps before
   * a node.
   */
  async seed(from?: string): Promise<Seed> {
    const { codec } = this.#parts;
    const fields = await seedOf({ codec, backend: this.#backend }, await this.#driven(), from);
    // A run that starts from its beginning has empty channels.
    return Object.keys(fields).length === 0 ? { fields } : { fields, ...(await this.shared()) };
  }

  /** The next step of a driven run, computed from its journal. */
  async next(): Promise<WalkStep> {
    return replay(this.#parts.codec, await this.#driven()).next;
  }

  async #driven(): Promise<DrivenRun> {
    const { id } = this.root;
    const { graph } = await this.known();
    const written = await this.#backend.runs.load(id);
    // A run that has not started yet uses its own seed.
    const { seed, input } = this.given;
    return { id, graph, input, fields: { ...seed?.fields, ...written } };
  }

  /** The values of its channels, if there are any. */
  async shared(): Promise<Pick<Seed, 'channels'>> {
    const channels = withoutMetadata(await this.#backend.runs.readChannel(this.root.id));
    return Object.keys(channels).length === 0 ? {} : { channels };
  }

  /** The result of a finished run. @throws {@link TaskNotFoundError} when a part is removed. */
  async result(): Promise<unknown> {
    if (this.form === 'dispatched') return this.#output();
    return this.#parts.codec.read(this.root.result ?? '');
  }

  async #output(): Promise<unknown> {
    const { dispatch, flat, values } = await this.known();
    const records = await this.recordsOf(dispatch.outputs);
    const outcome = (node: string): NodeOutcome => {
      const record = records.get(node);
      if (record?.state !== 'finished') {
        throw new TaskNotFoundError(nodeTaskId(nodeScope(this.place), node));
      }
      return { ok: true, value: this.#parts.codec.read(record.result ?? '') };
    };
    return values.build(flat.output, { input: this.input, outcome });
  }

  /** The tasks that caused it not to finish, the first one first. */
  culprits(): Promise<readonly TaskRecord[]> {
    return culpritsOf(this.#backend.inspect, this.root);
  }

  /** The record of the task that failed or was canceled first; that of the run when there is none. */
  cause(): Promise<TaskRecord> {
    return causeOf(this.#backend.inspect, this.root);
  }

  /**
   * Yields each node with its current state, then each change, until the run ends. States between two polls
   * are not seen.
   */
  async *changes(waitMs: number, signal: AbortSignal): AsyncGenerator<RunNodeInfo> {
    const shown = new Map<string, string>();
    for (let view: RunView | undefined = this; view !== undefined; view = await view.again()) {
      const nodes = await view.nodes();
      for (const info of nodes) {
        if (shown.get(info.node) === info.state) continue;
        shown.set(info.node, info.state);
        yield info;
      }
      if (signal.aborted || isEnd(view.root.state)) return;
      const open = nodes.flatMap(({ taskId, state }) =>
        taskId === undefined || state === 'finished' ? [] : [taskId],
      );
      await this.#waitForAny([this.root.id, ...open.slice(0, WATCHED)], waitMs, signal);
    }
  }

  async #waitForAny(ids: readonly string[], ms: number, signal: AbortSignal): Promise<void> {
    const decided = new AbortController();
    const over = linkAbort(signal, decided.signal);
    const { inspect } = this.#backend;
    try {
      await Promise.race(ids.map((id) => inspect.waitForEnd(id, ms, over.signal)));
    } finally {
      decided.abort();
      over.unlink();
    }
  }
}

/** Adds the nodes that a run with a start leaves out, in the order of the graph. */
function withLeftOut({ shown }: KnownGraph, infos: readonly RunNodeInfo[]): readonly RunNodeInfo[] {
  const byNode = new Map(infos.map((info) => [info.node, info]));
  return shown.nodes.flatMap(({ id, kind }): readonly RunNodeInfo[] =>
    kind === 'join' ? [] : [byNode.get(id) ?? { node: id, state: 'skipped' }],
  );
}

/** Number of tasks whose ends are awaited at once. */
const WATCHED = 16;
