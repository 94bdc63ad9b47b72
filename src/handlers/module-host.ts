import type { HostLine, HostReply, HostRequest } from './host-messages.ts';

/** Receives the end of the one task that a host runs. */
export interface HostListener {
  /** The task has ended, and the host may run another one. */
  replied(reply: HostReply): void;
  logged(line: HostLine): void;
  /** The host has exited, for any reason. Called once. */
  gone(cause: unknown): void;
}

/** A thread or a process that runs handlers of modules, one task at a time. */
export interface ModuleHost {
  /** Runs a task; throws when the input cannot be sent. */
  run(request: HostRequest, listener: HostListener): void;
  /** Removes the listener. */
  release(): void;
  /** Ends its task and the host; resolves when it has exited. */
  end(reason: unknown): Promise<void>;
  /** Ends the host without grace. */
  kill(): Promise<void>;
  /** Calls back when it has exited, even if no task ran. */
  whenGone(then: () => void): void;
}

const REPLIES: readonly unknown[] = ['returned', 'unsendable', 'threw'];
const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'];

/** Passes on a message of a host. Messages of handlers are dropped. */
export function notify(listener: HostListener | undefined, message: unknown): void {
  if (listener === undefined || typeof message !== 'object' || message === null) return;
  const kind: unknown = Reflect.get(message, 'kind');
  if (REPLIES.includes(kind)) listener.replied(message as HostReply);
  const isLine = kind === 'log' && LEVELS.includes(Reflect.get(message, 'level'));
  if (isLine) listener.logged(message as HostLine);
}
