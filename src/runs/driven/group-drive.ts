import type { OwnLease } from '../../attempt/own-lease.ts';
import { inChunks, mapInChunks } from '../../base/chunks.ts';
import {
  GroupChangedError,
  isOwn,
  TaskCanceledError,
  TimedOutError,
} from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Backend, EnqueueReply, LeaseRef, Suspension } from '../../domain/port/backend.ts';
import { refOf } from '../../domain/port/leasing.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { NewTask, TaskStatus } from '../../domain/task/task.ts';
import type { CancelNotifier } from '../../events/cancel-notifier.ts';
import { isLost, type RegisteredVerdict } from '../../graph/group-verdict.ts';
import type { StepOutcome, WalkStep } from '../../graph/run-walk.ts';
import { errorIn } from '../failure-cause.ts';
import type { GraphCache } from '../graph-cache.ts';
import { groupOutcome, type MemberEnd } from '../group-end.ts';
import { redriven } from '../redriven.ts';
import { openBelow } from './driven-nodes.ts';
import { earlyEndOf, type OpenedGroup } from './journal-fields.ts';
import {
  hasEndedRun,
  isAbandoned,
  isClosed,
  isOpen,
  type Member,
  mayEndRun,
  memberOf,
} from './member-ends.ts';
import {
  type DraftTask,
  draftMembers,
  fanIn,
  type GroupPlace,
  membersHash,
  membersOf,
  type ProducerFacts,
} from './members.ts';
import type { NodeTools } from './node-call.ts';
import { JournalLost, type RunJournal } from './run-journal.ts';

/** Parts of the worker that drive a group. */
export interface GroupTools extends NodeTools {
  readonly backend: Backend;
  readonly graphs: GraphCache;
  /** The policy that is registered here under the name. */
  policy(name: string): RegisteredVerdict;
  /** Notifies handlers of this process without the delay of a heartbeat. */
  readonly cancels: CancelNotifier;
  /** Repeats a call during outages, until the lease ends. */
  persist<T>(call: () => Promise<T>): Promise<T>;
}

/** The group to drive, and its run. */
export interface GroupCall {
  readonly step: WalkStep & { readonly type: 'group' };
  readonly producer: ProducerFacts;
  readonly journal: RunJournal;
  /** The run is paused: an open group may end, but no member is stored. */
  readonly isPaused: boolean;
  readonly holder: { readonly lease: LeaseRef } & Pick<OwnLease, 'openGroups'>;
  /** Aborts when the result is not needed any more. */
  readonly signal: AbortSignal;
  /** Prefix in the journal: separates groups of several runs in one task. */
  readonly prefix: string;
  /** Trace context of the members. */
  readonly traceparent: string | undefined;
}

/** What the run's worker does about a group. */
export type GroupMove =
  | {
      readonly type: 'outcome';
      readonly outcome: StepOutcome;
      /** The task of the first member that failed, if the group failed. */
      readonly culprit?: string | undefined;
    }
  | { readonly type: 'wait'; readonly suspension: Suspension }
  /** The run is paused, and the group is not open, or some of its members are not stored. */
  | { readonly type: 'paused' };

type Records = readonly (TaskStatus | undefined)[];

/** Number of members that one call stores or cancels. */
const STORE_CHUNK = 500;
const CANCEL_CHUNK = 50;

/** One visit of a group under one lease of its producer: opens, waits, closes, collects. */
export class GroupDrive {
  readonly #tools: GroupTools;
  readonly #call: GroupCall;
  readonly #key: string;

  constructor(tools: GroupTools, call: GroupCall) {
    this.#tools = tools;
    this.#call = call;
    this.#key = `${call.step.node.id}#${call.step.visit}`;
  }

  /** @throws {@link JournalLost} when the lease has ended. */
  async move(): Promise<GroupMove> {
    if (this.#call.step.members.length === 0) return this.#end([], false);
    try {
      return await this.#move();
    } catch (error) {
      const isOurs = isOwn(error, 'GROUP_CHANGED') || isOwn(error, 'INVALID_PAYLOAD');
      if (!isOurs) throw error;
      return { type: 'outcome', outcome: { type: 'failed', error } };
    }
  }

  async #move(isAnew = false): Promise<GroupMove> {
    const { journal, step, producer, signal, isPaused } = this.#call;
    const place = this.#place();
    const drafts = draftMembers(producer, place);
    const hash = membersHash(place, drafts);
    const before = journal.opened(this.#key);
    if (before?.attempt === journal.attempt && !isAnew) {
      if (before.hash !== hash) throw new GroupChangedError(step.node.id);
      const tasks = this.#tasks(place, drafts, before);
      this.#hold(tasks);
      return this.#look(before, tasks);
    }
    if (isPaused) return { type: 'paused' };
    const opened = await this.#reopened(place, drafts, { before, hash });
    signal.throwIfAborted();
    journal.noteOpened(this.#key, opened);
    const tasks = this.#tasks(place, drafts, opened);
    this.#hold(tasks);
    await journal.flush();
    signal.throwIfAborted();
    if (!(await this.#store(tasks))) return this.#look(opened, tasks);
    return { type: 'wait', suspension: await this.#suspension(idsOf(tasks), [], opened) };
  }

  /** Registers how to abandon a group of a handler; a group of the run itself ends with the run. */
  #hold(tasks: readonly NewTask[]): void {
    const { prefix, journal, holder } = this.#call;
    if (prefix === '') return;
    holder.openGroups.set(journal.openField(this.#key), (why) => this.#abandon(idsOf(tasks), why));
  }

  /** Cancels the open members; with `canceled` only running ones, since no other starts. */
  async #abandon(ids: readonly string[], canceled: Cause | undefined): Promise<void> {
    const records = await this.#read(ids);
    const open = ids.filter((id, at) => isOpen(memberOf('', id, records[at])));
    const { taskId: run } = this.#call.producer;
    if (canceled === undefined) return this.#cancel(open, { type: 'run-ended', run });
    const below = await this.#tools.persist(() => openBelow(this.#tools.backend.inspect, open));
    const running = [
      ...ids.filter((_, at) => records[at]?.state === 'started'),
      ...below.flatMap(({ record: { id, state } }) => (state === 'started' ? [id] : [])),
    ];
    await mapInChunks(running, CANCEL_CHUNK, (id) => this.#cancelOne(id, canceled));
  }

  #place(): GroupPlace {
    const { step, prefix, traceparent, journal } = this.#call;
    const { node, visit, members, graph } = step;
    const { hash, content } = this.#tools.graphs.ofGraph(graph);
    const path = `${prefix}${node.id}`;
    const given = (member: string): string | undefined => journal.earlierOutput(this.#key, member);
    return { node, path, visit, graph: hash, content, members, traceparent, earlierOutput: given };
  }

  #tasks(
    place: GroupPlace,
    drafts: readonly DraftTask[],
    { epoch, epochs, opener }: OpenedGroup,
  ): readonly NewTask[] {
    const epochOf = (at: number): number => epochs?.[at] ?? epoch;
    return membersOf(place, drafts, { taskId: this.#call.producer.taskId, opener, epochOf });
  }

  /**
   * The group in a later attempt: members that have finished, or are open, are kept; failed ones are put
   * back and continue from their journals; canceled ones are stored again.
   */
  async #reopened(
    place: GroupPlace,
    drafts: readonly DraftTask[],
    earlier: {
      readonly before: OpenedGroup | undefined;
      readonly hash: string;
    },
  ): Promise<OpenedGroup> {
    const { before, hash } = earlier;
    const { attempt } = this.#call.journal;
    const epoch = before === undefined ? 0 : before.epoch + 1;
    const { timeoutMs } = place.node;
    const due = timeoutMs === undefined ? {} : { dueAt: this.#tools.clock.now() + timeoutMs };
    const opener = before?.opener ?? this.#call.holder.lease.token;
    const opened = { attempt, epoch, opener, hash, ...due };
    if (before === undefined || before.hash !== hash) return opened;
    const ids = idsOf(this.#tasks(place, drafts, before));
    const epochs: number[] = [];
    // With `concurrency` each member waits for an earlier one. A task that is put back waits for none, so only the
    // first of a chain is put back, and those behind it are stored again.
    const chains = place.node.concurrency ?? ids.length;
    const begun = new Set<number>();
    for (const [at, record] of (await this.#read(ids)).entries()) {
      const isFirst = !begun.has(at % chains);
      const isKept = await this.#isKept(ids[at] ?? '', record, isFirst);
      if (record?.state !== 'finished') begun.add(at % chains);
      epochs.push(isKept ? (before.epochs?.[at] ?? before.epoch) : epoch);
    }
    return { ...opened, epochs };
  }

  async #isKept(id: string, record: TaskStatus | undefined, isFirst: boolean): Promise<boolean> {
    if (record === undefined || record.state === 'canceled') return false;
    if (record.state !== 'failed') return true;
    if (!isFirst) return false;
    const { backend, log, persist } = this.#tools;
    const store = { tasks: backend.tasks, log };
    const reply = await persist(() => redriven(store, id, undefined, undefined));
    // Another worker of the run has put it back, and it is open already.
    const isOpen = reply.kind === 'wrong-state' && reply.state !== 'canceled';
    return reply.kind === 'ok' || isOpen;
  }

  /** Checks the members; some may have ended, and some may never have been stored. */
  async #look(opened: OpenedGroup, tasks: readonly NewTask[]): Promise<GroupMove> {
    const records = await this.#stored(tasks);
    if (records === undefined) return { type: 'paused' };
    // The run ended meanwhile, so members were canceled, and it was put back.
    if (records.some(isAbandoned)) return this.#move(true);
    const { step, isPaused } = this.#call;
    const { failFast, policy } = step.node;
    const members = tasks.map(({ id }, at) => memberOf(this.#keyOf(at), id, records[at]));
    const open = idsOf(members.filter(isOpen));
    const isLate = opened.dueAt !== undefined && this.#tools.clock.now() >= opened.dueAt;
    // A worker that died while it closed the group has left canceled members, without an entry.
    const isTimeUp = isLate && (open.length > 0 || records.some(isClosed));
    if (open.length === 0) return this.#end(members, isTimeUp);
    const isLostNow = isLost(policy, members);
    if (isTimeUp || (failFast && isLostNow) || records.some(hasEndedRun)) {
      await this.#cancel(open, this.#closed);
      return this.#end(members, isTimeUp);
    }
    const ended = members.filter((member) => !isOpen(member));
    // Held members do not end. Running ones continue, as beside a failed strict group of a dispatched run.
    if (isPaused && isLostNow && policy.kind === 'strict') return this.#end(ended, false);
    return { type: 'wait', suspension: await this.#suspension(open, ended, opened) };
  }

  async #stored(tasks: readonly NewTask[]): Promise<Records | undefined> {
    const records = await this.#read(idsOf(tasks));
    if (records.every((record) => record !== undefined)) return records;
    if (this.#call.isPaused) return undefined;
    await this.#store(tasks);
    return this.#read(idsOf(tasks));
  }

  /** @returns whether all of them are new. */
  async #store(tasks: readonly NewTask[]): Promise<boolean> {
    const { graphs, persist } = this.#tools;
    const known = graphs.ofGraph(this.#call.step.graph);
    const needsGraph = tasks.some((task) => task.graph !== undefined);
    if (needsGraph) await persist(() => graphs.share(known));
    let isAllNew = true;
    for (const chunk of inChunks(tasks, STORE_CHUNK)) {
      let replies = await this.#send(chunk);
      if (replies.some((reply) => refusalIn(reply) === 'graph-missing')) {
        graphs.forgetStored(known);
        await persist(() => graphs.share(known));
        replies = await this.#send(chunk);
      }
      for (const reply of replies) {
        const refusal = refusalIn(reply);
        if (refusal === 'lease-lost') throw new JournalLost();
        if (refusal !== undefined) throw new GroupChangedError(this.#call.step.node.id);
        if (reply.kind !== 'created') isAllNew = false;
      }
    }
    return isAllNew;
  }

  #send(tasks: readonly NewTask[]): Promise<readonly EnqueueReply[]> {
    const { backend, persist } = this.#tools;
    const earlier = { atomic: false, fence: refOf(this.#call.holder.lease) } as const;
    return persist(() => backend.tasks.enqueue(tasks, earlier));
  }

  #read(ids: readonly string[]): Promise<Records> {
    const { backend, persist } = this.#tools;
    return persist(() => backend.inspect.status(ids));
  }

  /** Cancels members, and the open tasks of those that have members of their own. */
  async #cancel(ids: readonly string[], cause: Cause): Promise<void> {
    const { backend, persist } = this.#tools;
    const below = await persist(() => openBelow(backend.inspect, ids));
    const all = [...ids, ...below.map(({ record }) => record.id)];
    await mapInChunks(all, CANCEL_CHUNK, (id) => this.#cancelOne(id, cause));
  }

  async #cancelOne(id: string, cause: Cause): Promise<void> {
    const { backend, persist, cancels } = this.#tools;
    cancels.notify(id, cause, await persist(() => backend.tasks.cancel(id, cause)));
  }

  /**
   * The dependencies of the run while it waits. They include ended members, so that these stay
   * readable; where a failure wakes the run, joins hide the failures of ended ones.
   */
  async #suspension(
    open: readonly string[],
    ended: readonly Member[],
    { dueAt }: OpenedGroup,
  ): Promise<Suspension> {
    const { producer, prefix, step } = this.#call;
    const { failFast, policy } = step.node;
    // A strict group of a paused run ends with its first failure; handlers of nodes stay paused.
    const mayEndPaused = prefix === '' && policy.kind === 'strict' && !isLost(policy, ended);
    const wakesEarly = failFast || mayEndPaused || mayEndRun(step.node);
    const most = ended.length === 0 ? LIMITS.dependencies : LIMITS.dependencies / 2;
    const waits = fanIn(producer, open, { most, isStrict: wakesEarly, isHidden: false });
    const holds = fanIn(producer, idsOf(ended), { most, isStrict: false, isHidden: wakesEarly });
    const joins = [...waits.joins, ...holds.joins];
    if (joins.length > 0) await this.#store(joins);
    const wake = dueAt === undefined ? {} : { wakeAfterMs: this.#msUntil(dueAt) };
    return {
      type: 'suspend',
      waitFor: [...waits.waitFor, ...holds.waitFor],
      wakeOn: wakesEarly ? 'failure' : 'all',
      ...wake,
    };
  }

  #msUntil(moment: number): number {
    return Math.max(1, moment - this.#tools.clock.now());
  }

  async #end(members: readonly Member[], isTimeUp: boolean): Promise<GroupMove> {
    const { step, journal, holder } = this.#call;
    journal.noteEnded(this.#key);
    holder.openGroups.delete(journal.openField(this.#key));
    const ends: MemberEnd[] = [];
    for (const member of members) ends.push(await this.#memberEnd(member, isTimeUp));
    const { node } = step;
    const { policy } = node;
    const registered = policy.kind === 'registered' ? this.#tools.policy(policy.name) : () => true;
    const outcome = groupOutcome({ node, members: ends, isTimeUp, registered });
    if (outcome.type !== 'failed') return { type: 'outcome', outcome };
    const culprit = members.find(({ state }) => state === 'failed')?.id;
    return { type: 'outcome', outcome, culprit };
  }

  async #memberEnd({ key, id, record }: Member, isTimeUp: boolean): Promise<MemberEnd> {
    switch (record?.state) {
      case 'finished':
        return { key, state: 'finished', value: this.#tools.codec.read(record.result ?? '') };
      case 'failed':
        return { key, state: 'failed', error: errorIn(record) };
      case 'canceled': {
        const { cause } = record;
        if (cause?.type === 'cancel-run') return { key, state: 'run-canceled', cause };
        const early = cause?.type === 'terminate' ? await this.#earlyEnd(id) : undefined;
        if (early !== undefined) {
          return { key, state: 'terminated', value: this.#tools.codec.read(early.text) };
        }
        break;
      }
      default:
    }
    const error = isTimeUp
      ? new TimedOutError(this.#call.step.node.id, this.#call.step.node.timeoutMs ?? 0)
      : new TaskCanceledError(id, record?.cause ?? this.#closed);
    const isWanted = record !== undefined && !isClosed(record);
    const cause = { type: 'upstream', id, state: 'canceled' } as const;
    return { key, state: 'canceled', error, cause: isWanted ? cause : undefined };
  }

  async #earlyEnd(id: string): Promise<ReturnType<typeof earlyEndOf>> {
    const { backend, persist } = this.#tools;
    return earlyEndOf(await persist(() => backend.runs.load(id)));
  }

  /** The cause with which members are canceled when their group ends. */
  get #closed(): Cause {
    return { type: 'group-ended', group: this.#call.step.node.id };
  }

  #keyOf(at: number): string {
    return this.#call.step.members[at]?.key ?? '';
  }
}

/** Only the two fields of a lease: it has many more. */
function idsOf(tasks: readonly Pick<NewTask, 'id'>[]): readonly string[] {
  return tasks.map(({ id }) => id);
}

function refusalIn(reply: EnqueueReply): string | undefined {
  return reply.kind === 'refused' ? reply.refusal.type : undefined;
}
