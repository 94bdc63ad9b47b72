import type { Tries } from '../../attempt/attempt-context.ts';
import type { OwnLease } from '../../attempt/own-lease.ts';
import { impossible } from '../../base/never.ts';
import { TaskCanceledError } from '../../domain/errors/errors.ts';
import type { Backend, CheckpointReply, NodeWrites } from '../../domain/port/backend.ts';
import { refOf } from '../../domain/port/leasing.ts';
import type { ChannelRefusal } from '../../domain/task/channel.ts';
import { REDRIVES } from '../../domain/task/journal.ts';
import { ANSWER, readAnswer, type WaitAnswer } from '../../domain/task/wait.ts';
import type { GraphCache } from '../graph-cache.ts';
import type { NodeRecord } from './controls.ts';
import {
  EARLY_END,
  type EarlyEnd,
  earlierOutputField,
  earlyEndIn,
  isOpened,
  marksOf,
  type OpenedGroup,
  recordIn,
  type StoredControl,
} from './journal-fields.ts';

/** The lease that writes the journal. */
type JournalHolder = Pick<OwnLease, 'lease' | 'interrupt' | 'openGroups'>;

interface JournalParts {
  readonly backend: Backend;
  /** Its lease may change during a wait. */
  readonly holder: JournalHolder;
  readonly graphs: GraphCache;
  /** Prefix of every field: runs of one handler share the journal of its task. */
  readonly prefix: string;
  /** Wraps every call of the backend: repeats it during outages. */
  readonly persist: <T>(call: () => Promise<T>) => Promise<T>;
}

/** The lease has ended: the worker must stop this work. */
export class JournalLost extends Error {
  override readonly name = 'JournalLost';
  /** A handler that rethrows it is not called again. */
  readonly code = 'FATAL';
}

/**
 * The stored progress of a run. Fields: `n:` outcome of a node, `g:` graph that a handler returned, `t:` tries
 * of a node, `o:` an opened group, `d:` an abandoned group, by the mark in the ids of its members, `end` how a
 * member ended its run, `x:` how long no worker has had a node's code, `m:` output of a member from an earlier
 * run, `seeded` entries of another run are stored, `e:` edited input of a node; for calls of a handler `h` and
 * `r` the call and its result, `b` number of redrives when a wait began, `l` attempt in which the handler has
 * logged before, `v` version of the handler, if it may change. New values are buffered until
 * {@link RunJournal.flush}.
 */
export class RunJournal {
  /**
   * The attempt that writes it. A failure counts within its attempt only, a finished step in all. It
   * contains the number of redrives, since a redrive resets the number of the attempt.
   */
  readonly attempt: string;
  readonly #parts: JournalParts;
  readonly #store: Store;

  private constructor(parts: JournalParts, store: Store, attempt: string) {
    this.attempt = attempt;
    this.#parts = parts;
    this.#store = store;
  }

  static of(parts: JournalParts, fields: Readonly<Record<string, string>>): RunJournal {
    const names = Object.keys(fields).filter((name) => name.startsWith(ANSWER));
    const store = {
      fields: new Map(Object.entries(fields)),
      answers: new Map(names.map(answerPlace)),
      open: new Set(Object.keys(fields).filter(isOpened)),
      fresh: new Map(),
      writing: Promise.resolve(),
      isPaused: parts.holder.lease.paused === true,
    };
    return new RunJournal(parts, store, `${fields[REDRIVES] ?? 0}.${parts.holder.lease.attempt}`);
  }

  /** The journal of another run in it, whose handler is at the attempt `within`. */
  under(prefix: string, within: string): RunJournal {
    const parts = { ...this.#parts, prefix: `${this.#parts.prefix}${prefix}` };
    return new RunJournal(parts, this.#store, `${this.attempt}${within}`);
  }

  /** Whether no other process has changed the fields; answers do not count, and are copied. */
  matches(fields: Readonly<Record<string, string>>): boolean {
    const { fields: known, answers } = this.#store;
    for (const [name, text] of Object.entries(fields)) {
      if (!name.startsWith(ANSWER)) continue;
      known.set(name, text);
      answers.set(...answerPlace(name));
    }
    const names = Object.keys(fields);
    return names.length === known.size && names.every((name) => known.get(name) === fields[name]);
  }

  /** The field for the answer of a wait; `mark` identifies the wait and has no slash. */
  answerField(mark: string): string {
    return `${ANSWER}${this.#parts.prefix}${mark}`;
  }

  /** The answer of the wait with this mark, once it is over. */
  answer(mark: string): WaitAnswer | undefined {
    const text = this.#store.fields.get(this.answerField(mark));
    return text === undefined ? undefined : readAnswer(text);
  }

  /** Removes the answer of the wait with this mark, which has to be repeated. */
  dropAnswer(mark: string): void {
    const { answers, fields, fresh } = this.#store;
    const field = this.answerField(mark);
    fields.delete(field);
    fresh.set(field, null);
    answers.delete(answerPlace(field)[0]);
  }

  /** How often its task was redriven, as text. */
  get redrives(): string {
    return this.attempt.slice(0, this.attempt.indexOf('.'));
  }

  /** The mark of the answered wait of this call. */
  get answered(): string | undefined {
    return this.#store.answers.get(`${ANSWER}${this.#parts.prefix}`);
  }

  record(key: string): NodeRecord | undefined {
    return recordIn((name) => this.#get(name), key);
  }

  /** The output of a group's member from an earlier run, as text. */
  earlierOutput(key: string, member: string): string | undefined {
    return this.#get(earlierOutputField(key, member));
  }

  /** Copies the entries of another run, once. */
  adopt(fields: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(fields)) this.#set(name, value);
  }

  note(key: string, record: NodeRecord): void {
    this.#set(`t:${key}`, null);
    this.#set(`o:${key}`, null);
    this.noteEnded(key);
    this.#set(`x:${key}`, null);
    const { kind, text } = record;
    if (kind === 'output') {
      this.#set(`n:${key}`, `o${text}`);
      return;
    }
    const stored: StoredControl = { kind, value: text };
    if (kind === 'next' || kind === 'goto') {
      const known = this.#parts.graphs.ofGraph(record.graph);
      if (this.#get(`g:${known.hash}`) === undefined) this.#set(`g:${known.hash}`, known.text);
      const target = kind === 'goto' ? { target: record.target } : {};
      this.#set(`n:${key}`, `c${JSON.stringify({ ...stored, graph: known.hash, ...target })}`);
    } else this.#set(`n:${key}`, `c${JSON.stringify(stored)}`);
  }

  tries(key: string): Tries {
    const text = this.#get(`t:${key}`);
    if (text === undefined) return NO_TRIES;
    const { attempt, ...tries }: StoredTries = JSON.parse(text);
    return attempt === this.attempt ? tries : NO_TRIES;
  }

  noteTries(key: string, { failures, releases }: Tries): void {
    const stored: StoredTries = { attempt: this.attempt, failures, releases };
    this.#set(`t:${key}`, JSON.stringify(stored));
  }

  opened(key: string): OpenedGroup | undefined {
    const text = this.#get(`o:${key}`);
    return text === undefined ? undefined : JSON.parse(text);
  }

  noteOpened(key: string, group: OpenedGroup): void {
    const taskId = this.#parts.holder.lease.id;
    this.#set(`o:${key}`, JSON.stringify(group));
    for (const mark of marksOf(taskId, this.openField(key), group)) this.#write(mark, null);
    this.#store.open.add(this.openField(key));
  }

  /** The field of an opened group. */
  openField(key: string): string {
    return `${this.#parts.prefix}o:${key}`;
  }

  /** Records that all members of the group have ended. */
  noteEnded(key: string): void {
    this.#store.open.delete(this.openField(key));
  }

  /**
   * Abandons groups under this prefix: after the next {@link RunJournal.flush} no member of theirs starts.
   *
   * @returns a function that cancels their members, to call after the flush; `undefined` without such groups.
   */
  abandonGroups(start: string): (() => Promise<void>) | undefined {
    const { open, fields } = this.#store;
    if (open.size === 0) return undefined;
    const { openGroups, lease } = this.#parts.holder;
    const prefix = `${this.#parts.prefix}${start}`;
    const ends: (() => Promise<void>)[] = [];
    for (const field of [...open].filter((name) => name.startsWith(prefix))) {
      open.delete(field);
      const opened = JSON.parse(fields.get(field) ?? impossible(`${field} was not opened`));
      for (const mark of marksOf(lease.id, field, opened)) this.#write(mark, '1');
      ends.push(openGroups.get(field) ?? noMembers);
      openGroups.delete(field);
    }
    if (ends.length === 0) return undefined;
    return async () => {
      for (const end of ends) await end();
    };
  }

  get earlyEnd(): EarlyEnd | undefined {
    return earlyEndIn(this.#get(EARLY_END));
  }

  noteEarlyEnd(end: EarlyEnd): void {
    this.#set(EARLY_END, JSON.stringify(end));
  }

  /** Keys of its handler's calls whose field of this name has this text. */
  callsWith(name: string, text: string): readonly string[] {
    const { prefix } = this.#parts;
    const keys: string[] = [];
    for (const [field, value] of this.#store.fields) {
      if (value !== text || !field.startsWith(prefix)) continue;
      const [key = '', last, ...deeper] = field.slice(prefix.length).split('/');
      if (last === name && deeper.length === 0) keys.push(key);
    }
    return keys;
  }

  /** Any other field, as text. */
  text(name: string): string | undefined {
    return this.#get(name);
  }

  noteText(name: string, value: string): void {
    this.#set(name, value);
  }

  /**
   * When the input (`mark`) differs from the one in the field `name`: removes all fields that begin with
   * `start`, and the answers of their waits.
   */
  begin(name: string, mark: string, start: string): void {
    if (this.#get(name) === mark) return;
    this.#forget(start);
    this.#set(name, mark);
  }

  #forget(start: string): void {
    const field = `${this.#parts.prefix}${start}`;
    const { fields, answers, fresh } = this.#store;
    for (const name of [...fields.keys()]) {
      const isAnswer = name.startsWith(`${ANSWER}${field}`);
      if (!isAnswer && !name.startsWith(field)) continue;
      fields.delete(name);
      fresh.set(name, null);
      this.#store.open.delete(name);
      if (isAnswer) answers.delete(answerPlace(name)[0]);
    }
  }

  drop(name: string): void {
    this.#set(name, null);
  }

  /**
   * Stores new values.
   *
   * @throws {@link JournalLost} when the lease has ended; {@link TaskCanceledError} after a cancel
   * request: later outcomes are not stored.
   */
  async flush(): Promise<void> {
    const { fresh } = this.#store;
    if (fresh.size === 0) return;
    const entries = Object.fromEntries(fresh);
    fresh.clear();
    const { backend, holder, persist } = this.#parts;
    const answer = await persist(() => backend.runs.checkpoint(refOf(holder.lease), entries));
    this.#demand(answer);
  }

  /**
   * Stores the outcome of a node together with its writes: both or none.
   *
   * @returns why the writes were refused; the node is not stored then.
   * @throws as {@link RunJournal.flush}.
   */
  async noteWriting(
    key: string,
    record: NodeRecord,
    writes: Omit<NodeWrites, 'key'>,
  ): Promise<ChannelRefusal | undefined> {
    this.note(key, record);
    const field = `${this.#parts.prefix}n:${key}`;
    const { fields, fresh } = this.#store;
    const entries = Object.fromEntries(fresh);
    fresh.clear();
    const { backend, holder, persist } = this.#parts;
    // The store remembers only the newest writes of a lease, so calls must not overlap.
    const answer = await this.#inTurn(() =>
      persist(() => {
        const noted = { ...writes, key: field };
        return backend.runs.checkpoint(refOf(holder.lease), entries, noted);
      }),
    );
    const refusal = this.#demand(answer);
    if (refusal === undefined) return undefined;
    for (const [name, value] of Object.entries(entries)) {
      if (name !== field && !fresh.has(name)) fresh.set(name, value);
    }
    fields.delete(field);
    return refusal;
  }

  /** Whether its run is paused, as of the latest reply of the store. */
  get isPaused(): boolean {
    return this.#parts.prefix === '' && this.#store.isPaused;
  }

  #demand(answer: CheckpointReply): ChannelRefusal | undefined {
    if (answer === 'lost') throw new JournalLost();
    if (answer === 'ok' || answer === 'paused') {
      this.#store.isPaused = answer === 'paused';
      return undefined;
    }
    if (answer !== 'canceling') return answer;
    const { holder } = this.#parts;
    holder.interrupt({ type: 'cancel', cause: { type: 'request' } });
    throw new TaskCanceledError(holder.lease.id, { type: 'request' });
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const store = this.#store;
    const turn = store.writing.then(call);
    store.writing = turn.then(nothing, nothing);
    return turn;
  }

  #get(name: string): string | undefined {
    return this.#store.fields.get(`${this.#parts.prefix}${name}`);
  }

  #set(name: string, value: string | null): void {
    this.#write(`${this.#parts.prefix}${name}`, value);
  }

  #write(field: string, value: string | null): void {
    const { fields, fresh } = this.#store;
    if (value === null && !fields.has(field)) return;
    if (value === null) fields.delete(field);
    else fields.set(field, value);
    fresh.set(field, value);
  }
}

/** State that all views of one journal share. */
interface Store {
  readonly fields: Map<string, string>;
  /** The answers among the fields: mark by the part of the name before it. */
  readonly answers: Map<string, string>;
  /** Groups that may have open members. */
  readonly open: Set<string>;
  /** Values that are not stored yet. */
  readonly fresh: Map<string, string | null>;
  /** Resolves when the latest call that writes to channels is over. */
  writing: Promise<void>;
  /** Whether the run is paused, as of the latest reply of the store. */
  isPaused: boolean;
}

function nothing(): void {}

/** For a group that no handler in this process has waited for. */
async function noMembers(): Promise<void> {}

function answerPlace(field: string): [before: string, mark: string] {
  const at = field.lastIndexOf('/') + 1;
  return [field.slice(0, at), field.slice(at)];
}

interface StoredTries extends Tries {
  readonly attempt: string;
}

const NO_TRIES: Tries = { failures: 0, releases: 0 };
