import { createHash } from 'node:crypto';
import { linkAbort, onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, monotonicMs, setImmediate, setTimeout } from '../../base/globals.ts';
import { compareUtf8 } from '../../base/utf8-order.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { workerIdTaken } from '../../domain/errors/worker-id.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Leased, WorkerStore, WorkNotice } from '../../domain/port/backend.ts';
import type { Registration, WorkerInfo, WorkerSpec } from '../../domain/port/inspection.ts';
import { type RedisClient, sibling } from './connection/client.ts';
import { hold } from './connection/connection.ts';
import type { Session } from './connection/session.ts';
import { decodeHanded, flat, text } from './wire/decode.ts';
import { spreadOf } from './wire/encode.ts';

/** Names of a list per script. */
const NAMES_STEP = 200;

/** Time after the end of a BLPOP, in ms, before its connection counts as dead. */
const GRACE_MS = 2_000;

/** Longest single block, in ms; a longer wait is made of several. */
const BLOCK_MS = 2 * LIMITS.floorMs;

/** One distinct list of users: sorted, named by its kind and content. */
interface List {
  readonly id: string;
  readonly names: readonly string[];
}

/** A registration of this process. */
interface Known {
  readonly spec: WorkerSpec;
  readonly instance: string | undefined;
}

/** See `WorkerStore`. Keeps the registrations of this process, to repeat them after a loss. */
export class RedisWorkers implements WorkerStore {
  readonly #session: Session;
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Map<string, WakeListener>();

  constructor(session: Session) {
    this.#session = session;
  }

  register(spec: WorkerSpec, { starts = false, instance }: Registration = {}): Promise<void> {
    return this.#register({ spec, instance }, starts ? 'start' : 'change');
  }

  async #register(known: Known, why: 'start' | 'again' | 'change'): Promise<void> {
    const { spec, instance = '' } = known;
    const assigned = spec.assignedUsers === undefined ? undefined : listOf('a', spec.assignedUsers);
    const steal = Array.isArray(spec.stealTargets) ? listOf('s', spec.stealTargets) : undefined;
    const { id, queues, names } = spec;
    const stealName = spec.stealTargets === 'any' ? 'any' : (steal?.id ?? '');
    const info = JSON.stringify(spec);
    const rest = [assigned?.id ?? '', stealName, why, instance];
    await this.#checkListsPerUser(spec, [assigned, steal]);
    const args = [id, info, `,${names.join(',')},`, queues.join(','), ...rest];
    const [answer] = flat(await this.#session.run('register', args));
    if (text(answer) === 'taken') throw workerIdTaken(id);
    this.#known.set(id, known);
    for (const list of [assigned, steal]) {
      if (list !== undefined) await this.#join(spec, list, '1');
    }
  }

  /** The server has lost the worker, or dropped its lists while it was silent. */
  async registerAgain(id: string): Promise<void> {
    const known = this.#known.get(id);
    if (known !== undefined) await this.#register(known, 'again');
  }

  async unregister(id: string, instance = ''): Promise<void> {
    const listener = this.#listeners.get(id);
    this.#known.delete(id);
    listener?.close();
    this.#listeners.delete(id);
    await this.#session.run('unregister', [id, instance, listener?.got ?? '']);
  }

  async list(): Promise<readonly WorkerInfo[]> {
    const reply = flat(await this.#session.run('workerList', []));
    return decodeWorkers(reply);
  }

  async waitForWork(id: string, ms: number, signal: AbortSignal): Promise<WorkNotice> {
    const { closing } = this.#session;
    if (signal.aborted || closing.signal.aborted || !this.#known.has(id)) return 'timeout';
    const listener = this.#listenerOf(id);
    const either = linkAbort(signal, closing.signal);
    const answer = await listener.wait(ms, either.signal).finally(() => either.unlink());
    if (typeof answer === 'object') return answer;
    if (answer === 'timeout' && signal.aborted && !closing.signal.aborted) {
      // Otherwise it would keep a token, or a task, that another worker could use.
      listener.begin('');
      await this.#session.run('leaveLine', [id, listener.got]).catch(() => undefined);
    }
    return answer;
  }

  /**
   * Called before a request for leases: earlier tokens are void. Answers the request for which it
   * got its latest handed task: the server takes back tasks that have not arrived by now.
   */
  leasing(id: string, requestId: string): string {
    return this.#known.has(id) ? this.#listenerOf(id).begin(requestId) : '';
  }

  /** The request was answered: the server knows what the worker got before. */
  leased(id: string, requestId: string): void {
    this.#listeners.get(id)?.answered(requestId);
  }

  #listenerOf(id: string): WakeListener {
    const known = this.#listeners.get(id);
    if (known !== undefined) return known;
    const listener = new WakeListener(this.#session.client, this.#session.keys.wake(id));
    this.#listeners.set(id, listener);
    return listener;
  }

  close(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  /** A user is added to each of its lists when it becomes ready, so they are bounded. */
  async #checkListsPerUser(spec: WorkerSpec, lists: readonly (List | undefined)[]): Promise<void> {
    for (const list of lists) if (list !== undefined) await this.#join(spec, list, '0');
  }

  /** Writes the names of a list to each queue in steps; without `write` only checks whether it may. */
  async #join(spec: WorkerSpec, list: List, write: '0' | '1'): Promise<void> {
    for (const queue of spec.queues) {
      for (let from = 0; from === 0 || from < list.names.length; from += NAMES_STEP) {
        const step = list.names.slice(from, from + NAMES_STEP);
        const last = from + NAMES_STEP >= list.names.length ? '1' : '0';
        const args = [spec.id, queue, list.id, write, last, ...step];
        const [word, name] = flat(await this.#session.run('listJoin', args));
        if (word === 'known' || word === 'gone') break;
        if (word !== 'full') continue;
        const most = LIMITS.listsPerUser;
        throw new InvalidOptionError('assignedUsers', `users on at most ${most} lists`, name);
      }
    }
  }
}

/** Parses workers of a reply, seven values each, by id. */
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

/**
 * The wake list of one worker: blocks on its own list, on its own connection. There is only one BLPOP at a
 * time; an abandoned wait leaves it to the next one, so that no token is lost in between. A task handed for
 * a request is dropped once the worker has sent another: the server takes it back then.
 */
class WakeListener {
  readonly #client: RedisClient;
  readonly #key: string;
  #popping: Promise<void> | undefined;
  /** A token arrived without a waiting call. */
  #isWoken = false;
  /** A task that arrived in place of a token. */
  #handed: Leased | undefined;
  /** The latest request for leases. */
  #request = '';
  /** The request of the latest handed task, while the server may not know that it arrived. */
  got = '';
  #waiting = 0;
  #closed = false;

  constructor(client: RedisClient, key: string) {
    this.#client = sibling(client);
    this.#key = key;
    this.#client.on('error', ignore);
    this.#client.on('connect', () => hold(this.#client, this.#waiting > 0));
  }

  /** A request voids what came before it; a repeated one is the same. */
  begin(requestId: string): string {
    this.#isWoken = false;
    if (requestId !== this.#request) this.#handed = undefined;
    this.#request = requestId;
    return this.got;
  }

  /** See `RedisWorkers.leased`. */
  answered(requestId: string): void {
    if (this.got !== requestId) this.got = '';
  }

  /** Answers a wake-up, or the lease of a handed task. */
  async wait(ms: number, signal: AbortSignal): Promise<WorkNotice> {
    if (signal.aborted || this.#closed) return 'timeout';
    this.#waiting++;
    hold(this.#client, true);
    const until = monotonicMs() + ms;
    try {
      while (!this.#isWoken) {
        const handed = this.#handed;
        if (handed !== undefined) {
          this.#handed = undefined;
          this.got = this.#request;
          return handed;
        }
        const left = until - monotonicMs();
        if (left <= 0 || this.#isOver(signal)) return 'timeout';
        this.#popping ??= this.#pop(Math.min(left, BLOCK_MS));
        await firstOf(this.#popping, left, signal);
      }
      this.#isWoken = false;
      return 'woken';
    } finally {
      this.#waiting--;
      hold(this.#client, this.#waiting > 0);
    }
  }

  #took(handed: Leased): void {
    if (requestOf(handed.token) === this.#request) this.#handed = handed;
  }

  close(): void {
    this.#closed = true;
    this.#client.disconnect();
  }

  #isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.#closed;
  }

  /** One BLPOP. A broken or silent connection ends it; the next one connects anew. */
  async #pop(ms: number): Promise<void> {
    let isOut = true;
    // When the event loop was blocked, the answer may be in the socket: it is read before the check.
    const silent = setTimeout(
      () => setImmediate(() => isOut && this.#client.disconnect()),
      ms + GRACE_MS,
    );
    silent.unref();
    try {
      if (this.#client.status !== 'ready') await this.#client.connect();
      const seconds = Math.max(ms, 10) / 1_000;
      const popped = await this.#client.call('blpop', [this.#key, seconds.toFixed(3)]);
      const [, sign] = Array.isArray(popped) ? popped : [];
      if (sign === '1') this.#isWoken = true;
      else if (typeof sign === 'string') this.#took(decodeHanded(sign));
    } catch {
      // Unreachable: the next lease reports it. Pauses meanwhile, each worker for another time, so
      // that they do not all return at once.
      if (!this.#closed) await pause(GRACE_MS * (0.15 + 0.2 * spreadOf(this.#key)));
    } finally {
      isOut = false;
      clearTimeout(silent);
      this.#popping = undefined;
    }
  }
}

/** The request of a lease: a token is a number and the request. */
function requestOf(token: string): string {
  return token.slice(token.indexOf('-') + 1);
}

/** Settles with the promise, after `ms`, or when the signal aborts. */
function firstOf(promise: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const unwatch = onAbort([signal], done);
    void promise.then(done, done);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function ignore(): void {
  // A failed block is retried, or the worker's next lease reports it.
}
