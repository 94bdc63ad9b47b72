/** What the memory engine makes of a history: each answer, and the state after each call. */
import { createHash } from 'node:crypto';
import {
  argsOf,
  isRequest,
  jsonReply,
  kindOf,
  type RequestName,
} from '../../../src/backends/file/log/calls.ts';
import { Engine, EngineClock } from '../../../src/backends/file/replay/engine.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';
import { RETENTION, START_MS } from '../../model/harness.ts';
import { stateText } from '../../support/file/state-text.ts';

/** A call of a history. */
export interface Call {
  readonly moment: number;
  readonly name: RequestName;
  readonly args: readonly unknown[];
}

/** No other call has its arguments. */
export function callOf(line: string): Call {
  const [moment, name, ...args] = JSON.parse(line);
  if (!isRequest(name)) throw new Error(`no call: ${String(name)}`);
  return { moment, name, args: argsOf(name, args) };
}

/** An answer, or a refusal, as text. */
export async function textOf(name: RequestName, reply: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(jsonReply(name, await reply)) ?? 'nothing';
  } catch (error) {
    return `refused: ${codeOf(error)}`;
  }
}

/** `EIO`, `BACKEND_FULL`; the text of what has no code. */
export function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code') ?? error);
}

/** The same for the same state. */
export function digestOf(store: Store): string {
  return createHash('sha1').update(stateText(store)).digest('base64');
}

/** After some calls. */
export interface Known {
  /** To the last of them. */
  readonly answer: string;
  readonly digest: string;
}

interface Node extends Known {
  readonly next: Map<string, Node>;
}

/** Remembers every history that it was asked about. */
export class Oracle {
  readonly #root: Promise<Node> = rootOf();

  /** Before the first call, and after each. */
  async path(lines: readonly string[]): Promise<readonly Known[]> {
    const path = [await this.#root];
    for (const line of lines) {
      const next = path.at(-1)?.next.get(line);
      if (next === undefined) break;
      path.push(next);
    }
    if (path.length > lines.length) return path;
    const machine = await newMachine();
    for (const [at, line] of lines.entries()) {
      const answer = await machine.take(callOf(line));
      if (at + 1 < path.length) continue;
      const node = { answer, digest: digestOf(machine.engine.store), next: new Map() };
      path.at(-1)?.next.set(line, node);
      path.push(node);
    }
    return path;
  }

  /** The store after these calls. */
  async store(lines: readonly string[]): Promise<Store> {
    const machine = await newMachine();
    for (const line of lines) await machine.take(callOf(line));
    return machine.engine.store;
  }
}

async function rootOf(): Promise<Node> {
  const { engine } = await newMachine();
  return { answer: '', digest: digestOf(engine.store), next: new Map() };
}

interface Machine {
  readonly engine: Engine;
  take(call: Call): Promise<string>;
}

async function newMachine(): Promise<Machine> {
  let now = START_MS;
  const clock = { now: () => now, setTimer: () => ({ cancel: () => undefined }) };
  const engine = new Engine(new EngineClock(clock));
  await engine.step(START_MS, 'retention', [RETENTION]);
  return {
    engine,
    take: async ({ moment, name, args }) => {
      now = moment;
      if (name === 'retention') throw new Error('it is said once');
      if (kindOf(name) === 'look') return textOf(name, engine.look(name, args));
      const step = name === 'tasks.remove' ? 'remove' : name;
      const answer = await textOf(name, engine.step(moment, step, args));
      if (step === 'remove' && answer === '{"kind":"more"}')
        throw new Error('a removal of several steps');
      return answer;
    },
  };
}
