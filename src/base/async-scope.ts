/**
 * The async context (`AsyncLocalStorage`) in which code runs. Tracers and similar libraries call
 * `enterWith`, which changes the context of their caller: it must never become the context of the
 * library's own loops, and so that of the next task or of a listener.
 */
import { AsyncResource } from 'node:async_hooks';

/** The context in which the library was loaded. User code never runs in it directly. */
const ROOT = new AsyncResource('Fairloom');

/** It emits no event when it is collected. */
const MANUAL = { requireManualDestroy: true } as const;

/** Runs code of the library outside of the contexts of callers and handlers. */
export function atRoot<T>(code: () => T): T {
  return ROOT.runInAsyncScope(code);
}

/**
 * Runs user code. It starts in the current context, and changes of the context end with it. Each
 * call has its own scope: up to Node 22 a shared one would keep the changes.
 */
export function callUserCode<A extends readonly unknown[], T>(
  code: (...args: A) => T,
  ...args: A
): T {
  return new AsyncResource('FairloomCall', MANUAL).runInAsyncScope(code, undefined, ...args);
}
