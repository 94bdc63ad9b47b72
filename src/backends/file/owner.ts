import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import type { Retention } from '../../domain/fairness/settings.ts';
import type { BackendSettings, Pong } from '../../domain/port/backend.ts';
import { type CallName, type Carry, kindOf, NOT_TAKEN, type StepKind } from './log/calls.ts';
import type { CommandLog } from './log/command-log.ts';
import { type Engine, lineOf, type StepName } from './replay/engine.ts';

/** So often at most the owner ticks by itself before it refuses a call. */
const TICKS = 16;

/** What an owner is made of. */
export interface OwnerParts {
  readonly engine: Engine;
  readonly log: CommandLog;
  /** After a commit: the log has grown. */
  readonly grown: () => void;
  /** There is no room; answers whether there may be some now. */
  readonly makeSpace: () => Promise<boolean>;
  /** What goes wrong though calls are answered, a line each. */
  readonly problems: () => readonly string[];
  /** False: another process has the data now, and may have changed it. */
  readonly stillOwns: () => boolean;
  /** As of `BackendSettings`. */
  readonly deadLetters?: BackendSettings['deadLetters'];
}

/**
 * The process that has the data open. A step happens in memory and is answered when the disk has it; a read
 * waits for the steps before it, so that it shows nothing that a loss of power would undo.
 */
export class Owner {
  readonly #engine: Engine;
  readonly #log: CommandLog;
  readonly #grown: () => void;
  readonly #makeSpace: () => Promise<boolean>;
  readonly #problems: () => readonly string[];
  readonly #stillOwns: () => boolean;
  readonly #deadLetters: BackendSettings['deadLetters'];
  /** How long ended tasks are kept in the step that was taken last; and as it was written down. */
  #retention: Retention | undefined;
  #written = '';
  readonly #removals = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(parts: OwnerParts) {
    this.#engine = parts.engine;
    this.#log = parts.log;
    this.#grown = parts.grown;
    this.#makeSpace = parts.makeSpace;
    this.#problems = parts.problems;
    this.#stillOwns = parts.stillOwns;
    this.#deadLetters = parts.deadLetters;
    this.#engine.begin();
  }

  /** Carries out the calls of one asker: each has its own word on how long ended tasks are kept. */
  asker(): Carry {
    let retention: Retention | undefined;
    return async (name, args) => {
      if (this.#isOver) return NOT_TAKEN;
      if (name === 'retention') {
        [retention] = args as [Retention];
        return undefined;
      }
      const kind = kindOf(name);
      switch (kind) {
        case 'look':
          return this.#own(name === 'inspect.ping' ? this.#pong() : this.#look(name, args));
        case 'wait':
          return this.#own(this.#wait(name, args));
        case 'growth':
        case 'start':
          return this.#step(name, args, retention, kind);
        case 'record':
          return this.#step(name, args, retention, leases(name, args) ? 'start' : kind);
        default:
          return name === 'tasks.remove'
            ? this.#remove(args, retention)
            : this.#step(name, args, retention);
      }
    };
  }

  /** Takes no more calls; fulfilled when those that are several steps are carried out. Then waits answer at once. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#removals);
    this.#engine.close();
  }

  /** One more commit, which changes nothing. It waits for no room: it is made to free some. */
  async mark(): Promise<void> {
    if (this.#retention !== undefined) await this.#take('retention', [this.#retention]);
  }

  /**
   * What was read counts only while the data is this process's own: an owner that was held up may read on what another one
   * has changed. A step is refused by the log then.
   */
  async #own(reading: Promise<unknown>): Promise<unknown> {
    const reply = await reading;
    return this.#stillOwns() ? reply : NOT_TAKEN;
  }

  async #look(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const reply = this.#engine.look(name, args);
    const { pending } = this.#log;
    if (pending !== undefined) await this.#settled(name, pending, reply);
    return reply;
  }

  async #pong(): Promise<Pong> {
    const problems = this.#problems();
    return problems.length === 0 ? { ms: 0 } : { ms: 0, problems };
  }

  /** A hint needs not be on the disk; how a task has ended does. */
  async #wait(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const reply = await this.#engine.look(name, args);
    const { pending } = this.#log;
    if (reply !== undefined && name === 'inspect.waitForEnd') await pending;
    return reply;
  }

  async #step(
    name: StepName,
    args: readonly unknown[],
    retention: Retention | undefined,
    kind: StepKind = 'step',
  ): Promise<unknown> {
    this.#keep(retention);
    const at = this.#lineNow(name, args);
    try {
      this.#log.admit(at.line, kind);
    } catch (error) {
      // No worker is given work that ticks meanwhile.
      if (kind === 'start' || kind === 'record') await this.#tick(retention);
      const hasSpace = await this.#makeSpace();
      if (this.#isOver) return NOT_TAKEN;
      if (!hasSpace) throw error;
      return this.#step(name, args, retention, kind);
    }
    return this.#take(name, args, at);
  }

  /** What has ended goes, as far as it has been kept for long enough. */
  async #tick(retention: Retention | undefined): Promise<void> {
    for (let ticks = 0; ticks < TICKS; ticks++) {
      const { more, deadLetters } = Object(await this.#step('tasks.tick', [], retention));
      // No call is answered with them.
      if (deadLetters !== undefined) this.#deadLetters?.(deadLetters);
      if (this.#isOver || more !== true) return;
    }
  }

  async #take(
    name: StepName,
    args: readonly unknown[],
    at: { readonly moment: number; readonly line: string } = this.#lineNow(name, args),
  ): Promise<unknown> {
    const durable = this.#log.append(at.line);
    const reply = this.#engine.step(at.moment, name, args);
    await this.#settled(name, durable, reply);
    return reply;
  }

  #lineNow(
    name: StepName,
    args: readonly unknown[],
  ): { readonly moment: number; readonly line: string } {
    const moment = this.#engine.now();
    return { moment, line: lineOf(moment, name, args) };
  }

  async #remove(args: readonly unknown[], retention: Retention | undefined): Promise<unknown> {
    const removal = this.#removeAll(args, retention);
    this.#removals.add(removal);
    try {
      return await removal;
    } finally {
      this.#removals.delete(removal);
    }
  }

  /** Any number of tasks may wait for one that is removed: it takes them along some at a time. */
  async #removeAll(args: readonly unknown[], retention: Retention | undefined): Promise<unknown> {
    for (;;) {
      const reply = await this.#step('remove', args, retention);
      if (!isMore(reply)) return reply;
    }
  }

  async #settled(name: string, durable: Promise<void>, reply: Promise<unknown>): Promise<void> {
    // It is awaited later: until then a refusal is no unhandled rejection.
    reply.catch(() => undefined);
    try {
      await durable;
    } catch (cause) {
      this.#break();
      throw new BackendUnavailableError(name, cause);
    }
    this.#grown();
  }

  #keep(retention: Retention | undefined): void {
    if (retention === undefined || retention === this.#retention) return;
    this.#retention = retention;
    const text = JSON.stringify(retention);
    if (text === this.#written) return;
    this.#written = text;
    this.#note('retention', [retention]);
  }

  /** A step whose answer is not awaited. */
  #note(name: StepName, args: readonly unknown[]): void {
    const { moment, line } = this.#lineNow(name, args);
    this.#log.append(line).catch(() => this.#break());
    this.#engine.step(moment, name, args).catch(() => undefined);
  }

  /** It stops: the content of the disk is unknown, or another process has taken over. */
  #break(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#engine.close();
  }
}

/** A settlement may lease the next tasks. */
function leases(name: StepName, [request]: readonly unknown[]): boolean {
  return name === 'tasks.settle' && Object(request).lease !== undefined;
}

function isMore(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && 'kind' in reply && reply.kind === 'more';
}
