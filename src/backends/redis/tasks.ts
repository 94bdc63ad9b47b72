import { InvalidOptionError, isOwn } from '../../domain/errors/errors.ts';
import type {
  BatchOptions,
  CancelReply,
  ChangeReply,
  EditedTask,
  EnqueueReply,
  TaskStore,
  TickReply,
} from '../../domain/port/backend.ts';
import type {
  ExtendReply,
  ExtendRequest,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  SettleReply,
  SettleRequest,
} from '../../domain/port/leasing.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { NewTask } from '../../domain/task/task.ts';
import { Answers } from './answers.ts';
import type { Session } from './connection/session.ts';
import { submit } from './submission.ts';
import {
  deadLettersIn,
  decodeAnswers,
  decodeExtend,
  decodeLease,
  decodeReplies,
  endStateOf,
  type Flat,
  flat,
  stateOf,
  text,
} from './wire/decode.ts';
import { editedInput, pushLease, pushSettlements, pushTasks } from './wire/encode.ts';
import { chunks, fitsOneScript } from './wire/enqueue-parts.ts';
import { answersFor } from './wire/parts.ts';
import type { ScriptArgument } from './wire/script.ts';
import { Together } from './wire/together.ts';
import type { RedisWorkers } from './workers.ts';

/** Pause before the one repetition of an enqueue, in ms: a failover or restart may be that short. */
const RESEND_MS = 100;

/** One script cannot decide whether it closes a cycle. */
function isUndecided(reply: EnqueueReply): boolean {
  return reply.kind === 'refused' && reply.refusal.type === 'dependency-limit';
}

/** Most redrives in one script; it answers as many as its budget allows. */
const REDRIVE_STEP = 20;

/** A change that takes several scripts is not done yet. */
interface More {
  readonly kind: 'more';
}

/** See `TaskStore`. Every method is one script unless noted. */
export class RedisTasks implements TaskStore {
  readonly #session: Session;
  readonly #workers: RedisWorkers;
  /** Redrives of this tick, by their `endedBy`. */
  readonly #redrivesBy = new Map<string, Together<ChangeReply>>();

  constructor(session: Session, workers: RedisWorkers) {
    this.#session = session;
    this.#workers = workers;
  }

  enqueue(tasks: readonly NewTask[], options: BatchOptions): Promise<readonly EnqueueReply[]> {
    if (tasks.length === 0) return Promise.resolve([]);
    // A single task is all or none anyway, and fits one script.
    if (tasks.length === 1) return this.#sendEach(tasks, options.fence);
    if (!options.atomic) return this.#sendParts(chunks(tasks), options.fence);
    return this.#sendAll(fitsOneScript(tasks) ? [tasks] : chunks(tasks));
  }

  async #sendAll(parts: readonly (readonly NewTask[])[]): Promise<readonly EnqueueReply[]> {
    const [only] = parts;
    if (only === undefined || parts.length > 1) return submit(this.#session, parts);
    const replies = await this.#send(only, true);
    if (!replies.some(isUndecided)) return replies;
    return submit(this.#session, chunks(only));
  }

  /** Each script of the call checks again whether the lease is in force. */
  async #sendParts(
    parts: readonly (readonly NewTask[])[],
    fence: LeaseRef | undefined,
  ): Promise<readonly EnqueueReply[]> {
    const replies: EnqueueReply[] = [];
    const answers = new Answers(this.#session);
    for (const [at, part] of parts.entries()) {
      const made = at === 0 ? part : part.map((task) => answers.redirected(task));
      const answered = await this.#sendEach(made, fence);
      replies.push(...answered);
      if (parts.length > at + 1) await answers.note(part, answered);
    }
    return replies;
  }

  /**
   * Each on its own, in one script; a task for which a script cannot decide whether it closes a
   * cycle, and those after it, in several.
   */
  async #sendEach(tasks: readonly NewTask[], fence?: LeaseRef): Promise<readonly EnqueueReply[]> {
    const replies = await this.#send(tasks, false, fence);
    const at = replies.findIndex(isUndecided);
    const task = tasks[at];
    if (task === undefined) return replies;
    const known = replies.slice(0, at);
    const alone = await submit(this.#session, [[task]], fence);
    const rest = tasks.slice(at + 1);
    if (rest.length === 0) return [...known, ...alone];
    const answers = new Answers(this.#session);
    await answers.note(tasks, [...known, ...alone]);
    const redirected = rest.map((one) => answers.redirected(one));
    return [...known, ...alone, ...(await this.#sendEach(redirected, fence))];
  }

  async lease(request: LeaseRequest): Promise<LeaseReply> {
    const { worker, requestId } = request;
    const args: ScriptArgument[] = [worker];
    const got = this.#workers.leasing(worker, requestId);
    pushLease(args, request, this.#session.retention, got);
    const lease = async (): Promise<LeaseReply | undefined> => {
      const reply = flat(await this.#session.run('lease', args));
      this.#workers.leased(worker, requestId);
      return decodeLease(reply, 0, requestId);
    };
    const first = await lease();
    if (first !== undefined) return first;
    await this.#workers.registerAgain(worker);
    const second = await lease();
    if (second !== undefined) return second;
    throw new InvalidOptionError('worker', 'a registered worker', worker);
  }

  async settle(request: SettleRequest): Promise<SettleReply> {
    const { worker, settlements, lease } = request;
    const args: ScriptArgument[] = [worker];
    pushSettlements(args, settlements);
    if (lease !== undefined) {
      const got = this.#workers.leasing(worker, lease.requestId);
      pushLease(args, lease, this.#session.retention, got);
    }
    const reply = flat(await this.#session.run('settle', args));
    if (lease !== undefined) this.#workers.leased(worker, lease.requestId);
    const size = Number(reply[0]);
    const answers = decodeAnswers(reply, size, settlements.length);
    if (lease === undefined) return { answers };
    const leased = decodeLease(reply, 1 + size, lease.requestId);
    return { answers, lease: leased ?? (await this.lease(lease)) };
  }

  async extend(request: ExtendRequest): Promise<ExtendReply> {
    const args: ScriptArgument[] = [request.worker, request.leaseMs, this.#session.retention];
    for (const { id, token } of request.leases) args.push(id, token);
    return decodeExtend(flat(await this.#session.run('extend', args)));
  }

  async tick(): Promise<TickReply> {
    const reply = flat(await this.#session.run('tick', [this.#session.retention]));
    const [more, due, now, schedulesDue, dead] = reply;
    return {
      more: Number(more) === 1,
      schedulesDue: Number(schedulesDue) === 1,
      now: Number(now),
      ...(Number(due) < 0 ? {} : { nextDueAt: Number(due) }),
      ...deadLettersIn(dead),
    };
  }

  async cancel(id: string, cause: Cause): Promise<CancelReply> {
    const [word, detail] = flat(await this.#session.run('cancel', [id, JSON.stringify(cause)]));
    switch (word) {
      case 'canceled':
        return { kind: 'canceled' };
      case 'requested':
        return { kind: 'requested', worker: text(detail) };
      case 'already-ended':
        return { kind: 'already-ended', state: endStateOf(detail) };
      default:
        return { kind: 'not-found' };
    }
  }

  async redrive(id: string, edited?: EditedTask, endedBy?: number): Promise<ChangeReply> {
    const by = momentText(endedBy);
    if (edited === undefined) return this.#redrives(by).ask(id);
    const reply = flat(await this.#session.run('redrive', [by, ...editedInput(edited), id]));
    return changeOf(reply);
  }

  /** Redrives of one tick with the same `endedBy` share a script. */
  #redrives(by: string): Together<ChangeReply> {
    const known = this.#redrivesBy.get(by);
    if (known !== undefined) return known;
    const together = new Together((ids: readonly string[]) => {
      this.#redrivesBy.delete(by);
      return answersFor(ids, REDRIVE_STEP, async (some) => {
        const reply = flat(await this.#session.run('redrive', [by, '', '', '', ...some]));
        return some.flatMap((_, at) => {
          const pair = reply.slice(2 * at, 2 * at + 2);
          return pair.length === 0 ? [] : [changeOf(pair)];
        });
      });
    });
    this.#redrivesBy.set(by, together);
    return together;
  }

  /** Each script cancels some tasks that wait for a redrive, until none is left. */
  async remove(id: string, endedBy?: number): Promise<ChangeReply> {
    const more = endedBy === undefined ? [] : [momentText(endedBy)];
    for (;;) {
      const reply = await this.#change('remove', id, more);
      if (reply.kind !== 'more') return reply;
    }
  }

  runNow(id: string): Promise<ChangeReply> {
    return this.#change('runNow', id);
  }

  #change(verb: 'runNow', id: string, more?: readonly string[]): Promise<ChangeReply>;
  #change(verb: 'remove', id: string, more: readonly string[]): Promise<ChangeReply | More>;
  async #change(
    verb: 'remove' | 'runNow',
    id: string,
    more: readonly string[] = [],
  ): Promise<ChangeReply | More> {
    const reply = flat(await this.#session.run(verb, [id, ...more]));
    return reply[0] === 'more' ? { kind: 'more' } : changeOf(reply);
  }

  /** One script. Sent again when its answer was lost: the ids make that safe. */
  async #send(
    tasks: readonly NewTask[],
    atomic: boolean,
    fence?: LeaseRef,
  ): Promise<readonly EnqueueReply[]> {
    const lease = fence === undefined ? '' : `${fence.token}\0${fence.id}`;
    const args: ScriptArgument[] = [`${atomic ? '1' : '0'}${lease}`];
    pushTasks(args, tasks);
    try {
      return decodeReplies(tasks, await this.#session.run('enqueue', args));
    } catch (error) {
      if (!isOwn(error, 'BACKEND_UNAVAILABLE')) throw error;
      await this.#session.pause(RESEND_MS);
      return decodeReplies(tasks, await this.#session.run('enqueue', args));
    }
  }
}

/** Parses the reply to a change of one task. */
function changeOf([word, detail]: Flat): ChangeReply {
  switch (word) {
    case 'ok':
      return text(detail) === '' ? { kind: 'ok' } : { kind: 'ok', state: stateOf(detail) };
    case 'wrong-state':
      return { kind: 'wrong-state', state: stateOf(detail) };
    case 'busy':
      return { kind: word };
    case 'cycle':
      return { kind: word, path: JSON.parse(text(detail)) as readonly string[] };
    case 'dependency-limit':
      return { kind: word, limit: Number(detail) };
    default:
      return { kind: 'not-found' };
  }
}

/** Empty: any moment. */
function momentText(moment: number | undefined): string {
  return moment === undefined ? '' : String(moment);
}
