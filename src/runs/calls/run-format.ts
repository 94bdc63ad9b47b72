/**
 * A run as JSON: what `loom.runs.export` gives and `loom.runs.import` takes. Values of the user's
 * are texts as the codec wrote them, so that they come back as they were.
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

/** The newest version; older ones are read. */
const RUN_VERSION = 2;

/** A run without what version 2 has brought is written as before. */
export function runVersion(graph: TaskGraph, edits: RunExport['edits'] | undefined): number {
  return edits === undefined && graph.start === undefined ? 1 : RUN_VERSION;
}

/** One run as JSON; see `docs/guide/workflows.md`. */
export interface RunExport {
  /** Tells such a text from others. */
  readonly format: 'fairloom-run';
  /** Of this format; a reader refuses those that are newer than it. */
  readonly version: number;
  /** The run. */
  readonly id: string;
  /** The name of its pipeline. */
  readonly name: string;
  /** How it is carried out. */
  readonly form: RunForm;
  /** Where it stood, for people. */
  readonly state: TaskState;
  /** Whose turns its tasks take. */
  readonly user: string;
  /** What its enqueue said about the places of all its tasks. */
  readonly said: SaidPlace;
  /** What its enqueue said about attempts, its trace, and checkpoints. */
  readonly options: StoredOptions & {
    /** Of a driven run: as of `RunEnqueueOptions`; absent: after every node. */
    readonly checkpoint?: 'node' | 'group';
  };
  /** SHA-256 of the graph. */
  readonly graphHash: string;
  /** Its graph. */
  readonly graph: TaskGraph;
  /** What it was enqueued with, as the codec wrote it; absent for `undefined`. */
  readonly input?: string;
  /**
   * From version 2 on: inputs that nodes were given in place of their own, as the codec wrote them, by
   * node, in a driven run by node and visit as `total#1`.
   */
  readonly edits?: Readonly<Record<string, string>>;
  /** Its nodes, joins left out. */
  readonly nodes: readonly ExportedNode[];
  /** Of a driven run: what it has written down and another run may go on from. */
  readonly journal?: Readonly<Record<string, string>>;
  /** Values of its channels, by channel and key. */
  readonly channels?: Readonly<Record<string, string>>;
}

/** One node of an exported run. */
export interface ExportedNode {
  /** Its name in the graph. */
  readonly node: string;
  /** Where it stood. */
  readonly state: RunNodeState;
  /** Of a finished node of a dispatched run: what it gave, as the codec wrote it. */
  readonly result?: string;
}

/**
 * Reads an exported run, as an object or as text. Everything in it is checked, but not whether its
 * values can be read.
 *
 * @throws {@link RunFormatError}.
 */
export function readRun(given: unknown): RunExport {
  const run = object(typeof given === 'string' ? parsed(given) : given, '$');
  if (run['format'] !== 'fairloom-run') throw new RunFormatError('$.format', 'is not fairloom-run');
  const { version } = run;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new RunFormatError('$.version', 'is no version');
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
  checkSaid(object(run['said'], '$.said'));
  checkOptions(object(run['options'], '$.options'));
  checkNodes(run['nodes']);
  return { ...(run as unknown as RunExport), graph };
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new RunFormatError('$', 'is no JSON');
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
    throw new RunFormatError('$.graph', `is no graph: ${problem}`);
  }
  if (own !== hash) throw new RunFormatError('$.graphHash', 'is not that of the graph');
  return graph;
}

function checkSaid({ queue, level, cost, latest, maxSteps }: Fields): void {
  if (maxSteps !== undefined && !isStepCount(maxSteps)) {
    throw new RunFormatError('$.said.maxSteps', 'is no number of steps');
  }
  if (latest !== undefined) oneOf(latest, [true], '$.said.latest');
  if (queue !== undefined) queueName(queue, '$.said.queue');
  if (level !== undefined) oneOf(level, LEVELS, '$.said.level');
  if (cost !== undefined && (typeof cost !== 'number' || !(cost > 0))) {
    throw new RunFormatError('$.said.cost', 'is no cost');
  }
}

function isStepCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.runSteps;
}

/** Options of attempts that cannot be read would silently be those of the definitions. */
function checkOptions({ retries, timeoutMs, backoff, traceparent, checkpoint }: Fields): void {
  for (const [key, value] of Object.entries({ retries, timeoutMs })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 0)) {
      throw new RunFormatError(`$.options.${key}`, 'is no whole number');
    }
  }
  if (backoff !== undefined && !isBackoff(backoff)) {
    throw new RunFormatError('$.options.backoff', 'is no backoff');
  }
  if (traceparent !== undefined && !isTraceparent(traceparent)) {
    throw new RunFormatError('$.options.traceparent', 'is no W3C traceparent');
  }
  if (checkpoint !== undefined) oneOf(checkpoint, ['node', 'group'], '$.options.checkpoint');
}

function checkNodes(value: unknown): void {
  if (!Array.isArray(value)) throw new RunFormatError('$.nodes', 'is no list');
  const seen = new Set<unknown>();
  for (const [at, one] of value.entries()) {
    const path = `$.nodes[${at}]`;
    const { node, state, result } = object(one, path);
    text(node, `${path}.node`);
    if (seen.has(node)) throw new RunFormatError(`${path}.node`, 'is there twice');
    seen.add(node);
    oneOf(state, NODE_STATES, `${path}.state`);
    if (result !== undefined) text(result, `${path}.result`);
  }
}

const NODE_STATES: readonly unknown[] = [...TASK_STATES, 'pending', 'skipped', 'gone'];

function object(value: unknown, path: string): Fields {
  if (isRecord(value) && !Array.isArray(value)) return value;
  throw new RunFormatError(path, 'is no object');
}

function text(value: unknown, path: string): void {
  if (typeof value !== 'string') throw new RunFormatError(path, 'is no text');
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
    throw new RunFormatError(path, 'is no name');
  }
}

function queueName(value: unknown, path: string): void {
  try {
    checkName(path, value);
  } catch {
    throw new RunFormatError(path, 'is no name of a queue');
  }
}
