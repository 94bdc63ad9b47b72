/**
 * The clients of a history: which ids were used, which leases each worker believes in, what may be
 * sent again. It turns a step into the call that goes to every backend and to the oracle.
 */
import type {
  BatchOptions,
  ExtendRequest,
  Leased,
  LeaseRef,
  LeaseRequest,
  QueueShare,
  Settlement,
  SettleRequest,
  WorkerSpec,
} from '../../src/domain/port/backend.ts';
import type { ChannelWrites } from '../../src/domain/task/channel.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import type { Call } from './calls.ts';
import { decisionOf } from './decisions.ts';
import { graphOf, newTask, UNKNOWN } from './items.ts';
import { ended, type World } from './oracle/world.ts';
import { ownerName, Schedulers, scheduleName } from './schedulers.ts';
import { specOf } from './specs.ts';
import type {
  Among,
  AnswerStep,
  ChannelStep,
  HolderStep,
  ItemStep,
  LeaseStep,
  SettlementStep,
  Step,
} from './steps.ts';

export interface LeasedRef {
  readonly id: string;
  readonly token: string;
}

export interface Batch {
  readonly tasks: readonly NewTask[];
  readonly options: BatchOptions;
}

interface WorkerState {
  /** A process that died comes back under another id. */
  generation: number;
  spec: number;
  registered: boolean;
  leased: LeasedRef[];
  request: LeaseRequest | undefined;
  passes: Map<string, number>;
}

type StepOf<T extends Step['type']> = Extract<Step, { readonly type: T }>;

/** Steps that are one call each, which nothing comes before. */
type SingleStep = Exclude<
  Step,
  {
    readonly type:
      | 'lease'
      | 'resendLease'
      | 'settle'
      | 'resendSettle'
      | 'extend'
      | 'dueSchedules'
      | 'fire'
      | 'resendFire'
      | 'publish'
      | 'crowd'
      | 'register'
      | 'lose'
      | 'reconcile'
      | 'advance'
      | 'advanceTo'
      | 'flush';
  }
>;

export class Client {
  readonly ids: string[] = [];
  readonly batches: Batch[] = [];
  readonly schedulers = new Schedulers();
  /** Every lease that was ever given. */
  readonly leases: LeasedRef[] = [];
  lastSettle: SettleRequest | undefined;
  lastCheckpoint: Extract<Call, { readonly type: 'checkpoint' }> | undefined;
  readonly #workers: WorkerState[] = [0, 1, 2, 3].map((spec) => ({
    generation: 0,
    spec,
    registered: false,
    leased: [],
    request: undefined,
    passes: new Map(),
  }));
  readonly #name: string;
  #requests = 0;
  #tasks = 0;

  /** Of several clients of one history each has a name, with which begins what it names. */
  constructor(name = '') {
    this.#name = name;
  }

  /** What a step calls that is one call by itself; nothing when there is nothing to call about. */
  call(step: SingleStep, world: World): Call | undefined {
    switch (step.type) {
      case 'enqueue':
        return { type: 'enqueue', ...this.batch(step, world) };
      case 'resendEnqueue': {
        const batch = this.batches[step.pick % Math.max(1, this.batches.length)];
        return batch && { type: 'enqueue', ...batch };
      }
      case 'tick':
      case 'writeValues':
      case 'setQueue':
        return step;
      case 'setUser':
        return { ...step, queue: step.queue };
      case 'checkpoint': {
        const lease = this.lease(step.worker, step);
        if (lease === undefined) return undefined;
        const { entries, channel, values } = step;
        const writes = channel && {
          ...this.channelWrites(lease, channel, world),
          key: channel.key,
          ...(values && { xcom: values }),
        };
        this.lastCheckpoint = { type: 'checkpoint', lease, entries, channel: writes };
        return this.lastCheckpoint;
      }
      case 'resendCheckpoint':
        return this.lastCheckpoint;
      case 'writeChannel': {
        const lease = this.lease(step.worker, step);
        return (
          lease && {
            type: step.type,
            lease,
            channel: this.channelWrites(lease, step.channel, world),
          }
        );
      }
      case 'saveGraph':
      case 'loadGraph':
        return { type: step.type, ...graphOf(step.graph) };
      case 'setSchedule':
        return { type: step.type, change: this.schedulers.change(step, world) };
      case 'removeSchedule':
      case 'getSchedule':
        return { type: step.type, id: scheduleName(step.schedule) };
      case 'leaveSchedules':
        return { type: step.type, owner: ownerName(step.owner) };
      case 'cancel': {
        const cause = { type: 'request', reason: `upstream ${step.pick}` } as const;
        return { type: step.type, id: this.pick(step.among, step.pick, world), cause };
      }
      case 'redrive':
        return {
          type: step.type,
          id: this.pick(step.among, step.pick, world),
          edited: step.edited,
        };
      case 'pauseRun': {
        const { among, pick, reason } = step;
        const id = among === 'owner' ? this.owner(pick, world) : this.pick(among, pick, world);
        return { type: step.type, id, reason };
      }
      case 'pausePart': {
        const id = this.pick(step.among, step.pick, world);
        return { type: step.type, id, run: this.pick('any', step.run, world) };
      }
      case 'resumeRun': {
        const { among, pick } = step;
        const id = among === 'paused' ? this.paused(pick, world) : this.pick(among, pick, world);
        return { type: step.type, id };
      }
      case 'remove':
      case 'runNow':
        return { type: step.type, id: this.pick(step.among, step.pick, world) };
      case 'signal':
        return {
          type: step.type,
          id: this.pick(step.among, step.pick, world),
          signal: step.signal,
        };
      case 'answerAsk': {
        const { choice, by } = step;
        const answer = { choice, by, text: '{"comment":"é"}', call: `call${step.call}` };
        return { type: step.type, id: this.ask(step, world), answer };
      }
      case 'unregister': {
        const worker = this.worker(step.worker);
        worker.registered = false;
        return { type: step.type, id: worker.id };
      }
    }
  }

  batch({ items, atomic: all, fence }: StepOf<'enqueue'>, world: World): Batch {
    const lease = fence === undefined ? undefined : this.lease(fence.worker, fence);
    const atomic = all && lease === undefined;
    const ids: string[] = [];
    for (const item of items) ids.push(this.#idOf(item, ids));
    // Either everything looks back or everything looks ahead, so that a batch has no cycle.
    const ahead = atomic && (items[0]?.salt ?? 0) % 2 === 1;
    const batch = [...new Set(ids)];
    const tasks = items.map((item, at): NewTask => {
      const id = ids[at] ?? '';
      // An id that comes twice stands where it came first.
      const place = batch.indexOf(id);
      const others = ahead ? batch.slice(place + 1) : batch.slice(0, place);
      return newTask(item, { id, others, batch, ids: this.ids, world, atomic });
    });
    const options: BatchOptions =
      lease === undefined ? { atomic } : { atomic: false, fence: lease };
    const sent = { tasks: distinct(tasks), options };
    this.batches.push(sent);
    this.used(ids);
    return sent;
  }

  /** From now on it is looked at what became of them. */
  used(ids: readonly string[]): void {
    for (const id of ids) if (!this.ids.includes(id)) this.ids.push(id);
  }

  /** Nothing of them is left, and no step asks for them again. */
  forget(ids: readonly string[]): void {
    const gone = new Set(ids);
    const kept = this.ids.filter((id) => !gone.has(id));
    this.ids.splice(0, this.ids.length, ...kept);
  }

  #idOf({ salt, again, late }: ItemStep, taken: readonly string[]): string {
    const awaited = `unknown${late}`;
    if (late !== undefined && !taken.includes(awaited)) return awaited;
    const known = again === undefined ? undefined : this.ids[again % (this.ids.length + 1)];
    if (known !== undefined) return known;
    if (again !== undefined) return `unknown${again % UNKNOWN}`;
    this.#tasks += 1;
    // Prefixes whose order by UTF-16 units is not their order by UTF-8 bytes.
    const prefix = ['t', 'b:{x}', '\u{1F4A5}', '\uFF5E', 'a'][salt % 5] ?? 't';
    return `${prefix}${this.#name}${salt}.${this.#tasks}`;
  }

  worker(at: number): WorkerState & { readonly id: string } {
    const state = this.#workers[at % this.#workers.length];
    if (state === undefined) throw new Error('there are four workers');
    return Object.assign(state, {
      id: `${this.#name}w${at % this.#workers.length}.${state.generation}`,
    });
  }

  spec(at: number): WorkerSpec {
    const { id, spec } = this.worker(at);
    return specOf(id, spec);
  }

  leaseRequest({ worker, limit, leaseMs }: LeaseStep): LeaseRequest {
    this.#requests += 1;
    const { id, passes } = this.worker(worker);
    const queues = this.spec(worker).queues.map(
      (queue, at): QueueShare => ({
        queue,
        weight: at === 0 ? 3 : 1,
        pass: passes.get(queue) ?? 0,
      }),
    );
    const requestId = `${this.#name}request${String(this.#requests).padStart(4, '0')}`;
    return { requestId, worker: id, limit, leaseMs, queues, wait: false };
  }

  /** The worker hears what it was given. */
  given(at: number, request: LeaseRequest, leases: readonly Leased[]): void {
    const worker = this.worker(at);
    worker.request = request;
    for (const { id, token, queue } of leases) {
      if (worker.leased.some((leased) => leased.id === id && leased.token === token)) continue;
      worker.leased.push({ id, token });
      if (!this.leases.some((lease) => lease.token === token && lease.id === id)) {
        this.leases.push({ id, token });
      }
      const share = request.queues.find((share) => share.queue === queue);
      worker.passes.set(queue, (worker.passes.get(queue) ?? 0) + 1 / (share?.weight ?? 1));
    }
  }

  /** A lease that the worker speaks for; none when there are none. */
  lease(at: number, { of, pick }: HolderStep): LeasedRef | undefined {
    const from = of === 'held' ? this.worker(at).leased : this.leases;
    const chosen = from[pick % Math.max(1, from.length)];
    if (chosen === undefined) return undefined;
    return { id: chosen.id, token: of === 'forged' ? `${chosen.token}x` : chosen.token };
  }

  settlements(at: number, steps: readonly SettlementStep[], world: World): readonly Settlement[] {
    const pending = new Map<string, readonly string[]>();
    return steps.flatMap((step) => {
      const lease = this.lease(at, step);
      if (lease === undefined) return [];
      const decision = decisionOf(step.decision, {
        ...lease,
        ids: this.ids,
        world,
        pending,
      });
      if (decision.type === 'suspend') {
        // Of several for one task it is not known here which counts.
        pending.set(lease.id, [...(pending.get(lease.id) ?? []), ...decision.waitFor]);
      }
      const { channel, values } = step;
      const shared = channel && { channel: this.channelWrites(lease, channel, world) };
      return [{ ...lease, decision, ...shared, ...(values && { xcom: values }) }];
    });
  }

  /** The run to whose channels a step writes. */
  channelWrites(lease: LeaseRef, { of, pick, writes }: ChannelStep, world: World): ChannelWrites {
    const run = {
      self: lease.id,
      owner: world.tasks.get(lease.id)?.owner ?? lease.id,
      known: this.ids[pick % Math.max(1, this.ids.length)] ?? lease.id,
      unknown: `unknown${pick}`,
    }[of];
    return { run, writes };
  }

  /** What was settled is no longer held, with any answer. */
  settled(at: number, settlements: readonly Settlement[]): void {
    const worker = this.worker(at);
    worker.leased = worker.leased.filter(
      (leased) => !settlements.some(({ id, token }) => leased.id === id && leased.token === token),
    );
  }

  extendRequest({ worker, leaseMs, stale, omit }: StepOf<'extend'>): ExtendRequest {
    const { id, leased } = this.worker(worker);
    const others = stale > 0 ? this.leases.slice(-2) : [];
    const leases = [...leased.slice(omit), ...others].filter(
      (lease, at, all) => all.findIndex(({ id }) => id === lease.id) === at,
    );
    return { worker: id, leaseMs, leases };
  }

  lose(at: number): void {
    const worker = this.worker(at);
    worker.generation += 1;
    worker.registered = false;
    worker.leased = [];
    worker.request = undefined;
    worker.passes = new Map();
  }

  /** A question of the group; any when the group is empty. */
  ask({ of, pick }: AnswerStep, world: World): string {
    const all = [...world.tasks.values()].flatMap(({ asks }) => [...asks.values()]);
    const group = all.filter(({ closing }) => (closing === undefined) === (of === 'open'));
    const from = group.length > 0 ? group : all;
    const chosen = from[pick % Math.max(1, from.length)];
    return of === 'nobody' || chosen === undefined ? `nobody.${pick}` : chosen.record.id;
  }

  /** An id of a run that has members which have not ended; any when there is none. */
  owner(place: number, world: World): string {
    const live = [...world.tasks.values()].filter((task) => !ended(task));
    const owners = new Set(live.flatMap(({ owner, pausedBy }) => pausedBy ?? owner ?? []));
    return this.#among((id) => owners.has(id), place);
  }

  /** An id of a run that is paused; any when there is none. */
  paused(place: number, world: World): string {
    return this.#among((id) => world.tasks.get(id)?.pause !== undefined, place);
  }

  /** An id of the group; any when the group is empty. */
  pick(among: Among, place: number, world: World): string {
    if (among === 'nobody') return `nobody${place}`;
    return this.#among((id) => among === 'any' || world.tasks.get(id)?.state === among, place);
  }

  #among(keep: (id: string) => boolean, place: number): string {
    const group = this.ids.filter(keep);
    const from = group.length > 0 ? group : this.ids;
    return from[place % Math.max(1, from.length)] ?? 'nobody';
  }
}

/** A batch names an id once; the client refuses more. */
function distinct(tasks: readonly NewTask[]): readonly NewTask[] {
  return tasks.filter((task, at) => tasks.findIndex(({ id }) => id === task.id) === at);
}
