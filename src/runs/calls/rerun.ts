/** Reruns and forks: runs that continue from the results of another run. */
import { InvalidOptionError, TaskNotFoundError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Versioning } from '../../domain/task/task-name.ts';
import { versioningOf } from '../../enqueue/enqueue-options.ts';
import { tracedEnqueue, tracedOnly } from '../../tracing/traced-enqueue.ts';
import { type Edits, nodeScope, storedOptionsOf } from '../record.ts';
import { runSettings } from '../run-options.ts';
import type { RunCall } from '../run-tasks.ts';
import { editKey, editsFrom, inputText, nodeIdIn, nodesFrom, nodeToEdit } from './edits.ts';
import type { RunHandle } from './run-handle.ts';
import { demandInputs, type RunTools, submitCall } from './run-submission.ts';
import { RunView } from './run-view.ts';

/** Options of a rerun. */
export interface RerunOptions {
  /**
   * Name of a node or group in the graph: it and all that follows it run again, even if finished;
   * in a driven run, all that ran after it. Default: only unfinished nodes.
   */
  readonly from?: string | undefined;
  /**
   * With `from`: input of that node, which must be a task outside groups. Alone: input of the whole run,
   * which then starts from its beginning. A present option counts even if it is `undefined`.
   */
  readonly input?: unknown;
  /** Id of the new run. Default: a new id. */
  readonly id?: string | undefined;
  /**
   * `latest`: its nodes run with the newest version that a worker has; `pin`: with those of its graph.
   * Default: as in the other run.
   */
  readonly versioning?: Versioning | undefined;
  /** Limit of executed tasks and groups; see `RunEnqueueOptions`. Default: as in the other run. */
  readonly maxSteps?: number | undefined;
}

/** Options of a fork. */
export interface ForkOptions extends RerunOptions {
  /** Name of the node or group in the graph at which the new run starts. */
  readonly from: string;
}

const KEYS: OptionKeys<RerunOptions> = keysOf<RerunOptions>()({
  from: true,
  input: true,
  id: true,
  versioning: true,
  maxSteps: true,
});

const FORK_KEYS: OptionKeys<ForkOptions> = keysOf<ForkOptions>()(KEYS);

/** Largest number of runs whose results one run uses: the limit of a chain of reruns. */
const MOST_EARLIER_RUNS = 16;

/** Stores a new run with the graph of another, and with its input unless one is given. */
export async function rerun(
  tools: RunTools,
  id: string,
  options: RerunOptions,
): Promise<RunHandle<unknown>> {
  checkOptions('runs.rerun', options, KEYS);
  const view = await demandRun(tools, id);
  return submitAgain(tools, view, options, await againOf(tools, view, options));
}

/** Stores a new run that starts at a node of another run, with a copy of that run's channels. */
export async function fork(
  tools: RunTools,
  id: string,
  options: ForkOptions,
): Promise<RunHandle<unknown>> {
  checkOptions('runs.fork', options, FORK_KEYS);
  const { from } = options;
  if (typeof from !== 'string') throw new InvalidOptionError('from', 'the name of a node', from);
  const view = await demandRun(tools, id);
  const again = await againOf(tools, view, options);
  const shared = await view.shared();
  if (view.form === 'driven') {
    const seed = { fields: again.seed?.fields ?? {}, ...shared };
    return submitAgain(tools, view, options, { ...again, seed, forkedFrom: id });
  }
  if (shared.channels !== undefined) {
    const wanted =
      'a driven run, or one without values in channels: a dispatched fork cannot copy these';
    throw new InvalidOptionError('id', wanted, id);
  }
  return submitAgain(tools, view, options, { ...again, forkedFrom: id });
}

/** The parts of a run that a rerun changes. */
type Again = Pick<RunCall, 'known' | 'input' | 'reused' | 'past' | 'seed' | 'edits' | 'forkedFrom'>;

async function demandRun({ handles }: RunTools, id: string): Promise<RunView> {
  const view = await RunView.find(handles, id);
  if (view === undefined) throw new TaskNotFoundError(id);
  return view;
}

async function submitAgain(
  tools: RunTools,
  { root, place, form }: RunView,
  options: RerunOptions,
  again: Again,
): Promise<RunHandle<unknown>> {
  const { queue, level, cost, latest, maxSteps: before } = place.said ?? {};
  const { maxSteps = before } = options;
  const versioning = versioningOf(options) ?? (latest === true ? 'latest' : undefined);
  const said = { queue, priority: level, cost, versioning, maxSteps };
  const stored = storedOptionsOf(root.options);
  const settings = runSettings(tools, { ...said, user: root.user, id: options.id });
  const { codec } = tools.handles;
  const call = { ...again, settings, codec, base: tools.maker.base };
  const isAnew = Object.hasOwn(options, 'input') && options.from === undefined;
  if (isAnew && form === 'dispatched') await demandInputs(tools.schemaOf, call);
  return tracedEnqueue(tools, {
    ...{ name: place.name ?? '', queue: root.queue, options: stored },
    send: (traced) => {
      const own = { ...settings, stored: { ...stored, ...tracedOnly(traced) } };
      return submitCall(tools, { ...call, settings: own }, form);
    },
  });
}

async function againOf(tools: RunTools, view: RunView, options: RerunOptions): Promise<Again> {
  const { input } = options;
  const known = await view.known();
  const from = options.from === undefined ? undefined : nodeIdIn(known.graph, options.from);
  const isEdited = Object.hasOwn(options, 'input');
  if (from === undefined && isEdited) return { known, input };
  const again = from === undefined ? NONE : nodesFrom(known, view.form, from);
  const { edits: before, input: own } = view.given;
  const edits = { ...editsFrom(before, view.form, again, from) };
  if (from !== undefined && isEdited) {
    const node = nodeToEdit(known.graph, 'from', from);
    const { schemaOf, handles } = tools;
    const given = { input, said: overridesOf(view, options) };
    const text = await inputText({ schemaOf, codec: handles.codec }, node, given);
    edits[editKey(view.form, from)] = text;
  }
  return { known, input: own, ...editsIn(edits), ...(await pastOf(view, { again, from })) };
}

const NONE: ReadonlySet<string> = new Set();

function editsIn(edits: Edits): Pick<Again, 'edits'> {
  return Object.keys(edits).length === 0 ? {} : { edits };
}

/** The versions that the nodes of the new run keep. */
function overridesOf({ place }: RunView, options: RerunOptions): { readonly latest?: true } {
  const versioning = versioningOf(options);
  if (versioning === undefined) return place.said ?? {};
  return versioning === 'latest' ? { latest: true } : {};
}

/** The results of the other run that the new run reuses. */
async function pastOf(
  view: RunView,
  { again, from }: { readonly again: ReadonlySet<string>; readonly from: string | undefined },
): Promise<Pick<Again, 'reused' | 'past' | 'seed'>> {
  if (view.form === 'driven') {
    // Its channels start empty, as those of any rerun.
    const { fields } = await view.seed(from);
    return { seed: { fields } };
  }
  const reused = new Map<string, string>();
  for (const [node, { id, state }] of await view.records()) {
    if (state === 'finished' && !again.has(node)) reused.set(node, id);
  }
  const past = [nodeScope(view.place), ...(view.place.past ?? [])].slice(0, MOST_EARLIER_RUNS);
  return { reused, past };
}
