/** Processes that die in the middle of what they do. */
import type { Backend } from '../../../src/domain/port/backend.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';

/**
 * The same backend for a process that dies at its call of this number: nothing is answered then.
 * `after`: that call arrives, and its caller is gone; `before`: it does not arrive.
 */
export function mortal(
  backend: Backend,
  lastCall: number,
  moment: 'before' | 'after' = 'after',
): { backend: Backend; died(): boolean } {
  let calls = 0;
  const never = new Promise<never>(() => undefined);
  const wrapped = flakyBackend(backend, ({ operation }) => {
    if (!counts(operation)) return undefined;
    calls++;
    if (calls < lastCall) return undefined;
    const arrives = calls === lastCall && moment === 'after';
    return arrives ? { holdReplyUntil: never } : { holdUntil: never };
  });
  return { backend: wrapped, died: () => calls >= lastCall };
}

const WAITS = ['workers.waitForWork', 'inspect.waitForEnd', 'streams.waitForChunks'];

/** Waiting does nothing, and a look at schedules comes at any time. */
function counts(operation: string): boolean {
  if (operation.startsWith('schedules.')) return false;
  return !WAITS.includes(operation);
}
