/**
 * The names of the keys that TypeScript needs; the twin of `lua/lib/keys.lua`, which builds all
 * others. Fixed parts first, at most one free string, and that last.
 */

import { InvalidOptionError } from '../../domain/errors.ts';
import { shown } from '../../domain/fairloom-error.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isName } from '../../domain/names.ts';

/** What begins every key unless another prefix is asked for. */
export const DEFAULT_PREFIX = 'fq';

/**
 * A name, or a name in braces, which is a hash tag on Cluster. A `:` is not for names: it parts the
 * prefix from what stands behind it, so that no key of one prefix can be one of another.
 */
export function checkPrefix(prefix: unknown): void {
  const text = typeof prefix === 'string' ? prefix : '';
  const [, tag] = /^\{(.*)\}$/s.exec(text) ?? [];
  if (isName(tag ?? text)) return;
  const near = nearName(tag ?? text);
  const hint = near === '' ? '' : `, as "${tag === undefined ? near : `{${near}}`}"`;
  const rule = `letters, digits, ".", "_" and "-", at most ${LIMITS.nameLength}, or that in braces`;
  const why = '":" parts the prefix from the rest of a key';
  const expected = `a name of ${rule} (${why})`;
  // The near name is made of the value, which may be secret where only what is expected is shown.
  const message = `prefix: expected ${expected}${hint}, got ${shown(prefix)}`;
  throw new InvalidOptionError('prefix', expected, prefix, message);
}

/** The name that is nearest to a text. */
function nearName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9._-]+/g, '.').replace(/^[^A-Za-z0-9]+/, '');
  return name.slice(0, LIMITS.nameLength).replace(/\.+$/, '');
}

export interface Keys {
  /** Names the namespace to every script, and fixes its slot. */
  readonly clock: string;
  readonly meta: string;
  /** Begins every key. */
  readonly base: string;
  /** The snapshot of a graph, and one that is on its way there. */
  graph(hash: string): string;
  graphNew(hash: string): string;
  /** Tokens that wake one worker. */
  wake(worker: string): string;
  /** Channel by which one process is told of the ends of tasks. */
  told(process: string): string;
  /** What was set aside since it could not be read, by what it was. */
  readonly damaged: string;
  /** Texts of all tasks, by id. */
  readonly tasks: string;
  /** Names of all queues. */
  readonly queues: string;
  /** Workers that have leases. */
  readonly leases: string;
  /** What a run has written down. */
  run(id: string): string;
  /** What the members of a run share. */
  channel(id: string): string;
  /** An idempotency key of one user in one queue. */
  key(queue: string, user: string, key: string): string;
  user(queue: string, user: string): string;
  state(state: string): string;
  /** Tasks of a user in line, of one level. */
  line(queue: string, user: string, level: number): string;
}

export function keysOf(prefix: string): Keys {
  const base = `${prefix}:`;
  return {
    clock: `${base}clock`,
    meta: `${base}meta`,
    base,
    wake: (worker) => `${base}wake:${worker}`,
    graph: (hash) => `${base}graph:${hash}`,
    graphNew: (hash) => `${base}graph-new:${hash}`,
    told: (process) => `${base}told:${process}`,
    damaged: `${base}damaged`,
    tasks: `${base}tasks`,
    queues: `${base}queues`,
    leases: `${base}leases`,
    run: (id) => `${base}run:${id}`,
    channel: (id) => `${base}channel:${id}`,
    key: (queue, user, key) => `${base}key:${queue}:${pair(user, key)}`,
    user: (queue, user) => `${laneOf(base, queue)}user:${user}`,
    state: (state) => `${base}state:${state}`,
    line: (queue, user, level) => {
      return `${laneOf(base, queue)}line${level === 3 ? '' : level}:${user}`;
    },
  };
}

/** Two free strings as one: `<bytes of the first>:<first><second>`. */
function pair(first: string, second: string): string {
  return `${Buffer.byteLength(first)}:${first}${second}`;
}

function laneOf(base: string, queue: string): string {
  return queue === 'default' ? base : `${base}lane:${queue}:`;
}
