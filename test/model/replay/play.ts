/** Clients of one process: calls by chance on many connections at once, in a namespace that others may use too. */
import fc from 'fast-check';
import { isOwn } from '../../../src/domain/errors/errors.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { historyOf } from '../arbitraries.ts';
import { BY_AGE } from '../subjects.ts';
import { Actor, type Scene, type Sent } from './actor.ts';
import { type Plan, Player, REGISTRAR } from './player.ts';
import type { Replayer } from './replayer.ts';
import { recordingScripts } from './scripts.ts';

/** Connections that all calls are made on; the first four are those of the workers. */
const ACTORS = REGISTRAR;

/** Calls of this process without an answer, at most. */
const IN_FLIGHT = 14;

/** Of so many calls the connection of one breaks. */
const CUT_EVERY = 60;

/** Most steps of one history of the model. */
const PART = 60;

/** What is known of the history so far. */
export interface Watched {
  readonly replayer: Replayer;
  /** Of all tasks that were stored. */
  readonly ids: ReadonlySet<string>;
  /** Reads on what the server has done. */
  read(): Promise<void>;
  /** A client was answered. */
  answered(id: string, answer: unknown): void;
}

export interface PlayOptions {
  readonly scene: Scene;
  readonly seed: number;
  /** Begins all names of this process. */
  readonly name: string;
  /** How many calls, about. */
  readonly calls: number;
  /** By which it is chosen what is called. */
  readonly history: Watched;
  /** Only where no other process is: workers with lists register before all else. */
  readonly alone: boolean;
}

/** A random number from 0 up to a bound, by a seed: xorshift. */
export function chanceOf(seed: number): (bound: number) => number {
  let state = (seed ^ 0x9e3779b9) | 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

export async function play(options: PlayOptions): Promise<void> {
  const { scene, seed, name, history } = options;
  const chance = chanceOf(seed);
  const player = new Player(name, history.replayer);
  const scripts = recordingScripts();
  const actors = Array.from({ length: ACTORS + 1 }, () => new Actor(scene, scripts));
  const flying = new Set<Promise<void>>();
  let calls = 0;
  let failure: unknown;

  function send(plan: Plan, again = false): void {
    const at = plan.worker ?? chance(ACTORS);
    const actor = actors[at];
    if (actor === undefined) return;
    calls += 1;
    const sent: Sent = { id: `${name}${calls}`, call: plan.call, passMs: plan.passMs };
    const answer = actor.ask(sent).then(
      (told) => {
        plan.told?.(told);
        history.answered(sent.id, told);
      },
      (error: unknown) => {
        // The worker was not, or is no more; or it is unknown whether the call was done: many go once more.
        if (isOwn(error, 'INVALID_OPTION')) return;
        if (!isOwn(error, 'BACKEND_UNAVAILABLE')) throw error;
        if (isBroken(error)) throw error;
        if (!again && chance(2) === 0) send({ ...plan, passMs: undefined }, true);
      },
    );
    const flight = answer
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => flying.delete(flight));
    flying.add(flight);
    if (chance(CUT_EVERY) === 0) setImmediate(() => actor.cut());
  }

  async function look(): Promise<void> {
    await history.read();
    if (!options.alone) player.client.used([...history.ids]);
  }

  try {
    for (const { backend } of actors) await opened(backend);
    for (const plan of player.beginnings(options.alone)) send(plan);
    // Also what is sent once more: lists are written in several steps, beside which nothing can be compared.
    while (flying.size > 0) await Promise.all(flying);
    for (let part = 0; calls < options.calls; part += 1) {
      const [steps = []] = fc.sample(historyOf(PART), { seed: seed + part, numRuns: 1 });
      for (const step of steps) {
        for (const plan of player.plansOf(step)) send(plan);
        if (chance(4) === 0) await look();
        while (flying.size >= IN_FLIGHT) await Promise.race(flying);
        if (failure !== undefined) throw failure;
      }
    }
    while (flying.size > 0) await Promise.all(flying);
    await history.read();
    if (failure !== undefined) throw failure;
  } finally {
    for (const actor of actors) await actor.close();
  }
}

/** Its connection may break before it is used. */
async function opened(backend: Backend, attempts = 5): Promise<void> {
  try {
    await backend.open({ retention: BY_AGE });
  } catch (error) {
    if (attempts === 0 || !isOwn(error, 'BACKEND_UNAVAILABLE')) throw error;
    await opened(backend, attempts - 1);
  }
}

/** Whether a script broke off, which no connection explains. */
function isBroken(error: Error): boolean {
  return /script|Lua|ERR /.test(`${error.message} ${String(error.cause)}`);
}
