/**
 * Runs in the store: names, ids and payloads of the engine's tasks. Ids are derived from what they
 * identify, so storing the same run or group again gives the same ids.
 */
import { createHash } from 'node:crypto';
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidPayloadError, isOwn } from '../domain/errors/errors.ts';
import { GROUP_CHARS } from '../domain/task/journal.ts';
import type { Level } from '../domain/task/task.ts';
import { nameIn, ownNameFor } from '../domain/task/task-name.ts';
import type { StoredOptions } from '../enqueue/enqueue-options.ts';
import type { GraphBlock } from '../graph/graph.ts';
import { codeKept } from '../graph/node-code.ts';

/** The task of a dispatched run: a join that ends when all its nodes have ended. */
export const RUN_TASK = '~run';

/** A join between nodes; never leased. */
export const JOIN_TASK = '~join';

/** The end of a lenient group; any worker decides it. */
export const GROUP_TASK = '~group';

/** A driven run, or a member of a group that is more than one plain task. */
export const DRIVE_TASK = '~drive';

/** A node or member that has finished in another run: it returns the result from there. */
export const GIVEN_TASK = '~given';

/** A bulk action, which a worker carries out. */
export const BULK_TASK = '~bulk';

/** The payload of a node whose input its worker builds. */
export const LATE_PAYLOAD = 'null';

/** Hexadecimal digits of an id derived from a hash: 128 bits. */
const ID_DIGITS = 32;

/**
 * The scope of the ids of a dispatched run's nodes: its own id, and its turn among runs with that id
 * whose nodes may still be stored. Ids contain no line breaks.
 */
export function nodeScope({ id, turn = 0 }: Pick<RunPlace, 'id' | 'turn'>): string {
  return turn === 0 ? id : `${id}\n${turn}`;
}

/** The id of a dispatched run's node, by {@link nodeScope}. */
export function nodeTaskId(scope: string, node: string): string {
  return `~r.${digest(`${scope}\n${node}`)}`;
}

/**
 * Whether an id is that of a part of a run: a node, a member or a join. Callers use no such ids.
 */
export function isPartId(id: string): boolean {
  return id.startsWith('~r.') || id.startsWith('~g.');
}

/** One member of a group of a driven run. */
export interface MemberPlace {
  readonly runId: string;
  /** Distinguishes the run from an earlier one with its id: see `OpenedGroup`. */
  readonly opener: string;
  /** Path of the group. */
  readonly path: string;
  /** Number of earlier visits of the group. */
  readonly visit: number;
  /** How often the group was opened before this member was stored. */
  readonly epoch: number;
  readonly member: string;
}

/** Keys of members that are contained in ids unchanged. */
const SHORT_KEY = /^[\w-]{1,40}$/;

/** The ids of the tasks that are members of a group: one hash for all of them. */
export function memberIds({
  runId,
  opener,
  path,
  visit,
  epoch,
}: Omit<MemberPlace, 'member'>): (member: string) => string {
  const place = `${runId}\n${opener}\n${path}\n${visit}\n${epoch}`;
  const group = createHash('sha256').update(place).digest('base64url').slice(0, GROUP_CHARS);
  return (member) => {
    if (SHORT_KEY.test(member)) return `~g.${group}.${member}`;
    return `~g.${group}:${digest(member)}`;
  };
}

/** The id of the task that is a member of a group. */
export function memberTaskId({ member, ...group }: MemberPlace): string {
  return memberIds(group)(member);
}

/** The run of a task, and its part in it: the field `run` of its stored options. */
export interface RunPlace {
  readonly id: string;
  /** Hash of the graph. */
  readonly graph: string;
  /** Id of the node, or path of the member; empty for the run itself. */
  readonly node: string;
  /** For the run itself: the name of its pipeline. */
  readonly name?: string;
  /** The worker builds its input. */
  readonly late?: true;
  /** Scopes of the runs whose results it uses, the newest first; see {@link nodeScope}. */
  readonly past?: readonly string[];
  /** For a dispatched run: number of runs of its id with stored nodes. Absent: 0. */
  readonly turn?: number;
  /** For a node with an edited input: {@link editMark} of that input. */
  readonly edited?: string;
  /** For the run itself: the run of which it is a fork. */
  readonly forkedFrom?: string;
  /** For the run itself: options for all its tasks; for a node: those that its handler needs. */
  readonly said?: SaidPlace;
}

/** Options of an enqueue that override the definitions of nodes. */
export interface SaidPlace {
  /** The queue of nodes without one. */
  readonly queue?: string;
  /** Their priority, 1 to 6. */
  readonly level?: Level;
  /** Their cost in turns. */
  readonly cost?: number;
  /** They keep no version: each runs with the newest. */
  readonly latest?: true;
  /** Limit of executed tasks and groups in a walk; see `RunEnqueueOptions.maxSteps`. */
  readonly maxSteps?: number;
}

/** The name of a task that walks a block: workers with the first versioned code in it lease it. */
export function driveTaskFor(block: GraphBlock, said: SaidPlace | undefined): string {
  const [code] = codeKept(block, said);
  return ownNameFor(DRIVE_TASK, code);
}

/** Whether a worker walks a graph for the task. */
export function isDrive(name: string): boolean {
  return nameIn(name) === DRIVE_TASK;
}

/** Stored options of a task that belongs to a run. */
export function runOptions(options: StoredOptions, run: RunPlace): string {
  return JSON.stringify({ ...options, run });
}

/** The run of a task; `undefined` for a task outside a run. */
export function runPlaceOf(storedOptions: string): RunPlace | undefined {
  // Most tasks are outside runs: parsing their options is avoided.
  if (!storedOptions.includes('"run"')) return undefined;
  try {
    const options: unknown = JSON.parse(storedOptions);
    const run = isObject(options) ? options['run'] : undefined;
    return isRunPlace(run) ? run : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a task is a run itself, not a part of one. */
export function isRun({
  name,
  options,
}: {
  readonly name: string;
  readonly options: string;
}): boolean {
  return (name === RUN_TASK || isDrive(name)) && runPlaceOf(options)?.node === '';
}

/** The options of attempts, without the run's place. */
export function storedOptionsOf(storedOptions: string): StoredOptions {
  const { run: _place, ...options } = JSON.parse(storedOptions) as Record<string, unknown>;
  return options;
}

/** Entries of another run's journal from which a driven run continues. */
export interface Seed {
  /** Fields of the journal. */
  readonly fields: Readonly<Record<string, string>>;
  /** Values of channels. */
  readonly channels?: Readonly<Record<string, string>>;
}

/**
 * Edited inputs of nodes, as texts of the codec: by node in a dispatched run, by node and visit
 * (`node#visit`) in a driven one.
 */
export type Edits = Readonly<Record<string, string>>;

/** The payload of a run's own task, decoded. */
export interface RunGiven {
  readonly input: unknown;
  /** Absent: it starts from its beginning. */
  readonly seed?: Seed | undefined;
  /** Absent: no edits. */
  readonly edits?: Edits | undefined;
}

/** The payload of a run's own task. */
export function runPayload(codec: ValueCodec, { input, seed, edits }: RunGiven): string {
  return codec.payload(RUN_TASK, {
    ...(input === undefined ? {} : { input }),
    ...(seed === undefined ? {} : { seed }),
    ...(edits === undefined || Object.keys(edits).length === 0 ? {} : { edits }),
  });
}

/** @throws {@link InvalidPayloadError} when the text was not written by {@link runPayload}. */
export function runGivenOf(codec: ValueCodec, payload: string): RunGiven {
  // Fields of seeds and edits are texts: they were checked when the run was stored.
  const { input, seed, edits } = fieldsOf(codec, payload) as Fields & Omit<RunGiven, 'input'>;
  return { input, seed, edits };
}

/** The input of a run only. @throws as {@link runGivenOf}. */
export function runInputOf(codec: ValueCodec, payload: string): unknown {
  return fieldsOf(codec, payload)['input'];
}

/** The edited input of a node, as text. */
export function editOf(edits: Edits | undefined, key: string): string | undefined {
  return edits !== undefined && Object.hasOwn(edits, key) ? edits[key] : undefined;
}

/** Identifies an edited input: journal entries of a handler for another one are dropped. */
export function editMark(text: string): string {
  return sha256(text).slice(0, EDIT_MARK);
}

/** Hexadecimal digits. The marks of one node must differ; users do not choose them. */
const EDIT_MARK = 16;

/** The payload of a driven member. */
export interface DrivenMember {
  /** Path in the graph. */
  readonly path: string;
  readonly input: unknown;
}

/** The payload of a `~drive` task that is a member. */
export function memberPayload(codec: ValueCodec, { path, input }: DrivenMember): string {
  return codec.payload(DRIVE_TASK, input === undefined ? { path } : { path, input });
}

/** The member of a `~drive` task; `undefined` for a whole run. */
export function drivenMemberOf(codec: ValueCodec, payload: string): DrivenMember | undefined {
  const { path, input } = fieldsOf(codec, payload);
  return typeof path === 'string' ? { path, input } : undefined;
}

/** SHA-256 as 64 hexadecimal digits: the name of a graph is the hash of its text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function digest(text: string): string {
  return sha256(text).slice(0, ID_DIGITS);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(codec: ValueCodec, payload: string): Fields {
  let value: unknown;
  try {
    value = codec.read(payload);
  } catch (error) {
    if (isOwn(error, 'DECRYPTION_FAILED')) throw error;
    throw new InvalidPayloadError('$', 'cannot be read');
  }
  if (isObject(value)) return value;
  throw new InvalidPayloadError('$', 'is not the input of a run');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isRunPlace(value: unknown): value is RunPlace {
  if (!isObject(value)) return false;
  return ['id', 'graph', 'node'].every((key) => typeof value[key] === 'string');
}
