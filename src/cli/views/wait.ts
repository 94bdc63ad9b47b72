/** Waiting at a terminal, with a note of what is waited for. */
import { clearInterval, setInterval } from '../../base/globals.ts';
import type { Fairloom } from '../../client/client.ts';
import type { TaskHandle } from '../../enqueue/handle.ts';
import type { Output } from '../terminal/output.ts';

/** Between two lines about it, in ms. */
const EVERY_MS = 3_000;

/** The result, with a line on stderr every few seconds until it is there: the nearest obstacle. */
export function resultSaying(
  loom: Fairloom,
  handle: TaskHandle<unknown>,
  { output, timeout }: { readonly output: Output; readonly timeout: TimeoutOption },
): Promise<unknown> {
  const wait = (): Promise<unknown> => handle.result(timeout === undefined ? {} : { timeout });
  return saying(() => sayObstacle(loom, handle.id, output), wait);
}

/** What comes of a wait, during which something is said every few seconds. */
export async function saying<T>(say: () => Promise<void>, wait: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void say(), EVERY_MS);
  try {
    return await wait();
  } finally {
    clearInterval(timer);
  }
}

type TimeoutOption = NonNullable<Parameters<TaskHandle<unknown>['result']>[0]>['timeout'];

/** What a task waits for, as far as that can be found out. */
export async function sayObstacle(loom: Fairloom, id: string, output: Output): Promise<void> {
  try {
    const { state, obstacles } = await loom.tasks.explain(id);
    const [nearest] = obstacles;
    if (nearest === undefined || nearest.kind === 'ended') return;
    const help = nearest.command === undefined ? '' : ` (${nearest.command})`;
    output.note(`waiting: ${id} is ${state}: ${nearest.text}${help}`);
  } catch {
    // What is wrong, the wait itself will say.
  }
}
