/**
 * A backend that stores every text of users and handlers sealed: the codec seals arguments and
 * opens answers. The engine only sees plain texts, so its decisions do not depend on keys.
 */
import type {
  Backend,
  BatchOptions,
  EnqueueReply,
  GraphStore,
  Inspect,
  RunStore,
  ScheduleStore,
  StreamStore,
  TaskStore,
  WorkerStore,
  XComStore,
} from '../domain/port/backend.ts';
import type { Decision, Settlement, Suspension } from '../domain/port/leasing.ts';
import { type Cause, rewordedCause } from '../domain/task/cause.ts';
import { REDRIVES } from '../domain/task/journal.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import type { NewTask, TaskRecord } from '../domain/task/task.ts';
import { ANSWER } from '../domain/task/wait.ts';
import type { XComWrite } from '../domain/task/xcom.ts';
import { openValue, sealWrites } from './sealed-channel.ts';
import { sealError } from './sealed-error.ts';
import { openPause, SealedRecords } from './sealed-records.ts';
import { sealSpec } from './sealed-spec.ts';
import { openAnswer, openFacts, sealedAsks, sealedWaits, sealSuspension } from './sealed-waits.ts';
import type { Texts } from './texts.ts';

/** Wraps a backend so that the codec seals every text of users and handlers. */
export function sealedBackend(backend: Backend, texts: Texts): Backend {
  const records = new SealedRecords(texts);
  return {
    name: backend.name,
    get capabilities() {
      return backend.capabilities;
    },
    users: backend.users,
    queues: backend.queues,
    workers: sealedWorkers(backend.workers, records),
    tasks: sealedTasks(backend, records),
    inspect: sealedInspect(backend.inspect, records),
    runs: sealedRuns(backend.runs, records),
    graphs: sealedGraphs(backend.graphs, texts),
    schedules: sealedSchedules(backend.schedules, records),
    xcom: sealedXCom(backend.xcom, texts),
    waits: sealedWaits(backend.waits, records),
    streams: sealedStreams(backend.streams, texts),
    asks: sealedAsks(backend.asks, texts),
    series: backend.series,
    open: (settings) => backend.open(settings),
    close: () => backend.close(),
  };
}

function sealedTasks(backend: Backend, records: SealedRecords): TaskStore {
  const { tasks } = backend;
  const { texts } = records;
  return {
    enqueue: (given, options) => enqueueSealed(backend, records, { given, options }),
    lease: async (request) => records.leaseReply(await tasks.lease(request)),
    settle: async (request) => {
      const settlements = request.settlements.map((one) => sealSettlement(texts, one));
      const reply = await tasks.settle({ ...request, settlements });
      const { lease } = reply;
      return lease === undefined ? reply : { ...reply, lease: records.leaseReply(lease) };
    },
    extend: (request) => tasks.extend(request),
    tick: () => tasks.tick(),
    cancel: (id, cause) => tasks.cancel(id, sealCause(texts, cause)),
    redrive: (id, edited, endedBy) => {
      if (edited === undefined) return tasks.redrive(id, undefined, endedBy);
      const sealed = { ...edited, payload: texts.seal(edited.payload, 'input') };
      return tasks.redrive(id, sealed, endedBy);
    },
    remove: (id, endedBy) => tasks.remove(id, endedBy),
    runNow: (id) => tasks.runNow(id),
  };
}

/** A waiting worker may be given a task. */
function sealedWorkers(workers: WorkerStore, records: SealedRecords): WorkerStore {
  return {
    register: (spec, registration) => workers.register(spec, registration),
    unregister: (id, instance) => workers.unregister(id, instance),
    list: () => workers.list(),
    waitForWork: async (id, ms, signal) => {
      const sign = await workers.waitForWork(id, ms, signal);
      return typeof sign === 'object' ? records.leased(sign) : sign;
    },
  };
}

interface EnqueueCall {
  readonly given: readonly NewTask[];
  readonly options: BatchOptions;
}

/**
 * A store compares inputs as texts. An input stored with an older key is another text, so a refusal
 * for another input is retried with the text of that key.
 */
async function enqueueSealed(
  backend: Backend,
  records: SealedRecords,
  { given, options }: EnqueueCall,
): Promise<readonly EnqueueReply[]> {
  const { tasks } = backend;
  const sealed = given.map((task) => records.newTask(task));
  const replies = [...(await tasks.enqueue(sealed, options))];
  const left = new Map<number, string[]>();
  for (;;) {
    const again = [...given.entries()].flatMap(([at, task]) => {
      if (!isConflict(replies[at])) return [];
      const forms = left.get(at) ?? [...records.texts.sealedBefore(task.payload)];
      left.set(at, forms);
      const payload = forms.shift();
      return payload === undefined ? [] : [{ at, task: { ...task, payload } }];
    });
    if (again.length === 0) return lookedAt(backend, records, { given, replies });
    for (const { at, task } of again) sealed[at] = task;
    const at = options.atomic ? [...sealed.keys()] : again.map((one) => one.at);
    const sent = options.atomic ? sealed : again.map((one) => one.task);
    const answers = await tasks.enqueue(sent, options);
    for (const [n, reply] of answers.entries()) replies[at[n] ?? n] = reply;
  }
}

function isConflict(reply: EnqueueReply | undefined): boolean {
  return reply?.kind === 'refused' && reply.refusal.type === 'task-conflict';
}

/**
 * The task of a key may have this input with another text. The call is not repeated: the store
 * would treat it as one that it has answered.
 */
async function lookedAt(
  { inspect }: Backend,
  records: SealedRecords,
  { given, replies }: { readonly given: readonly NewTask[]; readonly replies: EnqueueReply[] },
): Promise<readonly EnqueueReply[]> {
  for (const [at, reply] of replies.entries()) {
    if (reply.kind !== 'existing' || !reply.conflict || reply.replaced) continue;
    const payload = given[at]?.payload ?? '';
    if (records.texts.sealedBefore(payload).length === 0) continue;
    const [owner] = await inspect.get([reply.id]);
    const isSame = owner !== undefined && records.task(owner).payload === payload;
    if (isSame) replies[at] = { ...reply, conflict: false };
  }
  return replies;
}

function sealSettlement(texts: Texts, settlement: Settlement): Settlement {
  const { decision, channel, xcom } = settlement;
  return {
    ...settlement,
    decision: sealDecision(texts, decision),
    ...(channel === undefined ? {} : { channel: sealWrites(texts, channel) }),
    ...(xcom === undefined ? {} : { xcom: sealPushes(texts, xcom) }),
  };
}

function sealDecision(texts: Texts, decision: Decision | Suspension): Decision | Suspension {
  switch (decision.type) {
    case 'finish':
      return { ...decision, result: texts.seal(decision.result, 'result') };
    case 'retry':
    case 'dead-letter': {
      const error = sealError(texts, decision.error);
      return {
        ...decision,
        cause: sealFingerprint(texts, sealCause(texts, decision.cause)),
        error,
      };
    }
    case 'cancel':
    case 'release':
      return { ...decision, cause: sealCause(texts, decision.cause) };
    case 'suspend':
      return sealSuspension(texts, decision);
  }
}

/** The type of a cause, and other fields that code reads, stay readable. */
function sealCause(texts: Texts, cause: Cause): Cause {
  return rewordedCause(cause, (words) => texts.seal(words, 'reason'));
}

/** Without the key the fingerprint does not reveal the error. */
function sealFingerprint(texts: Texts, cause: Cause): Cause {
  if (!('fingerprint' in cause) || cause.fingerprint === undefined) return cause;
  const { fingerprint } = cause;
  return { ...cause, fingerprint: texts.nameOf(fingerprint).slice(0, fingerprint.length) };
}

function sealPushes(texts: Texts, writes: readonly XComWrite[]): readonly XComWrite[] {
  return writes.map((write) =>
    write.type === 'push' ? { ...write, text: texts.seal(write.text, 'xcom') } : write,
  );
}

function sealedInspect(inspect: Inspect, records: SealedRecords): Inspect {
  const opened = (record: TaskRecord | undefined): TaskRecord | undefined =>
    record === undefined ? undefined : records.task(record);
  return {
    get: async (ids) => (await inspect.get(ids)).map(opened),
    owners: (ids) => inspect.owners(ids),
    status: async (ids) =>
      (await inspect.status(ids)).map((one) =>
        one === undefined ? undefined : records.status(one),
      ),
    attempts: async (id) => (await inspect.attempts(id)).map((one) => records.attempt(one)),
    list: async (filter, request) => {
      const page = await inspect.list(filter, request);
      return { ...page, items: page.items.map((row) => records.row(row)) };
    },
    errorGroups: (request) => inspect.errorGroups(request),
    dependents: (id, request) => inspect.dependents(id, request),
    facts: async (id) => {
      const facts = await inspect.facts(id);
      return facts === undefined
        ? undefined
        : { ...openFacts(records.texts, facts), record: records.task(facts.record) };
    },
    stats: () => inspect.stats(),
    missing: () => inspect.missing(),
    runnable: (queue) => inspect.runnable(queue),
    waitForEnd: async (id, ms, signal) => {
      const ended = await inspect.waitForEnd(id, ms, signal);
      return ended === undefined ? undefined : records.status(ended);
    },
    reconcile: (options) => inspect.reconcile(options),
    ping: () => inspect.ping(),
  };
}

function sealedRuns(runs: RunStore, records: SealedRecords): RunStore {
  const { texts } = records;
  return {
    checkpoint: (lease, entries, channel) => {
      const sealed = Object.entries(entries).map(([name, text]) => {
        return [name, text === null ? null : texts.seal(text, 'journal')] as const;
      });
      if (channel === undefined) return runs.checkpoint(lease, Object.fromEntries(sealed));
      const { xcom } = channel;
      const writes = {
        ...sealWrites(texts, channel),
        ...(xcom === undefined ? {} : { xcom: sealPushes(texts, xcom) }),
      };
      return runs.checkpoint(lease, Object.fromEntries(sealed), writes);
    },
    load: async (id) => {
      // The store counts in this field, the only one that is not sealed.
      const { [REDRIVES]: redrives, ...sealed } = await runs.load(id);
      const fields = await records.all(sealed, (text, field) =>
        field.startsWith(ANSWER) ? openAnswer(texts, text) : texts.demand(text, 'journal'),
      );
      return redrives === undefined ? fields : { ...fields, [REDRIVES]: redrives };
    },
    writeChannel: (lease, channel) => runs.writeChannel(lease, sealWrites(texts, channel)),
    readChannel: async (run, fields) => {
      const open = (text: string): string => {
        const opened = openValue(texts, text);
        // A caller that reads single values depends on them; one that reads all displays them.
        if (fields !== undefined && isSealed(opened)) throw texts.problemOf(opened);
        return opened;
      };
      return records.all(await runs.readChannel(run, fields), open);
    },
    pause: async (id, reason) => {
      const sealed = reason === undefined ? undefined : texts.seal(reason, 'reason');
      const reply = await runs.pause(id, sealed);
      return reply.kind === 'ok' ? { ...reply, pause: openPause(texts, reply.pause) } : reply;
    },
    pausePart: (id, run) => runs.pausePart(id, run),
    resume: (id) => runs.resume(id),
  };
}

/** The name is not the hash of the sealed content, so it is stored before it: no two graphs can be exchanged. */
function sealedGraphs(graphs: GraphStore, texts: Texts): GraphStore {
  return {
    save: (hash, body) => graphs.save(hash, texts.seal(`${hash}\n${body}`, 'graph')),
    load: async (hash) => {
      const reply = await graphs.load(hash);
      if (reply.kind !== 'found') return reply;
      const whole = texts.demand(reply.body, 'graph');
      if (whole.startsWith(`${hash}\n`)) return { ...reply, body: whole.slice(hash.length + 1) };
      throw texts.problemOf(reply.body);
    },
  };
}

function sealedSchedules(schedules: ScheduleStore, records: SealedRecords): ScheduleStore {
  const { texts } = records;
  return {
    set: async (change) => {
      const spec = sealSpec(texts, change.spec);
      const reply = await schedules.set({ ...change, spec });
      return reply.kind === 'ok' ? { ...reply, record: records.schedule(reply.record) } : reply;
    },
    get: async (id) => {
      const { record, now } = await schedules.get(id);
      return { record: record === undefined ? undefined : records.schedule(record), now };
    },
    list: async (request) => {
      const page = await schedules.list(request);
      return { ...page, items: page.items.map((record) => records.schedule(record)) };
    },
    remove: (id) => schedules.remove(id),
    due: async (request) => {
      const reply = await schedules.due(request);
      if (reply.kind !== 'granted') return reply;
      return { ...reply, schedules: reply.schedules.map((record) => records.schedule(record)) };
    },
    fire: (request) => {
      const firings = request.firings.map(({ slot, task }) => ({
        slot,
        task: records.newTask(task),
      }));
      return schedules.fire({ ...request, firings });
    },
    leave: (owner) => schedules.leave(owner),
    lag: () => schedules.lag(),
  };
}

function sealedXCom(xcom: XComStore, texts: Texts): XComStore {
  return {
    write: (writes) => xcom.write(sealPushes(texts, writes)),
    read: async (places) =>
      (await xcom.read(places)).map((value) =>
        value === undefined ? undefined : { ...value, text: texts.open(value.text, 'xcom') },
      ),
    list: (where, page) => xcom.list(where, page),
    namespaces: (user, page) => xcom.namespaces(user, page),
  };
}

/** A block is encrypted as a whole: its prefix has only the attempt and the node. */
function sealedStreams(streams: StreamStore, texts: Texts): StreamStore {
  return {
    append: (lease, write) =>
      streams.append(lease, { ...write, text: texts.seal(write.text, 'stream') }),
    read: async (id, name, from, limit) =>
      (await streams.read(id, name, from, limit)).map((entry) =>
        entry.text === '' ? entry : { ...entry, text: texts.open(entry.text, 'stream') },
      ),
    waitForChunks: (place, ms, signal) => streams.waitForChunks(place, ms, signal),
    list: (id) => streams.list(id),
  };
}
