import { createHash } from 'node:crypto';
import type { EnqueueReply } from '../../domain/backend.ts';
import { BackendUnavailableError, isOwn } from '../../domain/errors.ts';
import type { NewTask } from '../../domain/task.ts';
import { flat, text } from './decode.ts';
import { decodeReplies } from './decode-reply.ts';
import { pushTask } from './encode.ts';
import type { ScriptArgument } from './script.ts';
import type { Session } from './session.ts';

/** Pause before a part is sent once more, in ms. */
const RESEND_MS = 100;

/** What the scripts must know of tasks outside of the part in hand. */
interface Context {
  /** Users of the tasks of other parts that this part names. */
  readonly users: Readonly<Record<string, string>>;
  /** Tasks of this part that earlier parts have named. */
  readonly named: readonly string[];
}

/**
 * Stores a batch that does not fit one script: part by part, then a seal. Until the seal nothing
 * of it can be leased; a refusal undoes all of it; so does a client that dies half way, after a
 * minute. Every part may be sent again.
 */
export async function submit(
  session: Session,
  parts: readonly (readonly NewTask[])[],
): Promise<readonly EnqueueReply[]> {
  const submission = await nameOf(session, parts);
  const contexts = contextsOf(parts);
  const send = new Parts(session, submission, contexts);
  // A refusal by a key may come after a key of an earlier part has swapped a task's input, which
  // could not be undone: so all is looked at first.
  if (parts.some((part) => part.some(({ idempotency }) => idempotency !== undefined))) {
    for (const [at, part] of parts.entries()) {
      const refused = refusedOf(await send.part(at, part, false));
      if (refused !== undefined) return refuseAll(parts, at, refused);
    }
  }
  const replies: EnqueueReply[] = [];
  for (const [at, part] of parts.entries()) {
    const answers = await send.part(at, part, true);
    const refused = refusedOf(answers);
    if (refused !== undefined) {
      await finish(session, submission, 0);
      return refuseAll(parts, at, refused);
    }
    replies.push(...answers);
  }
  await finish(session, submission, parts.length);
  return replies;
}

class Parts {
  readonly #session: Session;
  readonly #submission: string;
  readonly #contexts: readonly Context[];

  constructor(session: Session, submission: string, contexts: readonly Context[]) {
    this.#session = session;
    this.#submission = submission;
    this.#contexts = contexts;
  }

  async part(
    at: number,
    tasks: readonly NewTask[],
    store: boolean,
  ): Promise<readonly EnqueueReply[]> {
    const context = JSON.stringify(this.#contexts[at]);
    const args: ScriptArgument[] = [this.#submission, at, store ? '1' : '0', context];
    for (const task of tasks) pushTask(args, task);
    const reply = flat(await twice(this.#session, () => this.#session.run('chunk', args)));
    if (reply[0] === 'gone') throw outOfTime();
    return decodeReplies(tasks, reply.slice(1));
  }
}

/** Seals the submission, or undoes it when it may have no parts; steps until it is done. */
async function finish(session: Session, submission: string, parts: number): Promise<void> {
  for (;;) {
    const args = [submission, parts];
    const [word] = flat(await twice(session, () => session.run('seal', args)));
    if (word === 'done') return;
    if (word !== 'more') throw outOfTime();
  }
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

/** Unique per call: the connection's own number, how many came before, and the tasks. */
async function nameOf(session: Session, parts: readonly (readonly NewTask[])[]): Promise<string> {
  const number = text(await session.command('enqueue', 'client', ['ID']));
  const hash = createHash('sha1');
  for (const part of parts) for (const { id } of part) hash.update(`${id}\0`);
  return `${number}-${session.nextSubmission()}-${hash.digest('hex')}`;
}

function contextsOf(parts: readonly (readonly NewTask[])[]): readonly Context[] {
  const users = new Map<string, string>();
  const partOf = new Map<string, number>();
  for (const [at, part] of parts.entries()) {
    for (const task of part) {
      users.set(task.id, task.user);
      if (!partOf.has(task.id)) partOf.set(task.id, at);
    }
  }
  const contexts = parts.map(() => ({
    users: {} as Record<string, string>,
    named: [] as string[],
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

function refusedOf(replies: readonly EnqueueReply[]): EnqueueReply[] | undefined {
  const refused = replies.some(({ kind }) => kind === 'refused');
  return refused ? [...replies] : undefined;
}

/** The refusal of one item refuses all others. */
function refuseAll(
  parts: readonly (readonly NewTask[])[],
  at: number,
  refused: readonly EnqueueReply[],
): readonly EnqueueReply[] {
  const other: EnqueueReply = { kind: 'refused', refusal: { type: 'batch-refused' } };
  return parts.flatMap((part, index) => (index === at ? refused : part.map(() => other)));
}

function outOfTime(): BackendUnavailableError {
  return new BackendUnavailableError('enqueue', 'the batch was not stored within a minute');
}
