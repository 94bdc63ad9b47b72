import { setImmediate } from '../../base/globals.ts';
import type { EnqueueReply } from '../../domain/backend.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { NewTask } from '../../domain/task.ts';
import { bytesOf, isPlain, unitsOf } from './encode.ts';

/** Sends tasks in one script and answers in the same order. */
export type SendTasks = (tasks: readonly NewTask[]) => Promise<readonly EnqueueReply[]>;

interface Waiting {
  readonly task: NewTask;
  readonly resolve: (reply: EnqueueReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets calls of the same turn of the event loop share a script: one call of a client costs as much
 * as storing several tasks. A task that is alone is sent at the end of the turn, by itself.
 */
export class EnqueueBatcher {
  readonly #send: SendTasks;
  /** Tasks of this turn; sent, and emptied, before the next one. */
  #waiting: Waiting[] = [];

  constructor(send: SendTasks) {
    this.#send = send;
  }

  add(task: NewTask): Promise<EnqueueReply> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ task, resolve, reject });
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const chunk of chunks(waiting, ({ task }) => task)) void this.#sendChunk(chunk);
  }

  async #sendChunk(chunk: readonly Waiting[]): Promise<void> {
    try {
      const replies = await this.#send(chunk.map(({ task }) => task));
      for (const [at, { resolve, reject }] of chunk.entries()) {
        const reply = replies[at];
        if (reply === undefined) reject(new TypeError('a reply is missing'));
        else resolve(reply);
      }
    } catch (error) {
      for (const { reject } of chunk) reject(error);
    }
  }
}

/** Parts items so that each chunk fits one script. */
export function chunks<T>(items: readonly T[], taskOf: (item: T) => NewTask): readonly T[][] {
  const parts: T[][] = [];
  let part: T[] = [];
  let units = 0;
  let bytes = 0;
  for (const item of items) {
    const task = taskOf(item);
    const size = bytesOf(task);
    const fits = units + unitsOf(task) <= LIMITS.scriptUnits && bytes + size <= LIMITS.scriptBytes;
    if (!fits && part.length > 0) {
      parts.push(part);
      part = [];
      units = 0;
      bytes = 0;
    }
    part.push(item);
    units += unitsOf(task);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** Whether a batch is plain and small enough to be stored all or none by one script. */
export function fitsOneScript(tasks: readonly NewTask[]): boolean {
  if (tasks.length > LIMITS.plainBatch) return false;
  let bytes = 0;
  for (const task of tasks) {
    if (!isPlain(task)) return false;
    bytes += bytesOf(task);
  }
  return bytes <= LIMITS.scriptBytes;
}
