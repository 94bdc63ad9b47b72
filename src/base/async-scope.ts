/**
 * In which async context (`AsyncLocalStorage`, that is) code runs. Tracers and the like call
 * `enterWith`, which changes the context of their caller: it must never become the context
 * of the library's own loops, and so that of the next task or of a listener.
 */
import { AsyncResource } from 'node:async_hooks';

/** The context in which the library was loaded. No code of a user runs in it directly. */
const ROOT = new AsyncResource('Fairloom');

/** It emits no event when it is collected. */
const MANUAL = { requireManualDestroy: true } as const;

/** Runs code of the library that serves no call: in no caller's context, and in no handler's. */
export function atRoot<T>(code: () => T): T {
  return ROOT.runInAsyncScope(code);
}

/**
 * Runs code of a user. It begins in the context that holds here, and what it enters ends with it.
 * Each gets a scope of its own: up to Node 22 one that is shared would keep what was entered.
 */
export function callUserCode<A extends readonly unknown[], T>(
  code: (...args: A) => T,
  ...args: A
): T {
  return new AsyncResource('FairloomCall', MANUAL).runInAsyncScope(code, undefined, ...args);
}
