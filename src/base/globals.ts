/**
 * The globals of time, taken once when this is loaded: a test that installs fake timers later, as
 * `vi.useFakeTimers()` does by default, must not stop the library too. Nothing else in here may
 * look them up at call time.
 */
import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

/** Of the module, not of the global object: test environments of browsers put others there. */
export const setTimeout: typeof globalThis.setTimeout = timers.setTimeout;
export const clearTimeout: typeof globalThis.clearTimeout = timers.clearTimeout;
export const setInterval: typeof globalThis.setInterval = timers.setInterval;
export const clearInterval: typeof globalThis.clearInterval = timers.clearInterval;
export const setImmediate: typeof globalThis.setImmediate = timers.setImmediate;
export const nextTick: typeof process.nextTick = process.nextTick;

/** Ms since the Unix epoch, on the machine's clock. */
export const epochMs: () => number = Date.now;

/** Ms on a clock that never goes back; for lengths of time. */
export const monotonicMs: () => number = performance.now.bind(performance);
