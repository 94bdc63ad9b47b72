/**
 * Return values by which a dynamic handler chooses what runs next. Its context makes them, so that
 * the compiler knows their types. They are plain frozen objects with a symbol as key, which no JSON
 * value has, so that the engine can distinguish them from outputs.
 */
import type { StepDefinition } from './pipeline-definition.ts';

/** Marks a control; equal in every copy of the package. */
export const control: unique symbol = Symbol.for('fairloom.control');

/** Carries type parameters; absent at run time. */
declare const types: unique symbol;

/** Run this step, then the successors of the node. */
export interface Next<out O, out X = never> {
  /** Marks the control. */
  readonly [control]: 'next';
  /** Carries the type parameters; absent at run time. */
  readonly [types]: { readonly out: () => O; readonly exit: () => X };
}

/** Run the same node again. */
export interface Again {
  /** Marks the control. */
  readonly [control]: 'again';
}

/** Continue at this step; skip the successors of the node. */
export interface Goto<out P> {
  /** Marks the control. */
  readonly [control]: 'goto';
  /** Carries the type parameter; absent at run time. */
  readonly [types]: { readonly exit: () => P };
}

/** End the run with this value. */
export interface Terminate<out V> {
  /** Marks the control. */
  readonly [control]: 'terminate';
  /** Carries the type parameter; absent at run time. */
  readonly [types]: { readonly exit: () => V };
}

/** A control as the engine reads it. */
export type Control =
  | { readonly [control]: 'next' | 'goto'; readonly step: StepDefinition; readonly input: unknown }
  | { readonly [control]: 'again'; readonly input: unknown }
  | { readonly [control]: 'terminate'; readonly value: unknown };

/** Makes a control: run a step, then the successors. */
export function nextControl(step: StepDefinition, input: unknown): Control {
  return Object.freeze({ [control]: 'next', step, input });
}

/** Makes a control: continue at a step. */
export function gotoControl(step: StepDefinition, input: unknown): Control {
  return Object.freeze({ [control]: 'goto', step, input });
}

/** Makes a control: run the same node again. */
export function againControl(input: unknown): Control {
  return Object.freeze({ [control]: 'again', input });
}

/** Makes a control: end the run. */
export function terminateControl(value: unknown): Control {
  return Object.freeze({ [control]: 'terminate', value });
}

/** The control that a handler returned; `undefined` for an output. */
export function controlOf(returned: unknown): Control | undefined {
  return typeof returned === 'object' && returned !== null && Object.hasOwn(returned, control)
    ? (returned as Control)
    : undefined;
}
