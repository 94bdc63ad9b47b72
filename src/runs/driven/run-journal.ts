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
  earlyEndIn,
  givenField,
  isOpened,
  marksOf,
  type OpenedGroup,
  recordIn,
  type StoredControl,
} from './journal-fields.ts';

/** Under whose lease it is written. */
type JournalHolder = Pick<OwnLease, 'lease' | 'interrupt' | 'openGroups'>;

interface JournalParts {
  readonly backend: Backend;
  /** Whose lease may be another one after a wait. */
  readonly holder: JournalHolder;
  readonly graphs: GraphCache;
  /** Stands before every field: runs of one handler share its task's journal. */
  readonly prefix: string;
  /** Called around every call of the backend: goes on through outages. */
  readonly persist: <T>(call: () => Promise<T>) => Promise<T>;
}

/** The lease is not in force any more: nothing more may be done. */
export class JournalLost extends Error {
  override readonly name = 'JournalLost';
  /** A handler that passes it on is not called again. */
  readonly code = 'FATAL';
}

/**
 * What a run has stored. Fields: `n:` the outcome of a node, `g:` a graph that a handler passed, `t:` tries of
 * a node, `o:` a group that was opened, `d:` one that was given up, by the mark in the ids of its members,
 * `end` how a member ended its run, `x:` for how long no worker has had a node's code, `m:` what a member gave
 * before this run, `seeded` that another run's entries were taken over, `e:` for which edited input a node
 * runs; of calls of a handler `h` and `r` the call and its result, `b` after how many redrives a wait began,
 * `l` in which attempt the handler has logged before, `v` in which version, where another may come. New values
 * are held until {@link RunJournal.flush}.
 */
export class RunJournal {
  /**
   * In which attempt it is written. What failed counts within its attempt only; what has finished
   * counts for good. The task's attempts count from 1 again after a redrive, so that stands in it too.
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

  /** The same journal for another run in it, whose handler is at the attempt after these. */
  under(prefix: string, within: string): RunJournal {
    const parts = { ...this.#parts, prefix: `${this.#parts.prefix}${prefix}` };
    return new RunJournal(parts, this.#store, `${this.attempt}${within}`);
  }

  /** Whether these are its fields: no other process has written any, except answers, which it takes in. */
  goesOnWith(fields: Readonly<Record<string, string>>): boolean {
    const { fields: known, answers } = this.#store;
    for (const [name, text] of Object.entries(fields)) {
      if (!name.startsWith(ANSWER)) continue;
      known.set(name, text);
      answers.set(...answerPlace(name));
    }
    const names = Object.keys(fields);
    return names.length === known.size && names.every((name) => known.get(name) === fields[name]);
  }

  /** The field that the answer of a wait is written to; `mark` tells it from other waits, and has no slash. */
  answerField(mark: string): string {
    return `${ANSWER}${this.#parts.prefix}${mark}`;
  }

  /** What the wait with this mark came to, once it is over. */
  answer(mark: string): WaitAnswer | undefined {
    const text = this.#store.fields.get(this.answerField(mark));
    return text === undefined ? undefined : readAnswer(text);
  }

  /** The wait with this mark has to be gone through again. */
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

  /** The mark of the wait that stood here before and is over. */
  get answered(): string | undefined {
    return this.#store.answers.get(`${ANSWER}${this.#parts.prefix}`);
  }

  record(key: string): NodeRecord | undefined {
    return recordIn((name) => this.#get(name), key);
  }

  /** What a member of a group gave before this run, as text. */
  given(key: string, member: string): string | undefined {
    return this.#get(givenField(key, member));
  }

  /** Takes over what another run has written down, once. */
  adopt(fields: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(fields)) this.#set(name, value);
  }

  note(key: string, record: NodeRecord): void {
    this.#set(`t:${key}`, null);
    this.#set(`o:${key}`, null);
    this.noteOver(key);
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

  /** The field that says that a group was opened. */
  openField(key: string): string {
    return `${this.#parts.prefix}o:${key}`;
  }

  /** All members of the group have ended. */
  noteOver(key: string): void {
    this.#store.open.delete(this.openField(key));
  }

  /**
   * Groups under this prefix are waited for no more: from the next {@link RunJournal.flush} on no member of theirs is
   * started.
   *
   * @returns what cancels their members, to be called behind that; `undefined` when there are no such groups.
   */
  giveUp(start: string): (() => Promise<void>) | undefined {
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

  /** The calls of its handler, by key, of which this field holds that text. */
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
   * `start`, and answers of such waits.
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
   * Writes down what is new.
   *
   * @throws {@link JournalLost} when the lease is not in force; {@link TaskCanceledError} once a
   * cancel was requested: what has come about since is no result.
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
    // The store remembers the newest writes of a lease, so one call must be over before the next.
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

  /** Its run is, by what the store said last; what runs in a handler goes on with that. */
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

/** What all views of one journal share. */
interface Store {
  readonly fields: Map<string, string>;
  /** Of answers among them: what stands before the mark, and the mark. */
  readonly answers: Map<string, string>;
  /** Of groups that may have members that have not ended. */
  readonly open: Set<string>;
  /** Not written yet. */
  readonly fresh: Map<string, string | null>;
  /** Is fulfilled when the newest call that writes to channels is over. */
  writing: Promise<void>;
  /** The run is, by what the store said last. */
  isPaused: boolean;
}

function nothing(): void {}

/** Of a group that no handler here has waited for. */
async function noMembers(): Promise<void> {}

function answerPlace(field: string): [before: string, mark: string] {
  const at = field.lastIndexOf('/') + 1;
  return [field.slice(0, at), field.slice(at)];
}

interface StoredTries extends Tries {
  readonly attempt: string;
}

const NO_TRIES: Tries = { failures: 0, releases: 0 };
