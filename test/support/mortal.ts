/** Processes that die in the middle of what they do. */
import type { Backend } from '../../src/domain/backend.ts';
import { flakyBackend } from '../../src/testing/flaky-backend.ts';

/** The same backend for a process that dies at its call of this number: nothing is answered then. */
export function mortal(backend: Backend, lastCall: number): { backend: Backend; died(): boolean } {
  let calls = 0;
  const never = new Promise<never>(() => undefined);
  const wrapped = flakyBackend(backend, ({ operation }) => {
    if (operation === 'workers.waitForWork' || operation === 'inspect.waitForEnd') return undefined;
    calls++;
    if (calls < lastCall) return undefined;
    // The last call arrives, and nobody is left to hear the answer.
    return calls === lastCall ? { holdReplyUntil: never } : { holdUntil: never };
  });
  return { backend: wrapped, died: () => calls >= lastCall };
}
