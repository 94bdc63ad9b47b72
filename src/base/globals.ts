/**
 * The global functions of time, read once when this module is loaded: fake timers that a test
 * installs later, as `vi.useFakeTimers()` does by default, must not stop the library too. No
 * function here may read them at call time.
 */
import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

/** From the module, not from the global object: browser test environments replace those. */
export const setTimeout: typeof globalThis.setTimeout = timers.setTimeout;
export const clearTimeout: typeof globalThis.clearTimeout = timers.clearTimeout;
export const setInterval: typeof globalThis.setInterval = timers.setInterval;
export const clearInterval: typeof globalThis.clearInterval = timers.clearInterval;
export const setImmediate: typeof globalThis.setImmediate = timers.setImmediate;
export const nextTick: typeof process.nextTick = process.nextTick;

/** Ms since the Unix epoch, on the machine's clock. */
export const epochMs: () => number = Date.now;

/** Ms on a monotonic clock; for durations. */
export const monotonicMs: () => number = performance.now.bind(performance);
