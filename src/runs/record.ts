/**
 * How runs stand in the store: names of tasks of the engine's own, ids that follow from what they
 * stand for, and what such tasks carry. Storing the same run or group again gives the same ids.
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

/** The join that is a dispatched run: it ends when all its nodes have. */
export const RUN_TASK = '~run';

/** Stands between nodes; never leased. */
export const JOIN_TASK = '~join';

/** Where a group with a lenient policy ends; any worker decides it. */
export const GROUP_TASK = '~group';

/** A driven run, or a member of a group that is more than one plain task. */
export const DRIVE_TASK = '~drive';

/** A node or member that has finished in another run: it gives what that gave. */
export const GIVEN_TASK = '~given';

/** A change of many tasks, which a worker carries out. */
export const BULK_TASK = '~bulk';

/** The payload of a node whose input its worker builds. */
export const LATE_PAYLOAD = 'null';

/** Hexadecimal digits of an id that is made of a hash: 128 bits. */
const ID_DIGITS = 32;

/**
 * What the ids of a dispatched run's nodes are made of: its own id, and its number among the runs of
 * that id of which something may still be stored. No id holds the end of a line.
 */
export function nodeScope({ id, turn = 0 }: Pick<RunPlace, 'id' | 'turn'>): string {
  return turn === 0 ? id : `${id}\n${turn}`;
}

/** The id of the task that is a node of a dispatched run, by {@link nodeScope}. */
export function nodeTaskId(scope: string, node: string): string {
  return `~r.${digest(`${scope}\n${node}`)}`;
}

/** Whether an id is that of a part of a run: a node, a member, a join. No caller gives such ids. */
export function isPartId(id: string): boolean {
  return id.startsWith('~r.') || id.startsWith('~g.');
}

/** One member of a group of a driven run. */
export interface MemberPlace {
  readonly runId: string;
  /** Tells the run from an earlier one with its id: see `OpenedGroup`. */
  readonly opener: string;
  /** Where the group stands. */
  readonly path: string;
  /** How often it was come to before. */
  readonly visit: number;
  /** How often the group was opened before this member was stored. */
  readonly epoch: number;
  readonly member: string;
}

/** Member keys that stand in ids as they are. */
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

/** Which run a task belongs to, and as what: the field `run` of its stored options. */
export interface RunPlace {
  readonly id: string;
  /** Hash of the graph. */
  readonly graph: string;
  /** The node's id, or the member's path; empty for the run itself. */
  readonly node: string;
  /** Of the run itself: the name of its pipeline. */
  readonly name?: string;
  /** The worker builds its input. */
  readonly late?: true;
  /** Scopes of the runs whose results it goes on from, the newest first; see {@link nodeScope}. */
  readonly past?: readonly string[];
  /** Of a dispatched run: how many runs of its id have left something behind. Absent: none. */
  readonly turn?: number;
  /** Of a node that has been given another input after it had failed: {@link editMark} of that. */
  readonly edited?: string;
  /** Of the run itself: the run of which it is a fork. */
  readonly forkedFrom?: string;
  /** Of the run itself: what its enqueue said of all its tasks; of a node what its handler has to know of that. */
  readonly said?: SaidPlace;
}

/** What goes before the definitions of nodes. */
export interface SaidPlace {
  /** The queue of nodes that name none. */
  readonly queue?: string;
  /** Their priority, 1 to 6. */
  readonly level?: Level;
  /** What a turn of theirs costs. */
  readonly cost?: number;
  /** They keep no version: each goes on with the newest. */
  readonly latest?: true;
  /** Tasks and groups that a walk of it may come to; see `RunEnqueueOptions.maxSteps`. */
  readonly maxSteps?: number;
}

/** The name of a task that walks a block: left to workers with the first code that it keeps. */
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

/** The run that a task belongs to; `undefined` when it stands alone. */
export function runPlaceOf(storedOptions: string): RunPlace | undefined {
  // Most tasks stand alone, and their options are not worth reading.
  if (!storedOptions.includes('"run"')) return undefined;
  try {
    const options: unknown = JSON.parse(storedOptions);
    const run = isObject(options) ? options['run'] : undefined;
    return isRunPlace(run) ? run : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a task is a run itself, and no part of one. */
export function isRun({
  name,
  options,
}: {
  readonly name: string;
  readonly options: string;
}): boolean {
  return (name === RUN_TASK || isDrive(name)) && runPlaceOf(options)?.node === '';
}

/** The options of attempts that stand beside the run's place. */
export function storedOptionsOf(storedOptions: string): StoredOptions {
  const { run: _place, ...options } = JSON.parse(storedOptions) as Record<string, unknown>;
  return options;
}

/** What a driven run goes on from: what another one has written down. */
export interface Seed {
  /** Of its journal. */
  readonly fields: Readonly<Record<string, string>>;
  /** Of its channels. */
  readonly channels?: Readonly<Record<string, string>>;
}

/**
 * Inputs that people gave to nodes in place of their own, as texts of the codec: by node in a
 * dispatched run, by node and visit (`node#visit`) in a driven one.
 */
export type Edits = Readonly<Record<string, string>>;

/** What a run's own task says. */
export interface RunGiven {
  readonly input: unknown;
  /** What it goes on from, if it does. */
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

/** @throws {@link InvalidPayloadError} when the text is not what {@link runPayload} wrote. */
export function runGivenOf(codec: ValueCodec, payload: string): RunGiven {
  // Fields of seeds and edits are texts: they were checked when the run was stored.
  const { input, seed, edits } = fieldsOf(codec, payload) as Fields & Omit<RunGiven, 'input'>;
  return { input, seed, edits };
}

/** The input of a run alone. @throws as {@link runGivenOf}. */
export function runInputOf(codec: ValueCodec, payload: string): unknown {
  return fieldsOf(codec, payload)['input'];
}

/** The edited input of a node, as text. */
export function editOf(edits: Edits | undefined, key: string): string | undefined {
  return edits !== undefined && Object.hasOwn(edits, key) ? edits[key] : undefined;
}

/** Tells one edited input from another: what its handler has written down for another one is forgotten. */
export function editMark(text: string): string {
  return sha256(text).slice(0, EDIT_MARK);
}

/** Hexadecimal digits. The marks of one node must differ; users do not choose them. */
const EDIT_MARK = 16;

/** The payload of a member that is driven. */
export interface DrivenMember {
  /** Where in the graph it stands. */
  readonly path: string;
  readonly input: unknown;
}

/** The payload of a `~drive` task that is a member. */
export function memberPayload(codec: ValueCodec, { path, input }: DrivenMember): string {
  return codec.payload(DRIVE_TASK, input === undefined ? { path } : { path, input });
}

/** The member that a `~drive` task is; `undefined` when it is a whole run. */
export function drivenMemberOf(codec: ValueCodec, payload: string): DrivenMember | undefined {
  const { path, input } = fieldsOf(codec, payload);
  return typeof path === 'string' ? { path, input } : undefined;
}

/** SHA-256 as 64 hexadecimal digits: the name of a graph is that of its text. */
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
  throw new InvalidPayloadError('$', 'is no input of a run');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isRunPlace(value: unknown): value is RunPlace {
  if (!isObject(value)) return false;
  return ['id', 'graph', 'node'].every((key) => typeof value[key] === 'string');
}
