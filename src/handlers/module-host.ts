import type { HostLine, HostReply, HostRequest } from './host-messages.ts';

/** Hears of the one task that a host runs. */
export interface HostListener {
  /** The task has ended, and the host may take another one. */
  replied(reply: HostReply): void;
  logged(line: HostLine): void;
  /** The host is gone, for any reason. Called once. */
  gone(cause: unknown): void;
}

/** A thread or a process that runs handlers of modules, one task at a time. */
export interface ModuleHost {
  /** Gives it a task; throws when the input cannot cross. */
  run(request: HostRequest, listener: HostListener): void;
  /** Stops the listener. */
  release(): void;
  /** What runs should end, and the host with it; fulfilled once it is gone. */
  end(reason: unknown): Promise<void>;
  /** The same without grace. */
  kill(): Promise<void>;
  /** Calls back once it is gone, also when nothing ran. */
  whenGone(then: () => void): void;
}

const REPLIES: readonly unknown[] = ['returned', 'unsendable', 'threw'];
const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'];

/** Hands on what came from a host. Handlers may send messages of their own: these are dropped. */
export function notify(listener: HostListener | undefined, message: unknown): void {
  if (listener === undefined || typeof message !== 'object' || message === null) return;
  const kind: unknown = Reflect.get(message, 'kind');
  if (REPLIES.includes(kind)) listener.replied(message as HostReply);
  const isLine = kind === 'log' && LEVELS.includes(Reflect.get(message, 'level'));
  if (isLine) listener.logged(message as HostLine);
}
