/** What the steps of the model's histories are as calls that run beside each other. */
import type { DueReply, LeaseReply, LeaseRequest } from '../../../src/domain/port/backend.ts';
import type { Call } from '../calls.ts';
import { Client } from '../client.ts';
import type { World } from '../oracle/world.ts';
import { ownerName } from '../schedulers.ts';
import { QUEUES, type Step, USERS } from '../steps.ts';
import type { Asked } from './asked.ts';
import type { Replayer } from './replayer.ts';

/** A call that is to be made. */
export interface Plan {
  readonly call: Asked;
  /** On whose connection; absent: on any. */
  readonly worker?: number | undefined;
  /** So much time passes before it, in ms. */
  readonly passMs?: number | undefined;
  /** What the client does with the answer. */
  readonly told?: (answer: unknown) => void;
}

/** Longer than this no time passes at once, but now and then; most work would be over. */
const USUAL_MS = 60_000;

/** Registers a worker with lists in several scripts: only while nothing else runs. */
const LISTED: ReadonlySet<number> = new Set([2, 3, 4, 5, 6]);
const VARIANTS = 8;
const UNLISTED = 1;

/** The connection on which workers with lists register. */
export const REGISTRAR = 8;

export class Player {
  readonly client: Client;
  readonly #replayer: Replayer;
  #looked = 0;

  constructor(name: string, replayer: Replayer) {
    this.client = new Client(name);
    this.#replayer = replayer;
  }

  /** What goes before everything else, one call after another. */
  beginnings(withLists: boolean): readonly Plan[] {
    return [0, 1, 2, 3].map((at) => {
      if (!withLists) this.client.worker(at).spec = at % 2;
      // Elsewhere its lists are not known, which would be written anew in several steps beside others.
      return { ...this.#register(at, true), worker: LISTED.has(at) ? REGISTRAR : at };
    });
  }

  /** The calls of a step, by what was replayed so far; none where it says nothing here. */
  plansOf(step: Step): readonly Plan[] {
    const { client, world } = this;
    switch (step.type) {
      case 'lease':
        return this.#byWorker(step.worker, this.#lease(step.worker, client.leaseRequest(step)));
      case 'resendLease': {
        const { request } = client.worker(step.worker);
        // On another connection, maybe beside the first one.
        return request === undefined
          ? []
          : [{ ...this.#lease(step.worker, request), worker: undefined }];
      }
      case 'settle':
        return this.#settle(step);
      case 'resendSettle':
        return client.lastSettle ? [{ call: { type: 'settle', request: client.lastSettle } }] : [];
      case 'extend':
        return this.#byWorker(step.worker, {
          call: { type: 'extend', request: client.extendRequest(step) },
        });
      case 'publish': {
        const { user, event } = step;
        const starts = client.schedulers.starts(step, client.ids, world);
        client.used(starts.flatMap(({ task }) => task?.id ?? []));
        return [{ call: { type: 'publish', user, event, starts } }];
      }
      case 'dueSchedules':
        return [this.#due(step.owner, step.limit)];
      case 'fire': {
        const request = client.schedulers.request(step, client.ids, world);
        client.schedulers.lastFire = request ?? client.schedulers.lastFire;
        client.used(request?.firings.map(({ task }) => task.id) ?? []);
        const fires = request ? [{ call: { type: 'fire', request } } as const] : [];
        return [...fires, this.#due(step.owner, 3)];
      }
      case 'resendFire': {
        const request = client.schedulers.lastFire;
        return request ? [{ call: { type: 'fire', request } }] : [];
      }
      case 'register':
        client.worker(step.worker).spec = LISTED.has(step.spec % VARIANTS) ? UNLISTED : step.spec;
        return [this.#register(step.worker, step.starts)];
      case 'lose':
        client.lose(step.worker);
        return [];
      case 'advance':
        return step.ms > 0 ? this.#pass(step.ms) : [];
      case 'advanceTo': {
        const due = this.#replayer.oracle.nextDueAt;
        const ms = (due ?? 0) + step.offset - this.#replayer.now;
        return ms > 0 ? this.#pass(ms) : [];
      }
      case 'crowd':
      case 'reconcile':
      case 'flush':
        return [];
      default: {
        const call = client.call(tamed(step), world);
        if (call === undefined) return [];
        const worker = step.type === 'unregister' ? step.worker : undefined;
        return [{ call, worker }, ...this.#looks(call)];
      }
    }
  }

  get world(): World {
    return this.#replayer.oracle.world;
  }

  /** After a call a client looks at what it has changed, and at something else. */
  #looks(call: Call): readonly Plan[] {
    const { ids } = this.client;
    const nth = this.#looked;
    this.#looked += 1;
    const user = USERS[nth % USERS.length] ?? 'ann';
    const queue = QUEUES[nth % QUEUES.length] ?? '';
    const id = 'id' in call ? call.id : (ids[nth % Math.max(1, ids.length)] ?? 'nobody');
    const some = [id, ...ids.slice(-8)];
    // No index holds those that are started: they are read in steps.
    const states = ['scheduled', 'deferred', 'finished', 'failed', 'canceled'] as const;
    const state = states[nth % states.length] ?? 'failed';
    const looks: readonly Asked[] = [
      { type: 'get', ids: some },
      { type: 'user', user, queue },
      { type: 'status', ids: some },
      { type: 'queue', queue },
      { type: 'user', user, queue },
      { type: 'list', filter: { state } },
      { type: 'list', filter: { state: 'queued', user, queue } },
      { type: 'user', user, queue },
      { type: 'attempts', id },
      { type: 'facts', ids: [id] },
      { type: 'workers' },
    ];
    const look = looks[nth % looks.length];
    return look === undefined ? [] : [{ call: look }];
  }

  #settle(step: Extract<Step, { readonly type: 'settle' }>): readonly Plan[] {
    const { client } = this;
    const settlements = client.settlements(step.worker, step.settlements, this.world);
    if (settlements.length === 0) return [];
    const lease = step.lease && client.leaseRequest({ ...step.lease, worker: step.worker });
    const { id } = client.worker(step.worker);
    const request = { worker: id, settlements, ...(lease === undefined ? {} : { lease }) };
    client.lastSettle = request;
    const told = (answer: unknown): void => {
      client.settled(step.worker, settlements);
      const given = (answer as { readonly lease?: LeaseReply }).lease;
      if (lease !== undefined && given !== undefined)
        client.given(step.worker, lease, given.leases);
    };
    return this.#byWorker(step.worker, { call: { type: 'settle', request }, told });
  }

  #lease(worker: number, request: LeaseRequest): Plan {
    const told = (answer: unknown): void =>
      this.client.given(worker, request, (answer as LeaseReply).leases);
    return { call: { type: 'lease', request }, told };
  }

  #due(at: number, limit: number): Plan {
    const owner = ownerName(at);
    return {
      call: { type: 'dueSchedules', request: { owner, limit } },
      told: (answer) => this.client.schedulers.told(owner, answer as DueReply),
    };
  }

  /** Time passes in a step that changes nothing else. */
  #pass(ms: number): readonly Plan[] {
    const call = { type: 'setQueue', queue: QUEUES[0] ?? '', patch: {} } as const;
    const isUsual = ms <= USUAL_MS || this.client.ids.length % 4 === 0;
    return [{ call, passMs: isUsual ? ms : ms % USUAL_MS }];
  }

  /** A worker registers before its first call, on the connection of that. */
  #byWorker(at: number, plan: Plan): readonly Plan[] {
    const worker = this.client.worker(at);
    const isKnown = worker.registered && this.world.workers.has(worker.id);
    if (!isKnown && LISTED.has(worker.spec % VARIANTS)) worker.spec = UNLISTED;
    return [...(isKnown ? [] : [this.#register(at, false)]), { ...plan, worker: at }];
  }

  #register(at: number, starts: boolean): Plan {
    this.client.worker(at).registered = true;
    return { call: { type: 'register', spec: this.client.spec(at), starts }, worker: at };
  }
}

/**
 * A weight a thousand times that of others: a grain by which the tags of the engines differ is worth turns then, and
 * so long a history comes there.
 */
const HUGE = 100_000;

function tamed<S extends Step>(step: S): S {
  if (step.type !== 'setUser' || step.patch.weight !== HUGE) return step;
  return { ...step, patch: { ...step.patch, weight: HUGE / 100 } };
}
