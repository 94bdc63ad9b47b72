/** A worker that dies after any of its calls, while others go on. */
import { expect } from 'vitest';
import type { Fairloom } from '../../src/client/client.ts';
import type { TaskHandle } from '../../src/enqueue/handle.ts';
import type { Task } from '../../src/workflow/step.ts';
import type { Harness, OpenHarness } from './backends.ts';
import { mortal } from './processes/mortal.ts';
import { stride } from './rounds.ts';

/** One worker's death: what is enqueued, and who is left. */
export interface Death<O> {
  readonly own: Harness;
  /** Of those that live. */
  readonly loom: Fairloom;
  readonly handle: TaskHandle<O>;
  /** The number of the call after which the worker dies. */
  readonly lastCall: number;
  /** Starts the worker that dies, and lets it go on as far as it can. */
  startDoomed(): Promise<void>;
}

/** How it is tried, call by call. */
export interface EveryCall<O> {
  readonly open: OpenHarness;
  readonly backend: 'memory' | 'redis';
  /** The first is enqueued with 1. */
  readonly tasks: readonly [Task<number, O>, ...Task<number, unknown>[]];
  /** More calls than this are made. */
  readonly least: number;
}

/** Does the same once for each call after which the worker may die, until it makes no more of them. */
export async function afterEveryCall<O>(
  { open, backend: name, tasks, least }: EveryCall<O>,
  act: (death: Death<O>) => Promise<void>,
): Promise<void> {
  const runUntil = async (lastCall: number): Promise<boolean> => {
    const own = await open();
    const { backend, died } = mortal(own.backend, lastCall);
    const doomed = own.loom(tasks, { backend });
    const loom = own.loom(tasks);
    const handle = await loom.enqueue(tasks[0], 1);
    const startDoomed = async (): Promise<void> => {
      void doomed
        .worker({ concurrency: 2 })
        .start()
        .catch(() => undefined);
      await own.quiet();
    };
    await act({ own, loom, handle, lastCall, startDoomed });
    await own.close();
    return died();
  };
  let lastCall = 1;
  while (await runUntil(lastCall)) lastCall += stride(name);
  expect(lastCall).toBeGreaterThan(least);
}
