/** Stores an exported run, which continues from its finished nodes. */
import { messageOf } from '../../base/message-of.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import { RunFormatError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { leftOut } from '../../graph/graph-start.ts';
import { tracedEnqueue, tracedOnly } from '../../tracing/traced-enqueue.ts';
import { replay } from '../driven/seeds.ts';
import type { KnownGraph } from '../known-graph.ts';
import { runSettings } from '../run-options.ts';
import type { RunCall } from '../run-tasks.ts';
import { type RunExport, readRun } from './run-format.ts';
import type { RunHandle } from './run-handle.ts';
import { type RunTools, submitCall } from './run-submission.ts';

/** Options of an import. */
export interface RunImportOptions {
  /**
   * Id of the new run. Default: a new id. An import under the id of a stored run returns that run
   * if it is equal, and is refused otherwise.
   */
  readonly id?: string | undefined;
  /** User of its tasks. Default: the user of the exported run. */
  readonly user?: string | undefined;
}

const KEYS: OptionKeys<RunImportOptions> = keysOf<RunImportOptions>()({ id: true, user: true });

type Past = Pick<RunCall, 'given' | 'seed' | 'edits'>;

/** @throws see `Runs.import`. */
export async function importRun(
  tools: RunTools,
  given: unknown,
  options: RunImportOptions,
): Promise<RunHandle<unknown>> {
  checkOptions('runs.import', options, KEYS);
  const run = readRun(given);
  const { handles, maker } = tools;
  const { codec } = handles;
  const known = handles.graphs.ofGraph(run.graph);
  const input = run.input === undefined ? undefined : readable(codec, run.input, '$.input');
  const past =
    run.form === 'driven' ? drivenPast(codec, run, input) : givenNodes(codec, run, known);
  const edits = editsIn(codec, run, known);
  const { queue, level, cost, latest, maxSteps } = run.said;
  const versioning = latest === true ? 'latest' : undefined;
  const { id, user = run.user } = options;
  const settings = runSettings(tools, {
    ...{ id, user, queue, cost, priority: level, versioning, maxSteps },
  });
  return tracedEnqueue(tools, {
    name: run.name,
    queue: queue ?? maker.base.queue,
    options: run.options,
    send: (traced) => {
      const stored = { ...run.options, ...tracedOnly(traced) };
      const call: RunCall = {
        ...{ known, input, codec, base: maker.base, ...past, ...edits },
        settings: { ...settings, stored },
      };
      return submitCall(tools, call, run.form);
    },
  });
}

/** Checks that each edited input belongs to a node that accepts one. */
function editsIn(codec: ValueCodec, run: RunExport, known: KnownGraph): Pick<Past, 'edits'> {
  const { edits, form } = run;
  if (edits === undefined) return {};
  for (const [key, text] of Object.entries(edits)) {
    const path = `$.edits.${key}`;
    const isKnown =
      form === 'driven' ? /.#[1-9]\d*$/.test(key) : known.dispatch.byId.get(key)?.kind === 'task';
    if (!isKnown) throw new RunFormatError(path, 'is not a task of the graph');
    readable(codec, text, path);
  }
  return { edits };
}

/** Checks that the journal of a driven run fits its graph. */
function drivenPast(codec: ValueCodec, run: RunExport, input: unknown): Past {
  const { graph, journal: fields = {}, channels } = run;
  try {
    replay(codec, { graph, input, fields });
  } catch (error) {
    throw new RunFormatError('$.journal', `cannot be read: ${messageOf(error)}`);
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('m:')) readable(codec, value, `$.journal.${name}`);
    else if (!/^[ng]:/.test(name)) throw new RunFormatError(`$.journal.${name}`, 'is unknown');
  }
  return { seed: channels === undefined ? { fields } : { fields, channels } };
}

/** Finished nodes become tasks that return their results at once. */
function givenNodes(codec: ValueCodec, run: RunExport, known: KnownGraph): Past {
  if (known.plan.form !== 'dispatched') {
    throw new RunFormatError('$.form', 'is dispatched, but the graph requires a driven run');
  }
  if (run.channels !== undefined) {
    throw new RunFormatError('$.channels', 'are not possible in a dispatched run');
  }
  const given = new Map<string, string>();
  const left = leftOut(run.graph);
  for (const [at, { node, state, result }] of run.nodes.entries()) {
    const path = `$.nodes[${at}]`;
    const task = known.dispatch.byId.get(node);
    if (left.has(node)) continue;
    if (task?.plan === undefined) throw new RunFormatError(`${path}.node`, 'is not in the graph');
    if (state !== 'finished' || task.kind === 'join') continue;
    if (result === undefined) throw new RunFormatError(`${path}.result`, 'is missing');
    readable(codec, result, `${path}.result`);
    given.set(node, result);
  }
  return { given };
}

function readable(codec: ValueCodec, value: string, path: string): unknown {
  try {
    return codec.read(value);
  } catch (error) {
    throw new RunFormatError(path, `cannot be read: ${messageOf(error)}`);
  }
}
