import { LIMITS } from 'fairloom';
import type { Run } from '../support/history.ts';
import type { Fault, Rule } from '../support/redis/fault-proxy.ts';
import { isScript } from '../support/redis/scripts.ts';
import { moveSlot } from '../support/redis/slot-move.ts';
import { type ChaosHarness, pause } from './chaos-harness.ts';
import type { ChaosOptions, FaultKind } from './options.ts';
import type { ChaosPlace } from './place.ts';
import type { SeededRandom } from './seeded-random.ts';

/** One fault that was done. */
export interface Done {
  readonly kind: FaultKind;
  /** From when recovery counts: the death of a worker, the return of a server or network. */
  at: number;
  /** What was in hand when it struck. */
  readonly hit: readonly Run[];
  /** The worker was the owner of the data folder. */
  wasOwner?: boolean;
  /** How the worker ended that was asked to (`term`), in ms. */
  endedMs?: number;
  /** What should not have happened. */
  trouble?: string;
}

/** Ways to hurt a network. */
const CUTS = [
  'all',
  'half',
  'lose-reply',
  'lose-request',
  'freeze',
  'freeze-and-cut',
  'delay',
  'refuse',
] as const;

/** Replies or requests that one fault loses. */
const LOST_AT_ONCE = 3;
/** A rule that met no command by then, in ms, is taken away. */
const RULE_MS = 2_000;
/** Longest pause between two transfers of a slot that moves, in ms; it stays open longest at its beginning. */
const TRANSFER_PAUSE_MS = 60;
/** Longest time that a server stays away, in ms. */
const AWAY_MS = 1_500;

interface FaultParts {
  readonly harness: ChaosHarness;
  readonly seeded: SeededRandom;
  readonly options: ChaosOptions;
  readonly place: ChaosPlace;
}

/** Does faults, one at a time; what goes on afterwards by itself is waited for by `settle`. */
export class Faults {
  readonly #parts: FaultParts;
  readonly #open = new Set<Promise<void>>();
  #cuts = 0;

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  /** Does one fault of this kind. */
  async strike(kind: FaultKind): Promise<Done> {
    switch (kind) {
      case 'kill':
        return this.#kill();
      case 'term':
        return this.#term();
      case 'stop':
        return this.#stop();
      case 'redis-restart':
        return this.#restart();
      case 'flush':
        return this.#flush();
      case 'cut':
        return this.#cut();
      case 'move':
        return this.#move();
    }
  }

  /** Waits for what is still under way. */
  async settle(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #kill(): Promise<Done> {
    const { harness, place } = this.#parts;
    const worker = await this.#target();
    const wasOwner = worker.pid === place.ownerPid();
    harness.dismiss(worker);
    worker.signal('SIGKILL');
    const { at } = await worker.exited;
    const hit = harness.inFlight(worker);
    harness.hire();
    return { kind: 'kill', at, hit, wasOwner };
  }

  async #term(): Promise<Done> {
    const { harness } = this.#parts;
    const worker = await this.#target();
    const done: Done = { kind: 'term', at: Date.now(), hit: harness.inFlight(worker) };
    harness.dismiss(worker);
    worker.signal('SIGTERM');
    harness.hire();
    this.#later(async () => {
      const { code, signal, at } = await worker.exited;
      done.endedMs = at - done.at;
      if (code !== 0) {
        done.trouble = `${worker.id} ended with code ${code}, signal ${signal}\n${worker.said}`;
      }
    });
    return done;
  }

  async #stop(): Promise<Done> {
    const { harness, seeded, options } = this.#parts;
    const worker = await this.#target();
    worker.signal('SIGSTOP');
    harness.frozen.add(worker.id);
    const done: Done = { kind: 'stop', at: Date.now(), hit: harness.inFlight(worker) };
    // An owner that is frozen for long is taken over meanwhile.
    const most = harness.isFolder ? LIMITS.ownerSilentMs * 1.6 : options.leaseMs * 2.5;
    const ms = seeded.between(options.leaseMs * 1.3, most);
    this.#later(async () => {
      await pause(ms);
      worker.signal('SIGCONT');
      harness.frozen.delete(worker.id);
    });
    return done;
  }

  async #restart(): Promise<Done> {
    const { harness, seeded } = this.#parts;
    const hit = harness.inFlight();
    const { server } = servedOf(harness);
    await server.kill();
    await pause(seeded.between(0, AWAY_MS));
    await server.restart();
    await harness.serving();
    return { kind: 'redis-restart', at: Date.now(), hit };
  }

  async #flush(): Promise<Done> {
    const hit = this.#parts.harness.inFlight();
    await this.#parts.place.flushScripts();
    return { kind: 'flush', at: Date.now(), hit };
  }

  async #cut(): Promise<Done> {
    const { harness, seeded } = this.#parts;
    const { proxy } = servedOf(harness);
    const kind = CUTS[this.#cuts++ % CUTS.length];
    const hit = harness.inFlight();
    switch (kind) {
      case 'half':
        proxy.cut(() => seeded.next() < 0.5);
        break;
      case 'lose-reply':
      case 'lose-request':
        await this.#lose({ type: kind, cut: true });
        break;
      case 'freeze':
      case 'freeze-and-cut':
        proxy.freeze();
        await pause(seeded.between(100, AWAY_MS));
        if (kind === 'freeze-and-cut') proxy.cut();
        proxy.thaw();
        break;
      case 'delay':
        proxy.setDelay(seeded.between(20, 200));
        await pause(AWAY_MS);
        proxy.setDelay(0);
        break;
      case 'refuse':
        proxy.refuse(true);
        proxy.cut();
        await pause(seeded.between(100, AWAY_MS));
        proxy.refuse(false);
        break;
      default:
        proxy.cut();
    }
    return { kind: 'cut', at: Date.now(), hit };
  }

  /** The clock goes first, so that what is asked for there meets a part of the namespace. */
  async #move(): Promise<Done> {
    const { harness, seeded } = this.#parts;
    const { cluster, prefix } = harness;
    if (cluster === undefined) throw new TypeError('only a Cluster moves slots');
    const hit = harness.inFlight();
    const done: Done = { kind: 'move', at: Date.now(), hit };
    const most = seeded.between(0, TRANSFER_PAUSE_MS);
    try {
      await moveSlot(cluster, {
        first: `${prefix}:clock`,
        order: (keys) => seeded.shuffled(keys),
        between: () => pause(seeded.between(0, most)),
      });
    } catch (error) {
      done.trouble = `a move of the slot was broken off: ${error}`;
    }
    done.at = Date.now();
    return done;
  }

  /** Loses the next few scripts, or what they answered. */
  async #lose(fault: Fault): Promise<void> {
    const { harness } = this.#parts;
    let left = LOST_AT_ONCE;
    const rule: Rule = ([name = '']) => {
      if (left === 0 || !isScript(name)) return undefined;
      left -= 1;
      return fault;
    };
    const { proxy } = servedOf(harness);
    proxy.setRule(rule);
    await harness.until(() => left === 0, RULE_MS);
    proxy.setRule(undefined);
  }

  /** A worker to hurt, chosen blindly among those that are ready; one other stays. */
  async #target(): Promise<ReturnType<ChaosHarness['hire']>> {
    const { harness, seeded } = this.#parts;
    if (!(await harness.until(() => harness.able().length > 1))) {
      throw new Error(`no two workers got ready:\n${harness.crashes.join('\n')}`);
    }
    return seeded.pick(harness.able());
  }

  #later(act: () => Promise<void>): void {
    const open = act().finally(() => this.#open.delete(open));
    this.#open.add(open);
  }
}

function servedOf({ redis }: ChaosHarness): NonNullable<ChaosHarness['redis']> {
  if (redis === undefined) throw new TypeError('a data folder has no server');
  return redis;
}
