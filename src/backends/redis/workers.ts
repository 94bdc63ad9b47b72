import { createHash } from 'node:crypto';
import { linkAbort } from '../../base/abort-watch.ts';
import { compareUtf8 } from '../../base/utf8-order.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Leased, WorkerStore, WorkSign } from '../../domain/port/backend.ts';
import type { Registration, WorkerInfo, WorkerSpec } from '../../domain/port/inspection.ts';
import type { Session } from './connection/session.ts';
import { Bell } from './wake.ts';
import { decodeHanded, flat, text } from './wire/decode.ts';

/** Names of a list that one script registers. */
const NAMES_STEP = 200;

/** One distinct list of users: sorted, named by its kind and content. */
interface List {
  readonly id: string;
  readonly names: readonly string[];
}

/** See `WorkerStore`. Remembers what this process registered, to announce it anew after a loss. */
export class RedisWorkers implements WorkerStore {
  readonly #session: Session;
  readonly #specs = new Map<string, WorkerSpec>();
  readonly #bells = new Map<string, Bell>();

  constructor(session: Session) {
    this.#session = session;
  }

  register(spec: WorkerSpec, { starts = false }: Registration = {}): Promise<void> {
    return this.#register(spec, starts ? 'start' : 'change');
  }

  async #register(spec: WorkerSpec, why: 'start' | 'again' | 'change'): Promise<void> {
    const assigned = spec.assignedUsers === undefined ? undefined : listOf('a', spec.assignedUsers);
    const steal = Array.isArray(spec.stealTargets) ? listOf('s', spec.stealTargets) : undefined;
    const { id, queues, names } = spec;
    const stealName = spec.stealTargets === 'any' ? 'any' : (steal?.id ?? '');
    const info = JSON.stringify(spec);
    const lists = [assigned?.id ?? '', stealName, why];
    await this.#checkRoom(spec, [assigned, steal]);
    const args = [id, info, `,${names.join(',')},`, queues.join(','), ...lists];
    await this.#session.run('register', args);
    this.#specs.set(id, spec);
    for (const list of [assigned, steal]) {
      if (list !== undefined) await this.#join(spec, list, '1');
    }
  }

  /** The server has forgotten the worker, or dropped its lists while it was silent. */
  async registerAgain(id: string): Promise<void> {
    const spec = this.#specs.get(id);
    if (spec !== undefined) await this.#register(spec, 'again');
  }

  async unregister(id: string): Promise<void> {
    this.#specs.delete(id);
    this.#bells.get(id)?.close();
    this.#bells.delete(id);
    await this.#session.run('unregister', [id]);
  }

  async list(): Promise<readonly WorkerInfo[]> {
    const reply = flat(await this.#session.run('workerList', []));
    return decodeWorkers(reply);
  }

  async waitForWork(id: string, ms: number, signal: AbortSignal): Promise<WorkSign> {
    const { closing } = this.#session;
    if (signal.aborted || closing.signal.aborted || !this.#specs.has(id)) return 'timeout';
    let bell = this.#bells.get(id);
    if (bell === undefined) {
      bell = new Bell(this.#session.client, this.#session.keys.wake(id));
      this.#bells.set(id, bell);
    }
    const either = linkAbort(signal, closing.signal);
    const answer = await bell.wait(ms, either.signal).finally(() => either.unlink());
    if (typeof answer === 'object') return decodeHanded(answer.task);
    if (answer === 'timeout' && signal.aborted && !closing.signal.aborted) {
      // Not to eat a token that somebody else could use.
      await this.#session.run('leaveLine', [id]).catch(() => undefined);
      const task = bell.handed();
      if (task !== undefined) return decodeHanded(task);
    }
    return answer;
  }

  async confirm(id: string, { id: task, token, leasedAt, leaseUntil }: Leased): Promise<boolean> {
    const args = [id, task, token, leaseUntil - leasedAt];
    const [ok] = flat(await this.#session.runHot('confirm', args));
    return Number(ok) === 1;
  }

  /** A lease has begun: what was rung before it says nothing any more. */
  leasing(id: string): void {
    this.#bells.get(id)?.forget();
  }

  close(): void {
    for (const bell of this.#bells.values()) bell.close();
    this.#bells.clear();
  }

  /** A user is written to each of its lists when it becomes ready, so they are bounded. */
  async #checkRoom(spec: WorkerSpec, lists: readonly (List | undefined)[]): Promise<void> {
    for (const list of lists) if (list !== undefined) await this.#join(spec, list, '0');
  }

  /** Writes the names of a list to each queue in steps; without `write` only looks whether it may. */
  async #join(spec: WorkerSpec, list: List, write: '0' | '1'): Promise<void> {
    for (const queue of spec.queues) {
      for (let from = 0; from === 0 || from < list.names.length; from += NAMES_STEP) {
        const step = list.names.slice(from, from + NAMES_STEP);
        const last = from + NAMES_STEP >= list.names.length ? '1' : '0';
        const args = [spec.id, queue, list.id, write, last, ...step];
        const [word, name] = flat(await this.#session.run('listJoin', args));
        if (word === 'known') break;
        if (word !== 'full') continue;
        const most = LIMITS.listsPerUser;
        throw new InvalidOptionError('assignedUsers', `users on at most ${most} lists`, name);
      }
    }
  }
}

export function decodeWorkers(reply: readonly unknown[]): readonly WorkerInfo[] {
  const workers: WorkerInfo[] = [];
  for (let at = 0; at + 6 < reply.length; at += 7) {
    const spec = JSON.parse(text(reply[at])) as WorkerSpec;
    workers.push({
      ...spec,
      startedAt: Number(reply[at + 1]),
      lastSeenAt: Number(reply[at + 2]),
      running: Number(reply[at + 3]),
      attempts: {
        succeeded: Number(reply[at + 4]),
        failed: Number(reply[at + 5]),
        lost: Number(reply[at + 6]),
      },
    });
  }
  return workers.sort((a, b) => compareUtf8(a.id, b.id));
}

function listOf(kind: 'a' | 's', users: readonly string[]): List {
  const names = [...new Set(users)].sort(compareUtf8);
  const hash = createHash('sha1').update(JSON.stringify(names)).digest('hex');
  return { id: `${kind}${hash}`, names };
}
