/** The interface of a compared library: the same few verbs of each. */
import type { Payload } from './payload.ts';

export type RedisSideName = 'fairloom' | 'fairloom-each' | 'bullmq' | 'bullmq-queues' | 'bee-queue';

/** One task, independent of a library. */
export interface Work {
  readonly payload: Payload;
  /** Only Fairloom has users, and the side with a queue for each. */
  readonly user: string;
  /** Not before this many ms from now. */
  readonly delayMs?: number;
  /** Its number among those of its user, from 1: other libraries put it into priorities to be fair. */
  readonly rank?: number;
}

export interface Side {
  readonly name: RedisSideName;
  producer(url: string): Promise<Producer>;
  worker(url: string, options: WorkerOptions): Promise<Closable>;
}

export interface Closable {
  /** Answers when all begun jobs have been settled. */
  close(): Promise<void>;
}

export interface Producer extends Closable {
  /** Answers when it is stored. */
  add(work: Work): Promise<void>;
  /** In the library's own call for many; all of them have the same user. */
  addMany(works: readonly Work[]): Promise<void>;
}

/** Starts flows of one shape: a parent that waits for its children. */
export interface FlowCaller extends Closable {
  /** Answers when the flow is stored. */
  add(user: string): Promise<void>;
}

export interface WorkerOptions {
  readonly slots: number;
  /** Some libraries look for delayed tasks only when an option says so. */
  readonly delayed: boolean;
  /** The handler. */
  readonly handle: (payload: Payload) => Promise<void>;
}
