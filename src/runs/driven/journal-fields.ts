/** Fields of journals: those of what has come about, which others read too, and those of groups. */
import { givenUpField } from '../../domain/task/journal.ts';
import { readGraph } from '../../graph/graph-text.ts';
import { memberIds } from '../record.ts';
import type { NodeRecord } from './controls.ts';

/** A group that members were stored for. */
export interface OpenedGroup {
  /** In which attempt of its producer: see {@link Journal.attempt}. */
  readonly attempt: string;
  /** How often it was opened before. */
  readonly epoch: number;
  /**
   * Token of the lease that opened it first. It stands in the ids of its members, so that what an
   * earlier task of the same id has left behind is not taken for them.
   */
  readonly opener: string;
  /** SHA-256 of its members and their inputs. */
  readonly hash: string;
  /** Of each member, when they differ: the epoch in which its task was stored. */
  readonly epochs?: readonly number[];
  /** When its time is up, in ms since the epoch. */
  readonly dueAt?: number;
}

/** What a member did to the whole run: kept for its producer, since a canceled task has no result. */
export interface EarlyEnd {
  /** What the run is to give. */
  readonly text: string;
}

/** A field that says that a group was opened, and how long what stands before its name is. */
const OPENED = /(?:^|\/)o:[^/]+$/;
const OPENED_CHARS = 'o:'.length;

/** Whether a field says that a group was opened. */
export function isOpened(field: string): boolean {
  return OPENED.test(field);
}

/** The fields that say of the members of a group of that task that it was given up. */
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

/** The field with what a member of a group gave before the run. */
export function givenField(key: string, member: string): string {
  return `m:${key}/${member}`;
}

/** The outcome of a node, by the fields of a journal. */
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

/** How a member has ended its run, by its journal. */
export function earlyEndOf(fields: Readonly<Record<string, string>>): EarlyEnd | undefined {
  return earlyEndIn(fields[EARLY_END]);
}

/** The same, by the text of the field that says so. */
export function earlyEndIn(text: string | undefined): EarlyEnd | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** What a handler has chosen, as it is written down. */
export interface StoredControl {
  readonly kind: Exclude<NodeRecord['kind'], 'output'>;
  readonly value: string;
  readonly graph?: string;
  readonly target?: string;
}

/** The field that says how a member has ended its run. */
export const EARLY_END = 'end';
