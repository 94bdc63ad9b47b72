import { type Answered, resolved } from '../../domain/port/answered.ts';
import type { EnqueueReply } from '../../domain/port/backend.ts';
import type { NewTask } from '../../domain/task/task.ts';
import type { Session } from './connection/session.ts';

/** Which tasks answered for items of a call that their keys absorbed, for what other scripts store. */
export class Answers {
  readonly ids: Answered = new Map();
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async note(tasks: readonly NewTask[], replies: readonly EnqueueReply[]): Promise<void> {
    for (const [at, { id }] of tasks.entries()) {
      const reply = replies[at];
      if (reply?.kind !== 'existing') continue;
      if (reply.state === 'finished' && !(await this.#isStored(reply.id))) {
        this.ids.set(id, undefined);
      } else if (reply.id !== id) {
        this.ids.set(id, reply.id);
      }
    }
  }

  /** The same task, depending on those that answered. */
  redirected(task: NewTask): NewTask {
    const dependsOn = resolved(task.id, task.dependsOn, this.ids);
    return dependsOn === task.dependsOn ? task : { ...task, dependsOn };
  }

  async #isStored(id: string): Promise<boolean> {
    const { tasks } = this.#session.keys;
    return Number(await this.#session.command('enqueue', 'HEXISTS', [tasks, id])) === 1;
  }
}
