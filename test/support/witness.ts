/**
 * A witness between workers and their backend. It sees which results were taken and what was run,
 * so it can tell when a node runs again under a newer lease after its result was written down, or
 * when a second result is taken for it.
 */
import type { Backend, LeaseRef, SettleRequest } from '../../src/domain/port/backend.ts';

/** What a handler shows of itself. */
interface Running {
  readonly taskId: string;
  readonly fencingToken: number;
}

interface Taken {
  readonly token: string;
  readonly value: string;
}

export class Witness {
  /** The same backend, watched. */
  readonly backend: Backend;
  /** What must not happen. */
  readonly complaints: string[] = [];
  /** Writes under a lease that was not in force, each refused by the backend. */
  refused = 0;
  readonly #taken = new Map<string, Taken>();
  readonly #runs = new Map<string, number>();
  /** Leases of which their holders know that they are over. */
  readonly #over: LeaseRef[] = [];

  constructor(backend: Backend) {
    const tasks = overlay<Backend['tasks']>(backend.tasks, {
      enqueue: async (items, options) => {
        const replies = await backend.tasks.enqueue(items, options);
        const isLost = replies.some(
          (reply) => reply.kind === 'refused' && reply.refusal.type === 'lease-lost',
        );
        if (isLost) this.refused++;
        return replies;
      },
      settle: async (request) => {
        const reply = await backend.tasks.settle(request);
        this.#settled(request, reply.answers);
        return reply;
      },
    });
    const runs = overlay<Backend['runs']>(backend.runs, {
      checkpoint: async (ref, entries) => {
        const answer = await backend.runs.checkpoint(ref, entries);
        if (answer === 'lost') this.#refuse(ref);
        else this.#written(ref, entries);
        return answer;
      },
    });
    this.backend = overlay<Backend>(backend, { tasks, runs });
  }

  /** To be called by every handler first. */
  ran({ taskId, fencingToken }: Running): void {
    this.#runs.set(taskId, (this.#runs.get(taskId) ?? 0) + 1);
    const taken = this.#taken.get(taskId);
    // A frozen worker may wake up to a lease that is another's by now: its result is refused.
    if (taken !== undefined && fencingToken > Number.parseInt(taken.token, 10)) {
      this.complaints.push(`${taskId} ran again after its result was taken`);
    }
    const isOver = this.#over.some(
      ({ id, token }) => taskId.startsWith(`${id}:`) && Number.parseInt(token, 10) === fencingToken,
    );
    if (isOver) this.complaints.push(`${taskId} ran although its run had lost its lease`);
  }

  /** Tasks and nodes that ran, each with how often. */
  get runs(): ReadonlyMap<string, number> {
    return this.#runs;
  }

  /** Tasks and nodes whose result was taken. */
  get results(): number {
    return this.#taken.size;
  }

  #settled(
    { settlements }: SettleRequest,
    answers: Awaited<ReturnType<Backend['tasks']['settle']>>['answers'],
  ): void {
    for (const [at, { id, token, decision }] of settlements.entries()) {
      const answer = answers[at];
      if (answer?.kind === 'leaseLost') this.refused++;
      if (answer?.kind !== 'ok' || answer.repeated || decision.type !== 'finish') continue;
      if (answer.state === 'finished') this.#take(id, { token, value: decision.result });
    }
  }

  #refuse(ref: LeaseRef): void {
    this.refused++;
    this.#over.push(ref);
  }

  /** Fields of nodes are named `n:`, behind the prefix of the run that they are of. */
  #written({ id, token }: LeaseRef, entries: Readonly<Record<string, string | null>>): void {
    for (const [field, value] of Object.entries(entries)) {
      const node = /^(.*\/)?n:([^/]+)$/.exec(field);
      if (node === null || value === null) continue;
      this.#take(`${id}:${node[1] ?? ''}${node[2]}`, { token, value });
    }
  }

  #take(node: string, result: Taken): void {
    const before = this.#taken.get(node);
    this.#taken.set(node, result);
    if (before === undefined) return;
    // A call whose answer was lost is sent again as it was.
    if (before.token === result.token && before.value === result.value) return;
    this.complaints.push(`${node}: a second result was taken`);
  }
}

/** The same object with some members of another. */
export function overlay<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name): unknown {
      if (name in members) return Reflect.get(members, name);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
