import { BackendUnavailableError } from '../domain/errors/errors.ts';
import type { Backend } from '../domain/port/backend.ts';

/** Fault of one call. */
export type Fault =
  /** The call never reaches the backend. */
  | 'lose-request'
  /** The backend executes it, and the answer is lost. */
  | 'lose-reply'
  /** The call is sent once this resolves. */
  | { readonly holdUntil: Promise<unknown> }
  /** The answer arrives once this resolves. */
  | { readonly holdReplyUntil: Promise<unknown> }
  /** The call never reaches the backend, and throws this error. */
  | { readonly throw: Error };

/** One call of a backend. */
export interface BackendCall {
  /** Name of the operation, as `tasks.settle`, `workers.register`, `open`. */
  readonly operation: string;
  /** Number of calls of this operation so far, including this one. */
  readonly count: number;
  /** Arguments of the call. */
  readonly args: readonly unknown[];
}

/** Selects the fault of a call; `undefined` for none. */
export type FaultPlan = (call: BackendCall) => Fault | undefined;

const STORES: readonly string[] = [
  'tasks',
  'users',
  'queues',
  'workers',
  'inspect',
  'runs',
  'graphs',
  'schedules',
  'xcom',
  'waits',
  'streams',
  'asks',
  'series',
];

/** Wraps any backend, with faults between it and its caller. */
export function flakyBackend(backend: Backend, plan: FaultPlan): Backend {
  const counts = new Map<string, number>();
  const call = (operation: string, run: Run, args: readonly unknown[]): Promise<unknown> => {
    const count = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, count);
    return withFault(operation, plan({ operation, count, args }), () => run(...args));
  };
  const wrapped = flaky(backend, '', call);
  for (const store of STORES) {
    Object.assign(wrapped, {
      [store]: flaky(Reflect.get(backend, store), `${store}.`, call),
    });
  }
  return wrapped;
}

type Run = (...args: readonly unknown[]) => Promise<unknown>;

/** The same object with every method wrapped by `call`. */
function flaky<T extends object>(
  target: T,
  prefix: string,
  call: (operation: string, run: Run, args: readonly unknown[]) => Promise<unknown>,
): T {
  const wrapped: Record<string, unknown> = {};
  for (const name of namesOf(target)) {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') wrapped[name] = member;
    else {
      const run: Run = (...args) => member.apply(target, args);
      wrapped[name] = (...args: readonly unknown[]) => call(prefix + name, run, args);
    }
  }
  // It has every member of the target, under the same names.
  return wrapped as T;
}

/** Members of an object and of its class. */
function namesOf(target: object): readonly string[] {
  const names = new Set<string>();
  for (
    let level: object = target;
    level !== Object.prototype && level !== null;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  names.delete('constructor');
  return [...names];
}

async function withFault(
  operation: string,
  fault: Fault | undefined,
  run: () => Promise<unknown>,
): Promise<unknown> {
  if (fault === undefined) return run();
  if (fault === 'lose-request') throw new BackendUnavailableError(operation, 'request lost');
  if (fault === 'lose-reply') {
    await run();
    throw new BackendUnavailableError(operation, 'reply lost');
  }
  if ('throw' in fault) throw fault.throw;
  if ('holdUntil' in fault) {
    await fault.holdUntil;
    return run();
  }
  const reply = await run();
  await fault.holdReplyUntil;
  return reply;
}
