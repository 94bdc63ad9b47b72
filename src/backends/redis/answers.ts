import { type Answered, resolved } from '../../domain/port/answered.ts';
import type { EnqueueReply } from '../../domain/port/backend.ts';
import type { NewTask } from '../../domain/task/task.ts';
import type { Session } from './connection/session.ts';

/** Tasks that replace those of a call by their keys, for later scripts. */
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

  /** The same task, depending on the replacements. */
  redirected(task: NewTask): NewTask {
    const dependsOn = resolved(task.id, task.dependsOn, this.ids);
    return dependsOn === task.dependsOn ? task : { ...task, dependsOn };
  }

  async #isStored(id: string): Promise<boolean> {
    const { tasks } = this.#session.keys;
    return Number(await this.#session.command('enqueue', 'HEXISTS', [tasks, id])) === 1;
  }
}
