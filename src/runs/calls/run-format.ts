/**
 * The JSON format of `loom.runs.export` and `loom.runs.import`. Values of users are texts as the
 * codec wrote them, so that they are restored exactly.
 */
import { isRecord } from '../../base/records.ts';
import { isOwn, RunFormatError } from '../../domain/errors/errors.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import { LEVELS, TASK_STATES, type TaskState } from '../../domain/task/task.ts';
import { isTraceparent, type StoredOptions } from '../../enqueue/enqueue-options.ts';
import { isBackoff } from '../../enqueue/stored-options.ts';
import type { TaskGraph } from '../../graph/graph.ts';
import { readGraph } from '../../graph/graph-text.ts';
import { graphTextOf } from '../known-graph.ts';
import { type SaidPlace, sha256 } from '../record.ts';
import type { RunNodeState } from '../run-info.ts';
import { RUN_FORMS, type RunForm } from '../run-options.ts';

/** The newest version; readers accept older ones. */
const RUN_VERSION = 2;

/** A run that uses no feature of version 2 is written in version 1. */
export function runVersion(graph: TaskGraph, edits: RunExport['edits'] | undefined): number {
  return edits === undefined && graph.start === undefined ? 1 : RUN_VERSION;
}

/** One run as JSON; see `docs/guide/workflows.md`. */
export interface RunExport {
  /** Type tag. */
  readonly format: 'fairloom-run';
  /** Version of the format; a reader refuses newer ones. */
  readonly version: number;
  /** Id of the run. */
  readonly id: string;
  /** Name of its pipeline. */
  readonly name: string;
  /** Its form. */
  readonly form: RunForm;
  /** Its state at the export; informative. */
  readonly state: TaskState;
  /** User of its tasks. */
  readonly user: string;
  /** Options of its enqueue that apply to all its tasks. */
  readonly said: SaidPlace;
  /** Options of its enqueue for attempts, trace and checkpoints. */
  readonly options: StoredOptions & {
    /** For a driven run: see `RunEnqueueOptions`; absent: after every node. */
    readonly checkpoint?: 'node' | 'group';
  };
  /** SHA-256 of the graph. */
  readonly graphHash: string;
  /** Its graph. */
  readonly graph: TaskGraph;
  /** Input of the run, as the codec wrote it; absent for `undefined`. */
  readonly input?: string;
  /**
   * From version 2 on: edited inputs of nodes, as the codec wrote them; the key is the node, in a
   * driven run node and visit, as `total#1`.
   */
  readonly edits?: Readonly<Record<string, string>>;
  /** Its nodes, without joins. */
  readonly nodes: readonly ExportedNode[];
  /** For a driven run: the part of its journal from which another run can continue. */
  readonly journal?: Readonly<Record<string, string>>;
  /** Values of its channels, by channel and key. */
  readonly channels?: Readonly<Record<string, string>>;
}

/** One node of an exported run. */
export interface ExportedNode {
  /** Name of the node in the graph. */
  readonly node: string;
  /** State of the node. */
  readonly state: RunNodeState;
  /** For a finished node of a dispatched run: its output, as the codec wrote it. */
  readonly result?: string;
}

/**
 * Reads an exported run, given as an object or as text. Checks everything except whether its values
 * can be decoded.
 *
 * @throws {@link RunFormatError}.
 */
export function readRun(given: unknown): RunExport {
  const run = object(typeof given === 'string' ? parsed(given) : given, '$');
  if (run['format'] !== 'fairloom-run') throw new RunFormatError('$.format', 'is not fairloom-run');
  const { version } = run;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new RunFormatError('$.version', 'is not a version');
  }
  if (version > RUN_VERSION) {
    throw new RunFormatError('$.version', `is ${version}; this version reads ${RUN_VERSION}`);
  }
  oneOf(run['form'], RUN_FORMS, '$.form');
  oneOf(run['state'], TASK_STATES, '$.state');
  for (const key of ['id', 'name', 'user']) named(run[key], `$.${key}`);
  if (run['input'] !== undefined) text(run['input'], '$.input');
  for (const key of ['journal', 'channels', 'edits']) {
    if (run[key] !== undefined) texts(run[key], `$.${key}`);
  }
  const graph = graphOf(run['graph'], run['graphHash']);
  checkOverrides(object(run['said'], '$.said'));
  checkOptions(object(run['options'], '$.options'));
  checkNodes(run['nodes']);
  return { ...(run as unknown as RunExport), graph };
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new RunFormatError('$', 'is not JSON');
  }
}

function graphOf(value: unknown, hash: unknown): TaskGraph {
  let graph: TaskGraph;
  let own: string;
  try {
    const written = graphTextOf(object(value, '$.graph'));
    graph = readGraph(written);
    own = sha256(written);
  } catch (error) {
    if (isOwn(error, 'RUN_FORMAT')) throw error;
    const problem = error instanceof Error ? error.message : 'cannot be read';
    throw new RunFormatError('$.graph', `is not a graph: ${problem}`);
  }
  if (own !== hash) throw new RunFormatError('$.graphHash', 'is not that of the graph');
  return graph;
}

function checkOverrides({ queue, level, cost, latest, maxSteps }: Fields): void {
  if (maxSteps !== undefined && !isStepCount(maxSteps)) {
    throw new RunFormatError('$.said.maxSteps', 'is not a number of steps');
  }
  if (latest !== undefined) oneOf(latest, [true], '$.said.latest');
  if (queue !== undefined) queueName(queue, '$.said.queue');
  if (level !== undefined) oneOf(level, LEVELS, '$.said.level');
  if (cost !== undefined && (typeof cost !== 'number' || !(cost > 0))) {
    throw new RunFormatError('$.said.cost', 'is not a cost');
  }
}

function isStepCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.runSteps;
}

/** Unreadable options of attempts would silently be replaced by those of the definitions. */
function checkOptions({ retries, timeoutMs, backoff, traceparent, checkpoint }: Fields): void {
  for (const [key, value] of Object.entries({ retries, timeoutMs })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 0)) {
      throw new RunFormatError(`$.options.${key}`, 'is not a whole number');
    }
  }
  if (backoff !== undefined && !isBackoff(backoff)) {
    throw new RunFormatError('$.options.backoff', 'is not a backoff');
  }
  if (traceparent !== undefined && !isTraceparent(traceparent)) {
    throw new RunFormatError('$.options.traceparent', 'is not a W3C traceparent');
  }
  if (checkpoint !== undefined) oneOf(checkpoint, ['node', 'group'], '$.options.checkpoint');
}

function checkNodes(value: unknown): void {
  if (!Array.isArray(value)) throw new RunFormatError('$.nodes', 'is not a list');
  const seen = new Set<unknown>();
  for (const [at, one] of value.entries()) {
    const path = `$.nodes[${at}]`;
    const { node, state, result } = object(one, path);
    text(node, `${path}.node`);
    if (seen.has(node)) throw new RunFormatError(`${path}.node`, 'is listed twice');
    seen.add(node);
    oneOf(state, NODE_STATES, `${path}.state`);
    if (result !== undefined) text(result, `${path}.result`);
  }
}

const NODE_STATES: readonly unknown[] = [...TASK_STATES, 'pending', 'skipped', 'gone'];

function object(value: unknown, path: string): Fields {
  if (isRecord(value) && !Array.isArray(value)) return value;
  throw new RunFormatError(path, 'is not an object');
}

function text(value: unknown, path: string): void {
  if (typeof value !== 'string') throw new RunFormatError(path, 'is not a text');
}

function texts(value: unknown, path: string): void {
  for (const [key, one] of Object.entries(object(value, path))) text(one, `${path}.${key}`);
}

function oneOf(value: unknown, allowed: readonly unknown[], path: string): void {
  if (!allowed.includes(value)) throw new RunFormatError(path, `is none of ${allowed.join(', ')}`);
}

function named(value: unknown, path: string): void {
  try {
    checkId(path, value);
  } catch {
    throw new RunFormatError(path, 'is not a name');
  }
}

function queueName(value: unknown, path: string): void {
  try {
    checkName(path, value);
  } catch {
    throw new RunFormatError(path, 'is not the name of a queue');
  }
}
