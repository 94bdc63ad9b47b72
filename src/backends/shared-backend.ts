import type { Logger } from '../base/logger.ts';
import { ClosedError } from '../domain/errors/errors.ts';
import type { Retention } from '../domain/fairness/settings.ts';
import type { Backend, BackendInfo } from '../domain/port/backend.ts';
import { logDeadLetters } from '../logging/dead-letter-lines.ts';
import { say } from '../logging/log-events.ts';

/** Clients that were made on each backend and are not closed: it is closed by the last one. */
const clients = new WeakMap<Backend, number>();

/** A backend that is opened on first use, and refuses use after its end. Several clients may share one. */
export class SharedBackend {
  /** As it is, open or not: workers use it, since they have ends of their own. */
  readonly backend: Backend;
  readonly #given: Backend;
  #isCounted = false;
  readonly #retention: Retention;
  /** Where it tells what goes wrong. */
  readonly log: Logger;
  /** Present from the first use; forgotten when opening failed, so that the next use tries again. */
  #opening: Promise<Backend> | undefined;
  #isOpen = false;
  #info: BackendInfo = { description: '', warnings: [] };
  /** The signal says the same: of a flag each call of a caller may ask. */
  #isClosed = false;
  readonly #ending = new AbortController();

  /** @param given - the backend that `backend` stands before; clients of the same one share it. */
  constructor(backend: Backend, given: Backend, retention: Retention, log: Logger) {
    this.backend = backend;
    this.#given = given;
    this.#retention = retention;
    this.log = log;
  }

  /** The client was closed, or is being closed. */
  get closed(): boolean {
    return this.#isClosed;
  }

  /** Aborts when the client begins to close. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** The backend if it is open already: the hot path waits for no promise. */
  get now(): Backend | undefined {
    this.#demandUse();
    return this.#isOpen ? this.backend : undefined;
  }

  /**
   * @throws {@link BackendUnavailableError} when it cannot be opened now, {@link ClosedError} when
   * the client was closed.
   */
  async open(): Promise<Backend> {
    this.#demandUse();
    return this.ready();
  }

  /** What the backend said about itself when it was opened. Throws as {@link SharedBackend.open}. */
  async info(): Promise<BackendInfo> {
    await this.open();
    return this.#info;
  }

  /** The same for workers, which go on a little while the client closes. */
  ready(): Promise<Backend> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** From now on every use by a caller is refused. */
  refuse(): void {
    this.#isClosed = true;
    this.#ending.abort();
  }

  async close(): Promise<void> {
    this.refuse();
    if (this.#isLast()) await this.backend.close();
  }

  /** The client is made: the backend is not closed before this is. */
  share(): void {
    this.#isCounted = true;
    clients.set(this.#given, (clients.get(this.#given) ?? 0) + 1);
  }

  #isLast(): boolean {
    if (!this.#isCounted) return false;
    this.#isCounted = false;
    const left = (clients.get(this.#given) ?? 1) - 1;
    clients.set(this.#given, left);
    return left === 0;
  }

  #demandUse(): void {
    if (this.#isClosed) throw new ClosedError('this Fairloom');
  }

  async #open(): Promise<Backend> {
    try {
      const info = await this.backend.open({
        retention: this.#retention,
        report: ({ text, error, logBytes }) =>
          say(this.log, 'backend.problem', text, { error, logBytes }),
        deadLetters: (letters) => logDeadLetters(this.log, letters),
      });
      for (const warning of info.warnings) say(this.log, 'backend.warning', warning, {});
      say(this.log, 'backend.opened', info.description, {});
      this.#isOpen = true;
      this.#info = info;
      return this.backend;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
