import { monotonicMs, setTimeout } from '../../../base/globals.ts';
import type { Retention } from '../../../domain/fairness/settings.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { BackendInfo, BackendSettings, Pong } from '../../../domain/port/backend.ts';
import { text } from '../wire/decode.ts';
import { retentionText } from '../wire/encode.ts';
import { type Keys, keysOf } from '../wire/keys.ts';
import type { ScriptArgument } from '../wire/script.ts';
import { OPERATIONS, SCRIPTS, type Scripts, type Verb } from '../wire/scripts.ts';
import type { RedisClient } from './client.ts';
import { Connection, Subscriber } from './connection.ts';
import { Repair } from './repair.ts';
import { type Examined, examine, type Standing, standingOf } from './server-check.ts';

/** Options of a backend. */
export interface SessionOptions {
  readonly client: RedisClient;
  /** False for a client of the user. */
  readonly owned: boolean;
  readonly prefix: string;
  readonly scripts?: Scripts | undefined;
  /** Rebuilds what an aborted call may have left incomplete. */
  readonly repairAll: (session: Session) => Promise<unknown>;
}

const KEEP: Retention = {
  finishedMs: LIMITS.retainFinishedMs,
  failedMs: LIMITS.retainFailedMs,
  canceledMs: LIMITS.retainCanceledMs,
};

/** The connection for commands, with the state that every call needs. Opened by the first call. */
export class Session {
  readonly keys: Keys;
  readonly client: RedisClient;
  readonly connection: Connection;
  /** Aborts when the backend closes; waits end with it. */
  readonly closing: AbortController = new AbortController();
  readonly repair: Repair;
  /** Receives messages for all waits. */
  readonly subscriber: Subscriber;
  /**
   * Keys that every script declares. On a Cluster also a key that never exists: while the slot
   * moves one of the two is missing on either node, and a script is refused before it runs, where
   * otherwise it would find some of its keys and not the others.
   */
  readonly declared: readonly string[];
  /** The same as arguments: after their count. */
  readonly #keys: readonly ScriptArgument[];
  readonly #heads = new Map<Verb | 'careful', ScriptArgument[]>();
  readonly #scripts: Scripts;
  #retention: string = retentionText(KEEP);
  #examined: Promise<Examined> | undefined;
  /** Last state of the server; until it is known, nothing is promised. */
  #standing: Standing = { durable: false, problems: [] };
  #opened = false;
  #submissions = 0;

  constructor({ client, owned, prefix, scripts, repairAll }: SessionOptions) {
    this.repair = new Repair(this, () => repairAll(this));
    this.client = client;
    this.keys = keysOf(prefix);
    this.connection = new Connection(client, owned);
    const { clock, oom } = this.keys;
    this.declared = this.connection.isCluster ? [clock, oom] : [clock];
    this.#keys = [String(this.declared.length), ...this.declared];
    this.subscriber = new Subscriber(client);
    this.#scripts = scripts ?? SCRIPTS;
  }

  /** Numbers the large batches of this process, for unique names. */
  nextSubmission(): number {
    this.#submissions++;
    return this.#submissions;
  }

  /** Retention as text for scripts. */
  get retention(): string {
    return this.#retention;
  }

  async open(settings?: BackendSettings): Promise<BackendInfo> {
    if (settings !== undefined) this.#retention = retentionText(settings.retention);
    this.#examined ??= examine(this.connection, this.keys).catch((error: unknown) => {
      // The next call tries again.
      this.#examined = undefined;
      throw error;
    });
    const { info, standing } = await this.#examined;
    if (!this.#opened) this.#standing = standing;
    this.#opened = true;
    return info;
  }

  /** Calls the function of the verb, or the script if the server refuses functions. */
  async run(verb: Verb, args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      if (!this.#opened) await this.open();
      const { library } = this.#scripts;
      const given = this.#headOf(verb).concat(args);
      const reply = await this.connection.call(OPERATIONS[verb], library, given);
      return reply === undefined ? await this.#byScript(verb, [...args, verb]) : reply;
    } catch (error) {
      return await this.repair.again(verb, args, error);
    }
  }

  /** A call that sets aside what cannot be read; `look`: reports it without moving it. */
  async guarded(verb: Verb, args: readonly ScriptArgument[], look: boolean): Promise<unknown> {
    if (!this.#opened) await this.open();
    const { library } = this.#scripts;
    const careful = [...args, `${look ? '?' : '!'}${verb}`];
    const given = this.#headOf('careful').concat(careful);
    const reply = await this.connection.call(OPERATIONS[verb], library, given);
    return reply === undefined ? this.#byScript(verb, careful) : reply;
  }

  /** First arguments of a function: its name, and the keys after their count. */
  #headOf(verb: Verb | 'careful'): ScriptArgument[] {
    const known = this.#heads.get(verb);
    if (known !== undefined) return known;
    const head = [this.#scripts.library.functions[verb], ...this.#keys];
    this.#heads.set(verb, head);
    return head;
  }

  #byScript(verb: Verb, args: readonly ScriptArgument[]): Promise<unknown> {
    const { script } = this.#scripts;
    return this.connection.run(OPERATIONS[verb], script, [...this.#keys, ...args]);
  }

  async command(operation: string, command: string, args: ScriptArgument[]): Promise<unknown> {
    if (!this.#opened) await this.open();
    return this.connection.command(operation, command, args);
  }

  /** Names of the libraries of other versions on the server, which `remove` deletes. */
  otherLibraries(remove: boolean): Promise<readonly string[]> {
    return this.connection.otherLibraries('reconcile', this.#scripts.library, remove);
  }

  /** Whether the server keeps what it answered, by its last state. */
  get isDurable(): boolean {
    return this.#standing.durable;
  }

  async ping(): Promise<Pong> {
    if (!this.#opened) await this.open();
    const start = monotonicMs();
    const node = await this.connection.ping('ping', this.declared);
    const ms = monotonicMs() - start;
    this.#standing = standingOf(text(await this.connection.of('ping', node, 'INFO')));
    const { problems } = this.#standing;
    return problems.length === 0 ? { ms } : { ms, problems };
  }

  /** Keys that match a pattern, some at a time, for full scans. */
  async *scan(operation: string, pattern: string, count: number): AsyncGenerator<string[]> {
    if (!this.#opened) await this.open();
    yield* this.connection.keys(operation, pattern, count);
  }

  /** Waits between two attempts of one call, which keeps the process alive anyway. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  }

  close(): void {
    this.closing.abort();
    this.subscriber.close();
    this.connection.close();
  }
}
