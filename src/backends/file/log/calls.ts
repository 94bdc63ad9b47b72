/**
 * The port as a table: every call with its kind. What is written to the log, and what goes over the
 * socket, is a call of it.
 */

import type { Backend } from '../../../domain/port/backend.ts';
import { SeriesRow } from '../../../domain/series/series-row.ts';
import { taskRows, tasksOf } from './task-rows.ts';

/** The parts of the port that have calls. */
export type Parts = Omit<Backend, 'name' | 'capabilities' | 'open' | 'close'>;

/**
 * How a call uses room · `growth`: it stores more · `start`: it begins tasks, which end later · `record`: it
 * stores the outcome of a task, as a result · `step`: it frees room, or takes almost none.
 */
export type StepKind = 'growth' | 'start' | 'record' | 'step';

/**
 * `step`: it may change what is stored, so it is written down before it is answered: it frees room, or is needed for that,
 * as settings; the last of the room is kept for it · `growth`, `start`, `record`: see `StepKind`; each is a step that
 * is refused when there is no room but that which is kept for those behind it · `look`: it changes nothing · `wait`: it
 * answers when something happens, or its signal, which is the last argument, aborts.
 */
export type CallKind = StepKind | 'look' | 'wait';

const CALLS = {
  tasks: {
    enqueue: 'growth',
    lease: 'start',
    settle: 'record',
    extend: 'step',
    tick: 'step',
    cancel: 'step',
    redrive: 'step',
    remove: 'step',
    runNow: 'step',
  },
  users: { set: 'step', get: 'look', everywhere: 'look', list: 'look' },
  queues: { set: 'step', get: 'look', list: 'look' },
  workers: {
    register: 'step',
    unregister: 'step',
    list: 'look',
    waitForWork: 'wait',
  },
  inspect: {
    get: 'look',
    owners: 'look',
    status: 'look',
    attempts: 'look',
    list: 'look',
    errorGroups: 'look',
    dependents: 'look',
    facts: 'look',
    stats: 'look',
    missing: 'look',
    runnable: 'look',
    waitForEnd: 'wait',
    reconcile: 'step',
    ping: 'look',
  },
  runs: {
    checkpoint: 'record',
    load: 'look',
    writeChannel: 'record',
    readChannel: 'look',
    pause: 'record',
    pausePart: 'step',
    resume: 'step',
  },
  graphs: { save: 'growth', load: 'step' },
  schedules: {
    set: 'growth',
    get: 'look',
    list: 'look',
    remove: 'step',
    due: 'step',
    fire: 'growth',
    leave: 'step',
    lag: 'look',
  },
  xcom: { write: 'growth', read: 'look', list: 'look', namespaces: 'look' },
  waits: { signal: 'growth', publish: 'growth', figures: 'look' },
  streams: { append: 'growth', read: 'look', waitForChunks: 'wait', list: 'look' },
  asks: { answer: 'record', get: 'look', list: 'look' },
  series: { add: 'step', read: 'look' },
} as const satisfies { readonly [P in keyof Parts]: { readonly [M in keyof Parts[P]]: CallKind } };

/** `tasks.enqueue` and all others. */
export type CallName = {
  [P in keyof Parts]: `${P}.${Extract<keyof Parts[P], string>}`;
}[keyof Parts];

/** What may be asked: a call; or, as `retention`, how long the asker wants ended tasks to be kept. */
export type RequestName = CallName | 'retention';

/** In place of an answer: the call was not taken, so nothing has come of it, and it is to be made of the next owner. */
export const NOT_TAKEN: unique symbol = Symbol('not taken');

/** Carries out a call, somewhere. Who has the data, or asks who has, may answer {@link NOT_TAKEN}. */
export type Carry = (name: RequestName, args: readonly unknown[]) => Promise<unknown>;

const KINDS: ReadonlyMap<string, CallKind> = new Map(
  Object.entries(CALLS).flatMap(([part, methods]) =>
    Object.entries(methods).map(([method, kind]) => [`${part}.${method}`, kind] as const),
  ),
);

/** What kind of call it is; `undefined`: there is none of this name. */
export function kindOf(name: string): CallKind | undefined {
  return KINDS.get(name);
}

/** Whether it can be asked. */
export function isRequest(name: string): name is RequestName {
  return name === 'retention' || KINDS.has(name);
}

/** The parts of a backend; `carry` carries out their calls. */
export function partsOf(carry: Carry): Parts {
  const parts: Record<string, Record<string, unknown>> = {};
  for (const name of KINDS.keys()) {
    const [part = '', method = ''] = name.split('.');
    const methods = parts[part] ?? {};
    parts[part] = methods;
    methods[method] = (...args: unknown[]) => carry(name as CallName, args);
  }
  return parts as unknown as Parts;
}

/** The same call of a backend. */
export function carrierOf(parts: Parts): Carry {
  const methods = new Map<string, (...args: readonly unknown[]) => Promise<unknown>>();
  for (const name of KINDS.keys()) {
    const [part = '', method = ''] = name.split('.');
    const owner: unknown = Reflect.get(parts, part);
    const found: unknown = Reflect.get(Object(owner), method);
    if (typeof found === 'function') methods.set(name, found.bind(owner));
  }
  return async (name, args) => methods.get(name)?.(...args);
}

/** Arguments as JSON can carry them. A missing one at the end, or between others, becomes null. */
export function jsonArgs(name: string, args: readonly unknown[]): readonly unknown[] {
  return withFirst(name, args, TO_JSON);
}

/** … and back: no argument of the port is null. */
export function argsOf(name: string, json: readonly unknown[]): readonly unknown[] {
  return withFirst(name, json.map(undefinedOfNull), FROM_JSON);
}

/** An answer as JSON can carry it. */
export function jsonReply(name: string, reply: unknown): unknown {
  if (name !== 'series.read' || !hasCells(reply)) return reply;
  return { ...reply, cells: reply.cells.map(textRow) };
}

/** … and back: neither an answer nor an item of one is null. */
export function replyOf(name: string, json: unknown): unknown {
  if (Array.isArray(json)) return json.map(undefinedOfNull);
  if (name === 'series.read' && hasCells(json)) {
    return { ...json, cells: json.cells.map(wholeRow) };
  }
  return undefinedOfNull(json);
}

/** Calls whose first argument, a list, stands otherwise in JSON. */
type Forms = Readonly<Record<string, (list: readonly unknown[]) => readonly unknown[]>>;

const TO_JSON: Forms = {
  'tasks.enqueue': taskRows,
  'series.add': (entries) => entries.map(textRow),
};

const FROM_JSON: Forms = {
  'tasks.enqueue': tasksOf,
  'series.add': (entries) => entries.map(wholeRow),
};

function withFirst(name: string, args: readonly unknown[], forms: Forms): readonly unknown[] {
  const form = forms[name];
  const [first, ...others] = args;
  return form === undefined || !Array.isArray(first) ? args : [form(first), ...others];
}

function hasCells(value: unknown): value is { readonly cells: readonly unknown[] } {
  return (
    typeof value === 'object' && value !== null && 'cells' in value && Array.isArray(value.cells)
  );
}

function undefinedOfNull(value: unknown): unknown {
  return value ?? undefined;
}

function textRow(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('row' in entry)) return entry;
  return { ...entry, row: entry.row instanceof SeriesRow ? entry.row.text() : entry.row };
}

function wholeRow(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('row' in entry)) return entry;
  return { ...entry, row: SeriesRow.of(String(entry.row)) };
}
