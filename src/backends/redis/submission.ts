import { createHash } from 'node:crypto';
import { BackendUnavailableError, isOwn } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { resolved } from '../../domain/port/answered.ts';
import type { EnqueueRefusal, EnqueueReply } from '../../domain/port/backend.ts';
import type { LeaseRef } from '../../domain/port/leasing.ts';
import { cycleRefusal } from '../../domain/task/cycle-search.ts';
import { findCycle } from '../../domain/task/dependency-cycle.ts';
import type { NewTask } from '../../domain/task/task.ts';
import { Answers } from './answers.ts';
import type { Session } from './connection/session.ts';
import { CycleChecks } from './cycles.ts';
import { decodeReplies, flat, text, uncheckedIn } from './wire/decode.ts';
import { pushTasks } from './wire/encode.ts';
import type { ScriptArgument } from './wire/script.ts';

/** Pause before a part is sent again, in ms. */
const RESEND_MS = 100;

/** Most rounds in which a batch is stored anew, since keys replaced other tasks than expected. */
const ROUNDS = 4;

/** Facts for the scripts about tasks outside of the current part. */
interface Context {
  /** Users of the tasks of other parts that this part names. */
  readonly users: Readonly<Record<string, string>>;
  /** Tasks of this part that earlier parts have named. */
  readonly named: readonly string[];
}

type Parts = readonly (readonly NewTask[])[];

/** A stored batch before its seal. */
interface Stored {
  readonly replies: readonly EnqueueReply[];
  /** Ids that other tasks waited for. */
  readonly unchecked: readonly string[];
}

/**
 * Stores a batch that does not fit one script, or for which one script cannot decide whether it closes a
 * cycle: part by part, then a seal. Before the seal none of its tasks can be leased; a refusal undoes all
 * of it; after a crash of the client the server does, after a minute. Every part may be sent again.
 */
export async function submit(
  session: Session,
  parts: Parts,
  fence?: LeaseRef,
): Promise<readonly EnqueueReply[]> {
  const refused = await refusedByKey(session, parts, fence);
  if (refused !== undefined) return refused;
  let made = parts;
  let first: readonly EnqueueReply[] | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const batch = await Submission.begin(session, made, fence);
    const stored = await batch.store();
    if ('refusal' in stored) return batch.refuse(stored.at, stored.refusal);
    first ??= stored.replies;
    const answers = new Answers(session);
    await answers.note(made.flat(), stored.replies);
    const next = made.map((part) => part.map((task) => answers.redirected(task)));
    const isSettled = !crossesParts(made, next);
    const cycle = isSettled ? await batch.cycle(stored, answers) : undefined;
    if (cycle !== undefined) return batch.refuse(cycle.at, cycle.refusal);
    if (isSettled) {
      await batch.finish();
      return merged(first, stored.replies);
    }
    // A part only knows the replaced tasks of its own: all is stored anew with the replacements.
    await batch.undo();
    made = next;
  }
  throw new BackendUnavailableError('enqueue', 'the keys of the batch changed owners meanwhile');
}

/**
 * A refusal by a key may come after a key of an earlier part has replaced a task's input, which
 * could not be undone: so all keys are checked first.
 */
async function refusedByKey(
  session: Session,
  parts: Parts,
  fence: LeaseRef | undefined,
): Promise<readonly EnqueueReply[] | undefined> {
  if (!parts.some((part) => part.some(({ idempotency }) => idempotency !== undefined))) {
    return undefined;
  }
  const look = await Submission.begin(session, parts, fence);
  return look.lookForRefusal();
}

class Submission {
  readonly #session: Session;
  readonly #name: string;
  readonly #parts: Parts;
  readonly #contexts: readonly Context[];
  readonly #fence: LeaseRef | undefined;

  private constructor(session: Session, name: string, parts: Parts, fence: LeaseRef | undefined) {
    this.#session = session;
    this.#name = name;
    this.#parts = parts;
    this.#contexts = contextsOf(parts);
    this.#fence = fence;
  }

  static async begin(
    session: Session,
    parts: Parts,
    fence: LeaseRef | undefined,
  ): Promise<Submission> {
    return new Submission(session, await nameOf(session, parts), parts, fence);
  }

  /** Stores nothing. */
  async lookForRefusal(): Promise<readonly EnqueueReply[] | undefined> {
    for (const [at, part] of this.#parts.entries()) {
      const replies = decodeReplies(part, await this.#send(at, part, false));
      if (replies.some(isRefused)) return this.#refuseAll(at, replies);
    }
    return undefined;
  }

  /** Stores all parts; or answers the first refusal. */
  async store(): Promise<
    Stored | { readonly at: number; readonly refusal: readonly EnqueueReply[] }
  > {
    const replies: EnqueueReply[] = [];
    const unchecked: string[] = [];
    for (const [at, part] of this.#parts.entries()) {
      const words = await this.#send(at, part, true);
      const answers = decodeReplies(part, words);
      if (answers.some(isRefused)) return { at, refusal: answers };
      replies.push(...answers);
      unchecked.push(...uncheckedIn(part, words));
    }
    return { replies, unchecked };
  }

  /** Whether the stored tasks close a cycle, by their keys or with tasks that waited for them. */
  async cycle(
    { replies, unchecked }: Stored,
    answers: Answers,
  ): Promise<{ readonly at: number; readonly refusal: readonly EnqueueReply[] } | undefined> {
    if (answers.ids.size > 0) {
      const made = this.#parts.flat().filter((_, at) => replies[at]?.kind === 'created');
      const path = findCycle(
        made.map(({ id, dependsOn }) => ({ id, dependsOn: resolved(id, dependsOn, answers.ids) })),
      );
      if (path !== undefined) return this.#refusalOf(new Set(path), { type: 'cycle', path });
    }
    const checks = new CycleChecks(this.#session);
    for (const id of unchecked) {
      const refusal = cycleRefusal(await checks.through(id), LIMITS.cycleEdges);
      if (refusal !== undefined) return this.#refusalOf(new Set([id]), refusal);
    }
    return undefined;
  }

  /** Removes the batch; the refusal of one task refuses all others. */
  async refuse(at: number, refusal: readonly EnqueueReply[]): Promise<readonly EnqueueReply[]> {
    await this.undo();
    return this.#refuseAll(at, refusal);
  }

  undo(): Promise<void> {
    return this.#seal(0);
  }

  finish(): Promise<void> {
    return this.#seal(this.#parts.length);
  }

  /** Refusal of the first of these tasks, and with it of its part. */
  #refusalOf(
    ids: ReadonlySet<string>,
    refusal: EnqueueRefusal,
  ): { readonly at: number; readonly refusal: readonly EnqueueReply[] } {
    const at = this.#parts.findIndex((part) => part.some(({ id }) => ids.has(id)));
    const part = this.#parts[at] ?? [];
    const place = part.findIndex(({ id }) => ids.has(id));
    return {
      at,
      refusal: part.map((_, i) => (i === place ? { kind: 'refused', refusal } : OTHER)),
    };
  }

  #refuseAll(at: number, refused: readonly EnqueueReply[]): readonly EnqueueReply[] {
    return this.#parts.flatMap((part, index) => (index === at ? refused : part.map(() => OTHER)));
  }

  async #send(at: number, tasks: readonly NewTask[], store: boolean): Promise<readonly unknown[]> {
    const fence = this.#fence && { fence: `${this.#fence.token}\0${this.#fence.id}` };
    const context = JSON.stringify({ ...this.#contexts[at], ...fence });
    const args: ScriptArgument[] = [this.#name, at, store ? '1' : '0', context];
    pushTasks(args, tasks);
    const reply = flat(await twice(this.#session, () => this.#session.run('chunk', args)));
    if (reply[0] === 'gone') throw outOfTime();
    return reply.slice(1);
  }

  /** Seals the submission, or undoes it when it may have no parts; in steps until it is done. */
  async #seal(parts: number): Promise<void> {
    for (;;) {
      const args = [this.#name, parts];
      const [word] = flat(await twice(this.#session, () => this.#session.run('seal', args)));
      if (word === 'done') return;
      if (word !== 'more') throw outOfTime();
    }
  }
}

/** Reply to all tasks but the refused one. */
const OTHER: EnqueueReply = { kind: 'refused', refusal: { type: 'batch-refused' } };

function isRefused({ kind }: EnqueueReply): boolean {
  return kind === 'refused';
}

/** Whether a task of one part now depends on others than a task of another part had named. */
function crossesParts(made: Parts, next: Parts): boolean {
  return made.some((part, at) => {
    const own = new Set(part.map(({ id }) => id));
    return part.some(({ dependsOn }, i) => {
      const after = next[at]?.[i]?.dependsOn ?? dependsOn;
      return after !== dependsOn && dependsOn.some((id) => !own.has(id) && !after.includes(id));
    });
  });
}

/** The effect of a key on a task is reported as it was the first time. */
function merged(
  first: readonly EnqueueReply[],
  last: readonly EnqueueReply[],
): readonly EnqueueReply[] {
  return last.map((reply, at) => {
    const before = first[at];
    if (reply.kind !== 'existing' || before?.kind !== 'existing') return reply;
    return before.id === reply.id ? { ...before, state: reply.state } : reply;
  });
}

async function twice<T>(session: Session, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!isOwn(error, 'BACKEND_UNAVAILABLE')) throw error;
    await session.pause(RESEND_MS);
    return send();
  }
}

/** Unique per call: the connection's own number, a counter, and the tasks. */
async function nameOf(session: Session, parts: Parts): Promise<string> {
  const number = text(await session.command('enqueue', 'client', ['ID']));
  const hash = createHash('sha1');
  for (const part of parts) for (const { id } of part) hash.update(`${id}\0`);
  return `${number}-${session.nextSubmission()}-${hash.digest('hex')}`;
}

function contextsOf(parts: Parts): readonly Context[] {
  const users = new Map<string, string>();
  const partOf = new Map<string, number>();
  for (const [at, part] of parts.entries()) {
    for (const task of part) {
      users.set(task.id, task.user);
      if (!partOf.has(task.id)) partOf.set(task.id, at);
    }
  }
  const contexts = parts.map((): { users: Record<string, string>; named: string[] } => ({
    users: {},
    named: [],
  }));
  for (const [at, part] of parts.entries()) {
    for (const id of part.flatMap(({ dependsOn }) => dependsOn)) {
      const other = partOf.get(id);
      if (other === undefined || other === at) continue;
      const context = contexts[at];
      if (context !== undefined) context.users[id] = users.get(id) ?? '';
      if (other > at) contexts[other]?.named.push(id);
    }
  }
  return contexts;
}

function outOfTime(): BackendUnavailableError {
  return new BackendUnavailableError('enqueue', 'the batch was not stored within a minute');
}
