/** A run that goes on from another one's results. */
import { InvalidOptionError, TaskNotFoundError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Versioning } from '../../domain/task/task-name.ts';
import { versioningOf } from '../../enqueue/enqueue-options.ts';
import { allNodes } from '../../graph/graph.ts';
import { begun, idsIn } from '../../graph/graph-start.ts';
import { tracedEnqueue, tracedOnly } from '../../tracing/spans/traced-enqueue.ts';
import type { RunCall } from '../dispatched/run-tasks.ts';
import type { KnownGraph } from '../shared/known-graph.ts';
import { nodeScope, storedOptionsOf } from '../shared/record.ts';
import { runSettings } from '../shared/run-options.ts';
import type { RunHandle } from './run-handle.ts';
import { type RunTools, submitCall } from './run-submission.ts';
import { RunView } from './run-view.ts';

/** How a run is run again. */
export interface RerunOptions {
  /**
   * A node or group, by its name in the graph: it and all that follows it run again, also what had
   * finished; of a driven run, all that was come to after it. Default: only what had not finished.
   */
  readonly from?: string | undefined;
  /** The new run's id. Default: a new one. */
  readonly id?: string | undefined;
  /**
   * `latest`: its nodes go on with the newest version that a worker has; `pin`: with those of its graph.
   * Default: as the other run.
   */
  readonly versioning?: Versioning | undefined;
  /** Tasks and groups that it may come to; see `RunEnqueueOptions`. Default: as the other run. */
  readonly maxSteps?: number | undefined;
}

const KEYS: OptionKeys<RerunOptions> = keysOf<RerunOptions>()({
  from: true,
  id: true,
  versioning: true,
  maxSteps: true,
});

/** Runs whose results one run may go on from: a chain of reruns is no longer than this. */
const MOST_PAST = 16;

/** Stores a new run with the input and the graph of another. */
export async function rerun(
  tools: RunTools,
  id: string,
  options: RerunOptions,
): Promise<RunHandle<unknown>> {
  checkOptions('runs.rerun', options, KEYS);
  const { handles } = tools;
  const view = await RunView.find(handles, id);
  if (view === undefined) throw new TaskNotFoundError(id);
  const { root, place } = view;
  const { queue, level, cost, latest, maxSteps: before } = place.said ?? {};
  const { maxSteps = before } = options;
  const versioning = versioningOf(options) ?? (latest === true ? 'latest' : undefined);
  const said = {
    user: root.user,
    queue,
    priority: level,
    cost,
    id: options.id,
    versioning,
    maxSteps,
  };
  const stored = storedOptionsOf(root.options);
  const known = await view.known();
  const past = await pastOf(view, known, options.from);
  const request = { name: place.name ?? '', queue: root.queue, options: stored };
  return tracedEnqueue(tools, {
    ...request,
    send: (traced) => {
      const settings = {
        ...runSettings(tools, said),
        stored: { ...stored, ...tracedOnly(traced) },
      };
      const call = { known, input: view.input, settings, codec: handles.codec, ...past };
      return submitCall(tools, { ...call, base: tools.maker.base }, view.form);
    },
  });
}

type Past = Pick<RunCall, 'reused' | 'past' | 'seed'>;

/** What of the other run need not be done again. */
async function pastOf(view: RunView, known: KnownGraph, from: string | undefined): Promise<Past> {
  if (view.form === 'driven') {
    // Its channels begin empty, as those of any rerun.
    const { fields } = await view.seed(from);
    return { seed: { fields } };
  }
  const again = from === undefined ? new Set<string>() : fromNode(known, from);
  const reused = new Map<string, string>();
  for (const [node, { id, state }] of await view.records()) {
    if (state === 'finished' && !again.has(node)) reused.set(node, id);
  }
  const past = [nodeScope(view.place), ...(view.place.past ?? [])].slice(0, MOST_PAST);
  return { reused, past };
}

/** Tasks of a node and of everything that follows it. */
function fromNode({ graph, dispatch }: KnownGraph, from: string): ReadonlySet<string> {
  const start = [...allNodes(begun(graph))].find(({ id }) => id === from);
  if (start === undefined) {
    throw new InvalidOptionError('from', `a node of ${graph.name} that runs`, from);
  }
  const again = idsIn(start);
  // Tasks stand after those that they wait for, so one pass finds all that follow.
  for (const { id, dependsOn } of dispatch.tasks) {
    if (dependsOn.some((one) => again.has(one))) again.add(id);
  }
  return again;
}
