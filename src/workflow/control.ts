/**
 * What a dynamic handler returns to say what comes next. Made by its context, so that the compiler
 * sees the types, and plain frozen objects, so that the engine can tell them from outputs: the key
 * is a symbol, which no JSON value has.
 */
import type { StepDefinition } from './pipeline-definition.ts';

/** Marks a control; the same in every copy of the package. */
export const control: unique symbol = Symbol.for('fairloom.control');

/** Holds type parameters; never a value. */
declare const types: unique symbol;

/** Run this step, then what follows in the graph. */
export interface Next<out O, out X = never> {
  /** Tells it from outputs. */
  readonly [control]: 'next';
  /** Holds the type parameters; never a value. */
  readonly [types]: { readonly out: () => O; readonly exit: () => X };
}

/** Run the same node again. */
export interface Again {
  /** Tells it from outputs. */
  readonly [control]: 'again';
}

/** Go on at this step; what follows in the graph is skipped. */
export interface Goto<out P> {
  /** Tells it from outputs. */
  readonly [control]: 'goto';
  /** Holds the type parameter; never a value. */
  readonly [types]: { readonly exit: () => P };
}

/** End the run with this value. */
export interface Terminate<out V> {
  /** Tells it from outputs. */
  readonly [control]: 'terminate';
  /** Holds the type parameter; never a value. */
  readonly [types]: { readonly exit: () => V };
}

/** A control as the engine reads it. */
export type Control =
  | { readonly [control]: 'next' | 'goto'; readonly step: StepDefinition; readonly input: unknown }
  | { readonly [control]: 'again'; readonly input: unknown }
  | { readonly [control]: 'terminate'; readonly value: unknown };

/** Run a step, then what follows. */
export function nextControl(step: StepDefinition, input: unknown): Control {
  return Object.freeze({ [control]: 'next', step, input });
}

/** Go on at a step. */
export function gotoControl(step: StepDefinition, input: unknown): Control {
  return Object.freeze({ [control]: 'goto', step, input });
}

/** Run the same node again. */
export function againControl(input: unknown): Control {
  return Object.freeze({ [control]: 'again', input });
}

/** End the run. */
export function terminateControl(value: unknown): Control {
  return Object.freeze({ [control]: 'terminate', value });
}

/** The control that a handler returned; `undefined` when it returned an output. */
export function controlOf(returned: unknown): Control | undefined {
  return typeof returned === 'object' && returned !== null && Object.hasOwn(returned, control)
    ? (returned as Control)
    : undefined;
}
