/** Fields of journals: those for outcomes, which other modules read too, and those for groups. */
import { givenUpField } from '../../domain/task/journal.ts';
import { readGraph } from '../../graph/graph-text.ts';
import { memberIds } from '../record.ts';
import type { NodeRecord } from './controls.ts';

/** A group whose members are stored. */
export interface OpenedGroup {
  /** The attempt of its producer: see {@link Journal.attempt}. */
  readonly attempt: string;
  /** How often it was opened before. */
  readonly epoch: number;
  /**
   * Token of the lease that opened it first. It is part of the ids of its members, so that members
   * of an earlier task with the same id are different ones.
   */
  readonly opener: string;
  /** SHA-256 of its members and their inputs. */
  readonly hash: string;
  /** For each member, if they differ: the epoch in which its task was stored. */
  readonly epochs?: readonly number[];
  /** When it times out, in ms since the epoch. */
  readonly dueAt?: number;
}

/** How a member ended the whole run: stored for its producer, since a canceled task has no result. */
export interface EarlyEnd {
  /** Output of the run. */
  readonly text: string;
}

/** Matches the field of an opened group, with the prefix before its name. */
const OPENED = /(?:^|\/)o:[^/]+$/;
const OPENED_CHARS = 'o:'.length;

/** Whether the field belongs to an opened group. */
export function isOpened(field: string): boolean {
  return OPENED.test(field);
}

/** The fields that mark a group of that task as abandoned, for its members. */
export function marksOf(
  taskId: string,
  field: string,
  { epoch, epochs = [], opener }: OpenedGroup,
): ReadonlySet<string> {
  const at = field.lastIndexOf('/') + 1;
  const hash = field.lastIndexOf('#');
  const path = `${field.slice(0, at)}${field.slice(at + OPENED_CHARS, hash)}`;
  const place = { runId: taskId, opener, path, visit: Number(field.slice(hash + 1)) };
  const all = new Set([epoch, ...epochs]);
  return new Set([...all].map((one) => givenUpField(memberIds({ ...place, epoch: one })(''))));
}

/** The field with the output that a member of a group had before this run. */
export function earlierOutputField(key: string, member: string): string {
  return `m:${key}/${member}`;
}

/** The outcome of a node in the fields of a journal. */
export function recordIn(
  get: (name: string) => string | undefined,
  key: string,
): NodeRecord | undefined {
  const text = get(`n:${key}`);
  if (text === undefined) return undefined;
  if (text.startsWith('o')) return { kind: 'output', text: text.slice(1) };
  const { kind, value, graph, target }: StoredControl = JSON.parse(text.slice(1));
  if (kind === 'terminate' || kind === 'again') return { kind, text: value };
  const known = readGraph(get(`g:${graph}`) ?? '');
  return kind === 'next'
    ? { kind, text: value, graph: known }
    : { kind, text: value, graph: known, target: target ?? '' };
}

/** How a member has ended its run, from its journal. */
export function earlyEndOf(fields: Readonly<Record<string, string>>): EarlyEnd | undefined {
  return earlyEndIn(fields[EARLY_END]);
}

/** How a member has ended its run, from the text of the field. */
export function earlyEndIn(text: string | undefined): EarlyEnd | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** A control that a handler returned, as stored. */
export interface StoredControl {
  readonly kind: Exclude<NodeRecord['kind'], 'output'>;
  readonly value: string;
  readonly graph?: string;
  readonly target?: string;
}

/** The field of {@link EarlyEnd}. */
export const EARLY_END = 'end';
