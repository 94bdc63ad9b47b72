/** Steps that a handler runs while its task is leased: numbered, stored, and replayed. */

import type { RunCall, SubRunners, TimeLimit, WaitCall } from '../../attempt/attempt-context.ts';
import type { KeptLines } from '../../attempt/kept-log.ts';
import type { OwnLease } from '../../attempt/own-lease.ts';
import { type HandlerWait, wakeAfterMs } from '../../attempt/waits.ts';
import { impossible } from '../../base/never.ts';
import { errorFrom } from '../../base/thrown.ts';
import { errorOf, errorText } from '../../codec/task-error.ts';
import {
  ReplayMismatchError,
  RunCanceledError,
  TaskCanceledError,
  UnknownTaskError,
} from '../../domain/errors/errors.ts';
import { checkName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Suspension } from '../../domain/port/backend.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { WaitAnswer, WaitTarget } from '../../domain/task/wait.ts';
import type { Ending } from '../../graph/run-walk.ts';
import type { PartRequest } from '../../tracing/trace.ts';
import { partSpan, tracedCall } from '../../tracing/work.ts';
import { demandStep } from '../../workflow/pipeline-definition.ts';
import { runPlaceOf, sha256 } from '../record.ts';
import { type HandlerCode, Producer, type ProducerTools, type WalkMove } from './producer.ts';
import type { RunJournal } from './run-journal.ts';

/** The place of one handler's runs in the journal of its task. */
interface SubRunsPlace {
  /** Journal of the task; read at the first run. */
  readonly journal: () => Promise<RunJournal>;
  /** Prefix of the fields of the handler's runs. */
  readonly prefix: string;
  /** Attempts of the enclosing handlers, without the task's own. */
  readonly within: string;
  /** Code of the handler. */
  readonly code: HandlerCode;
}

/** The runs of one handler, under its current lease. */
export class SubRuns {
  readonly #tools: ProducerTools;
  readonly #own: OwnLease;
  readonly #place: SubRunsPlace;
  /** Settles when the previous run has ended: a task waits for one group at a time. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(tools: ProducerTools, own: OwnLease, place: SubRunsPlace) {
    this.#tools = tools;
    this.#own = own;
    this.#place = place;
  }

  /** Numbers the runs of an attempt from 1; they wait for runs of earlier attempts. */
  readonly runnerFor: SubRunners = ({ failures, releases }) => {
    const within = `${this.#place.within}/${failures}.${releases}`;
    let number = 0;
    const made = new Set<string>();
    const inTurn = async <T>(id: string | undefined, call: (key: string) => Promise<T>) => {
      const key = id === undefined ? String(++number) : checkName('run id', id);
      made.add(key);
      const turn = this.#before.then(() => call(key));
      this.#before = turn.catch(() => undefined);
      return turn;
    };
    return {
      run: (call) => inTurn(call.id, (key) => this.#run(key, call, within)),
      wait: (call) => inTurn(call.id, (key) => this.#wait(key, call, within)),
      repeats: async () => {
        const journal = (await this.#place.journal()).under(this.#place.prefix, within);
        return journal.callsWith(LOGGED, journal.attempt).some((key) => !made.has(key));
      },
    };
  };

  async #wait(key: string, call: WaitCall, within: string): Promise<WaitAnswer> {
    const { wait, signal, limit, lines } = call;
    const { clock } = this.#tools;
    const prefix = `${this.#place.prefix}${key}/`;
    const journal = (await this.#place.journal()).under(prefix, within);
    const mark = sha256(`${wait.kind} ${waitedFor(wait)}`).slice(0, ANSWER_MARK);
    if (journal.text(HASH) !== undefined || (journal.answered ?? mark) !== mark) {
      throw this.#mismatch(key, journal);
    }
    dropLogged(journal, lines);
    for (;;) {
      const answer = this.#answer(journal, wait, mark);
      if (answer?.by === 'time' && wait.kind === 'ask' && wait.cancelReason !== undefined) {
        throw this.#canceled(wait.cancelReason);
      }
      if (answer !== undefined) return answer;
      const ms = wakeAfterMs(wait.wakeAt, clock.now());
      if (wait.kind === 'time' && ms === 0) return { by: 'time', at: clock.now(), payload: '' };
      this.#noteVersion(journal);
      if (journal.redrives !== NEVER_REDRIVEN) journal.noteText(BEGAN, journal.redrives);
      await noteLogged(journal, lines);
      await journal.flush();
      signal.throwIfAborted();
      const suspension: Suspension = {
        type: 'suspend',
        waitFor: [],
        wakeOn: 'all',
        wait: { for: this.#awaited(wait), entry: journal.answerField(mark), ...withinOf(wait) },
        ...(ms === undefined ? {} : { wakeAfterMs: ms }),
      };
      await this.#suspend(suspension, journal, limit);
    }
  }

  /** A wait that timed out has failed: after a redrive it begins again, with a new deadline. */
  #answer(journal: RunJournal, wait: HandlerWait, mark: string): WaitAnswer | undefined {
    const answer = journal.answer(mark);
    if (answer?.by !== 'time' || !rejectsOnTimeout(wait)) return answer;
    const began = journal.text(BEGAN) ?? NEVER_REDRIVEN;
    if (began === journal.redrives) return answer;
    journal.dropAnswer(mark);
    return undefined;
  }

  /** Cancels its task, and its run with it. */
  #canceled(reason: string): Error {
    const { id, name, options } = this.#own.lease;
    const isPart = runPlaceOf(options) !== undefined;
    const cause: Cause = isPart
      ? { type: 'cancel-run', node: name, reason }
      : { type: 'request', reason };
    this.#own.interrupt({ type: 'cancel', cause });
    return new TaskCanceledError(id, cause);
  }

  /** The targets of a signal: its own task first, then its run. */
  #awaited(wait: HandlerWait): WaitTarget {
    if (wait.kind === 'time') return { kind: 'time' };
    if (wait.kind === 'event') return { kind: 'event', name: wait.name, key: wait.key };
    const { id, options } = this.#own.lease;
    const run = runPlaceOf(options)?.id ?? id;
    if (wait.kind === 'ask') {
      const { choices, for: names, text } = wait;
      // Each suspension ends a lease, so no other question of this task has this mark.
      const mark = this.#own.fencingToken.toString(MARK_RADIX);
      const ask = {
        id: `${id}.${mark}`,
        choices,
        for: names,
        text,
        ...(run === id ? {} : { run }),
      };
      return { kind: 'ask', ask };
    }
    return { kind: 'signal', name: wait.name, targets: run === id ? [id] : [id, run] };
  }

  async #suspend(
    suspension: Suspension,
    journal: RunJournal,
    limit: TimeLimit | undefined,
  ): Promise<void> {
    await this.#own.suspend(suspension, journal, limit?.pause());
    limit?.resume();
  }

  async #run(key: string, call: RunCall, within: string): Promise<unknown> {
    const { codec, graphs } = this.#tools;
    const step = demandStep('run', call.step);
    const { graph, content } = graphs.ofStep(step);
    const text = codec.payload(step.name, call.input);
    const prefix = `${this.#place.prefix}${key}/`;
    const journal = (await this.#place.journal()).under(prefix, within);
    this.#demandSame(key, journal, sha256(`${content}\n${text}`));
    dropLogged(journal, call.lines);
    const before = resultIn(journal);
    if (before !== undefined) return answered((one) => codec.read(one), before);
    const trace = call.trace.part(() => this.#span(step.name));
    const producer = this.#producer(journal, { prefix, within }, { ...call, trace });
    producer.learn(step);
    const { maxSteps } = runPlaceOf(this.#own.lease.options)?.said ?? {};
    const spec = { graph, block: graph, input: codec.read(text), isMember: false, maxSteps };
    return tracedCall(trace, async () => {
      for (;;) {
        const move = await producer.walk(spec);
        if (move.type === 'ended') return this.#ended(journal, step.name, move.ending);
        if (move.type !== 'wait') throw leftError(move);
        await noteLogged(journal, call.lines);
        await journal.flush();
        call.signal.throwIfAborted();
        await this.#suspend(move.suspension, journal, call.limit);
      }
    });
  }

  #span(name: string): PartRequest {
    const { id, options } = this.#own.lease;
    return partSpan({ kind: 'run', name, runId: runPlaceOf(options)?.id ?? id });
  }

  #demandSame(key: string, journal: RunJournal, hash: string): void {
    const before = journal.text(HASH);
    if (journal.answered !== undefined) throw this.#mismatch(key, journal);
    if (before === undefined) {
      journal.noteText(HASH, hash);
      this.#noteVersion(journal);
    } else if (before !== hash) throw this.#mismatch(key, journal);
  }

  /** Stores the version, if another version may read the journal. */
  #noteVersion(journal: RunJournal): void {
    const { version, isKept } = this.#place.code;
    if (version === undefined || isKept || journal.text(VERSION) !== undefined) return;
    journal.noteText(VERSION, version);
  }

  #mismatch(key: string, journal: RunJournal): Error {
    const { version: now, isKept } = this.#place.code;
    return new ReplayMismatchError(key, { before: isKept ? now : journal.text(VERSION), now });
  }

  #producer(
    journal: RunJournal,
    { prefix, within }: Pick<SubRunsPlace, 'prefix' | 'within'>,
    { signal, trace, limit }: Pick<RunCall, 'signal' | 'trace' | 'limit'>,
  ): Producer {
    const { codec } = this.#tools;
    const { lease } = this.#own;
    const { id: taskId, user, queue } = lease;
    const place = runPlaceOf(lease.options);
    const runId = place?.id ?? taskId;
    return new Producer(this.#tools, {
      facts: { taskId, runId, user, queue, level: lease.level, said: place?.said, codec },
      holder: this.#own,
      journal,
      prefix,
      signal,
      trace,
      limit,
      checkpoint: 'node',
      maxWaitMs: LIMITS.delayMaxMs,
      runnersOf: (inner, code) => {
        const nested = { ...this.#place, prefix: `${prefix}${inner}`, within, code };
        return new SubRuns(this.#tools, this.#own, nested).runnerFor;
      },
    });
  }

  async #ended(journal: RunJournal, name: string, ending: Ending): Promise<unknown> {
    const { codec } = this.#tools;
    if ('value' in ending) {
      const text = codec.result(name, ending.value);
      journal.noteText(RESULT, `o${text}`);
      await journal.flush();
      return codec.read(text);
    }
    const cancelGroups = journal.abandonGroups('');
    const error = ending.type === 'canceled' ? new RunCanceledError(ending.cause) : ending.error;
    const { attempt } = journal;
    journal.noteText(RESULT, `x${JSON.stringify({ attempt, error: errorText(error) })}`);
    await journal.flush();
    await cancelGroups?.();
    throw error;
  }
}

/** Drops lines from before this call if an earlier start of the attempt stored them. */
function dropLogged(journal: RunJournal, lines: KeptLines | undefined): void {
  if (journal.text(LOGGED) === journal.attempt) lines?.drop();
}

/** Stores the lines before a suspension, and records that they are stored. */
async function noteLogged(journal: RunJournal, lines: KeptLines | undefined): Promise<void> {
  if (lines?.hasNew !== true || journal.text(LOGGED) === journal.attempt) return;
  await lines.keep();
  journal.noteText(LOGGED, journal.attempt);
}

/** Whether the handler's call rejects after the timeout of the wait. */
function rejectsOnTimeout(wait: HandlerWait): boolean {
  return wait.kind === 'ask' ? wait.rejectsOnTimeout : wait.kind !== 'time';
}

/** How far a wait for an event looks back, if it does. */
function withinOf(wait: HandlerWait): { readonly withinMs?: number } {
  return wait.kind === 'event' && wait.withinMs !== undefined ? { withinMs: wait.withinMs } : {};
}

/** Identifies a wait when its handler starts again. */
function waitedFor(wait: HandlerWait): string {
  if (wait.kind === 'time') return '';
  if (wait.kind === 'event') return `${wait.name} ${wait.key}`;
  return wait.kind === 'signal' ? wait.name : wait.choices.join(' ');
}

/** Radix of marks: they are short, and consist of letters and digits. */
const MARK_RADIX = 36;

/** The error for a handler whose step cannot continue here. */
function leftError(move: Extract<WalkMove, { type: 'left' | 'paused' }>): Error {
  if (move.type === 'paused') return impossible('a handler continues although its run is paused');
  const { cause } = move;
  return new UnknownTaskError(cause.type === 'unknown-here' ? cause.task : cause.node);
}

/** Digits of the hash in the name of an answer's field. */
const ANSWER_MARK = 8;

const HASH = 'h';
const VERSION = 'v';
const RESULT = 'r';
/** For a wait: the number of redrives of its task when it began, unless 0. */
const BEGAN = 'b';
/** The attempt in which the handler was suspended here after it had logged lines. */
const LOGGED = 'l';
const NEVER_REDRIVEN = '0';

/** The result of a run; a failure counts within its attempt only. */
function resultIn(journal: RunJournal): string | undefined {
  const text = journal.text(RESULT);
  if (text === undefined || text.startsWith('o')) return text;
  const failure: { attempt: string } = JSON.parse(text.slice(1));
  return failure.attempt === journal.attempt ? text : undefined;
}

function answered(read: (text: string) => unknown, text: string): unknown {
  if (text.startsWith('o')) return read(text.slice(1));
  const { error }: { error: string } = JSON.parse(text.slice(1));
  throw errorFrom(errorOf(error) ?? { name: 'Error', message: '' });
}
