/**
 * What is stored, as rows: the one model of it. A snapshot of a data folder is these rows, a copy between backends goes
 * over them, and `docs/file-format.md` lists them. Their names are part of files, for ever: they are not those of the code
 * that keeps the data. Indexes and counts that follow from rows are no rows.
 *
 * A field is `[type, sentence]`; `?` behind the type: it may be absent. A field that is added later has to be so. Where
 * the meaning of a field changes, or one goes, `STATE_VERSION` rises.
 */
import type { LevelShares } from '../../../domain/fairness/priority-shares.ts';
import type { QueueSettings, Retention, UserSettings } from '../../../domain/fairness/settings.ts';
import type { LeaseRef } from '../../../domain/port/backend.ts';
import type { Total, WorkerSpec } from '../../../domain/port/inspection.ts';
import type { ScheduleChange, ScheduleRecord } from '../../../domain/port/schedule.ts';
import type { Looked } from '../../../domain/series/growth.ts';
import type { SeriesStep } from '../../../domain/series/series-steps.ts';
import type { AskSpec } from '../../../domain/task/ask.ts';
import type { Cause } from '../../../domain/task/cause.ts';
import type { RunPause } from '../../../domain/task/pause.ts';
import type { StreamEntry } from '../../../domain/task/stream.ts';
import type {
  AttemptRecord,
  EdgePolicies,
  EndState,
  Level,
  TaskState,
} from '../../../domain/task/task.ts';
import type { Wait } from '../../../domain/task/wait.ts';

/** Why a task waits for an id: for its end, its redrive, its enqueue; or it is only on the list of what blocks it. */
export type BlockKind = 'end' | 'redrive' | 'missing' | 'none';

type Pairs<V> = readonly (readonly [string, V])[];

/** What a type of a field means in the code. `number`, `text` and `flag` apart, they are JSON. */
interface Types {
  number: number;
  text: string;
  flag: boolean;
  numbers: readonly number[];
  texts: readonly string[];
  'text by text': Pairs<string>;
  'number by text': Pairs<number>;
  'texts by text': Pairs<readonly string[]>;
  level: Level;
  state: TaskState;
  'end state': EndState;
  'waited turns': LevelShares['waited'];
  'queue settings': QueueSettings;
  'user settings': UserSettings;
  retention: Retention;
  totals: Readonly<Record<Total, number>>;
  cause: Cause;
  attempts: readonly AttemptRecord[];
  edges: EdgePolicies;
  blocks: Pairs<BlockKind>;
  run: RunRow;
  wait: Wait;
  'wake word': 'all' | 'failure';
  pause: RunPause;
  signals: SignalsRow;
  channels: ChannelsRow;
  ask: AskSpec;
  asks: readonly AskRow[];
  streams: readonly StreamRow[];
  'stream entries': readonly StreamEntry[];
  writers: readonly (readonly [node: string, call: string, written: number])[];
  schedule: ScheduleChange;
  'next slot': ScheduleRecord['next'];
  'last slot': ScheduleRecord['last'];
  events: readonly EventRow[];
  'series step': SeriesStep;
  'queue totals': Looked['totals'];
  'list side': 'a' | 's';
  worker: WorkerSpec;
  attempted: { readonly succeeded: number; readonly failed: number; readonly lost: number };
  leases: readonly LeaseRef[];
}

/** All kinds of rows, in the order in which they are written and read. */
export const ROWS = {
  clock: {
    about: 'What the store remembers from step to step. There is one.',
    fields: {
      seen: ['number', 'The moment of its latest step, in ms since the epoch, as all moments are.'],
      sweepAfter: ['number', 'No lease is taken back before.'],
      arrivals: ['number', 'The order of the task that was stored last.'],
      endings: ['number', 'The order of the end that came last.'],
      endedLast: ['number', 'The greatest moment at which a task has ended.'],
      retention: ['retention?', 'How long ended tasks are kept.'],
      schedulerOwner: ['text', 'The last scheduler.'],
      schedulerUntil: ['number', 'Until when it keeps the others away.'],
      schedulerFence: ['number', 'Its fence: another one gets a greater fence.'],
    },
  },
  name: {
    about: 'A task name of workers that are gone.',
    fields: {
      name: ['text', 'The name.'],
      at: ['number', 'When the last of them left.'],
    },
  },
  queue: {
    about: 'A queue.',
    fields: {
      queue: ['text', 'Its name.'],
      settings: ['queue settings', 'As they were set.'],
      v: ['number', 'Virtual time.'],
      epoch: ['number', 'How often virtual time began anew.'],
      lasts: [
        'number by text',
        'By kind of class in use: what it remembers of the user that entered last.',
      ],
      totals: ['totals', 'What has happened ever.'],
      arrival: ['number', 'Theoretical arrival time of its rate.'],
      mean: ['number?', 'Mean time that leases are held, in seconds, where time is charged.'],
      parkedTurns: ['number', 'The turn of parked tasks that came last.'],
    },
  },
  settings: {
    about: 'Settings of a user.',
    fields: {
      user: ['text', 'Whose.'],
      queue: ['text?', 'For which queue; absent: for all.'],
      settings: ['user settings', 'As they were set.'],
    },
  },
  user: {
    about: 'How a user stands in a queue.',
    fields: {
      queue: ['text', 'The queue.'],
      user: ['text', 'The user.'],
      tag: ['number', 'Start tag, in grains of its own turns.'],
      epoch: ['number', 'Of the queue, to which the tag belongs.'],
      weight: ['number', 'With which the tag was given; 0: it never was ready.'],
      class: [
        'text?',
        'While it is ready: `o` or `a` for users on an assigned list, and the kind of its class.',
      ],
      isAhead: [
        'flag?',
        'It is not ready, and counts among the weights until virtual time passes it.',
      ],
      headroom: ['number', 'Tasks of it that could start at once, rates aside.'],
      arrival: ['number', 'Theoretical arrival time of its rate.'],
      mean: ['number?', 'As of its queue.'],
      criticalRun: ['number', 'Turns in a row that level 1 had.'],
      waited: ['waited turns', 'By level: turns that it has waited.'],
      seq: ['number', 'The place in line that was given last.'],
      throttledUntil: ['number?', 'When its rate is looked at again.'],
      dueKey: ['number?', 'When the first of its scheduled tasks is due.'],
      idleUntil: ['number?', 'It has nothing to do: until which virtual time its tag is kept.'],
    },
  },
  list: {
    about: 'A list of users that workers are assigned to, or steal from.',
    fields: {
      queue: ['text', 'In which queue.'],
      side: ['list side', '`a`: assigned users; `s`: steal targets.'],
      names: ['texts', 'The users, in the order of their bytes.'],
      workers: ['texts', 'Ids of the workers that have it.'],
      clock: ['number', 'Its virtual time.'],
    },
  },
  graph: {
    about: 'A snapshot of a graph.',
    fields: {
      hash: ['text', 'Its name.'],
      body: ['text?', 'Absent: it is only remembered.'],
      until: ['number', 'When it goes.'],
      neededBy: ['texts', 'Ids of tasks, and holders of schedules: it stays while there are any.'],
    },
  },
  events: {
    about: 'Events that are kept of one user, name and key.',
    fields: {
      user: ['text', 'Whose.'],
      name: ['text', 'Their name.'],
      key: ['text', 'Their key.'],
      newest: ['number', 'The number of the newest.'],
      keptUntil: ['number', 'Until when they are kept.'],
      events: ['events', 'Those that are kept, by number.'],
    },
  },
  errorGroup: {
    about:
      'Failures that are alike. Those without a failed task stand last, the one seen last at the end.',
    fields: {
      id: ['text', 'Its name.'],
      attempts: ['number', 'How many failed so.'],
      firstAt: ['number', 'When the first did.'],
      lastAt: ['number', 'When the last did.'],
      newest: ['text', 'The task that did last.'],
    },
  },
  task: {
    about: 'A task, in the order of arrival.',
    fields: {
      id: ['text', 'Its id.'],
      name: ['text', 'Its name.'],
      queue: ['text', 'Its queue.'],
      user: ['text', 'Its user.'],
      level: ['level', 'Its level, 1 to 5.'],
      cost: ['number', 'Turns that it costs.'],
      payload: ['text', 'The payload, as text.'],
      options: ['text', 'The options that the worker reads, as text.'],
      createdAt: ['number', 'When it was stored.'],
      state: ['state', 'Its state.'],
      order: ['number', 'Its place among all that ever arrived.'],
      place: ['number', 'Its place among the tasks of its user; 0: it was never in line.'],
      dueAt: ['number?', 'When it is due, while it is scheduled.'],
      token: ['text?', 'The token of its newest lease; it begins with the number of that.'],
      worker: ['text?', 'Who got that lease.'],
      leasedAt: ['number?', 'When.'],
      leaseUntil: ['number?', 'When it ends, while it is in force.'],
      chargedEpoch: ['number', 'Of its queue, when that lease was charged.'],
      settledToken: ['text?', 'The token of its newest settlement.'],
      endedAt: ['number?', 'When it ended.'],
      endOrder: ['number', 'Its place among all ends; 0: it never ended.'],
      endMoment: ['number?', 'Under which moment it stands among the ended, if not `endedAt`.'],
      result: ['text?', 'What it gave, as text.'],
      error: ['text?', 'What it failed with, as text.'],
      cause: ['cause?', 'Why it ended otherwise than well.'],
      cancelCause: ['cause?', 'Why it was asked to end, while it runs.'],
      attempts: ['attempts?', 'Its attempts that did not go well at once.'],
      failures: ['number?', 'Attempts that failed.'],
      losses: ['number?', 'Leases that were lost.'],
      releases: ['number?', 'Leases that were given back.'],
      readers: ['number?', 'Tasks that may still read its result.'],
      dependsOn: ['texts', 'Ids that it depends on.'],
      edges: ['edges', 'What happens when one of them fails, is canceled, or is not there.'],
      blocked: ['blocks?', 'Ids that it still waits for, and for what of each.'],
      absent: ['texts?', 'Those that were not there and counted as satisfied.'],
      expiresAt: ['number?', 'It ends if it has not started by then.'],
      expiresInMs: ['number?', 'The same, counted from when nothing blocks it any more.'],
      waitUntil: ['number?', 'Until when it waits for one that failed or is missing.'],
      deadline: ['number?', 'The least of its limits, while these are looked after.'],
      releasedMs: ['number?', 'How long after the end of its last dependency it came in line.'],
      cascadeAt: ['number?', 'It ended then, and others are still to be told.'],
      hasLeft: ['flag?', 'It waits for none of its dependencies any more.'],
      firstPayload: ['text?', 'The payload that it came with, if that was replaced; or a digest.'],
      charged: ['number?', 'What its turn was charged, in seconds, where time is charged.'],
      key: ['text?', 'Its idempotency key.'],
      run: ['run?', 'What ties it to a workflow.'],
      streams: ['streams?', 'What it writes to streams.'],
    },
  },
  parked: {
    about: 'A queued task that stands in no line, since no worker that came knew its name.',
    fields: {
      id: ['text', 'The task.'],
      until: ['number', 'When the live workers are searched for its name.'],
      turn: ['number', 'When those of its name, user and level had their last turn.'],
    },
  },
  key: {
    about: 'An idempotency key.',
    fields: {
      queue: ['text', 'In which queue it holds.'],
      user: ['text', 'For which user.'],
      key: ['text', 'The key.'],
      owner: ['text', 'The task that has it.'],
      ownerEndedAs: ['end state?', 'How that ended, once its record is gone.'],
      follower: ['text?', 'The task that runs once more after it.'],
      firstPayload: ['text', 'The payload that it came with, or a digest of that.'],
      until: ['number?', 'It holds until then, whatever becomes of the owner.'],
      from: ['number?', 'When its window began, where it gathers calls.'],
      absorbed: ['texts', 'Ids of the calls that it answered, the newest last.'],
      endedAt: ['number?', 'When its owner ended.'],
    },
  },
  schedule: {
    about: 'A schedule.',
    fields: {
      change: ['schedule', 'As it was set.'],
      next: ['next slot?', 'What it fires next.'],
      createdAt: ['number', 'When it was first set.'],
      updatedAt: ['number', 'When it was last set.'],
      fired: ['number', 'Slots that it fired.'],
      missed: ['number', 'Slots that it missed.'],
      overlapped: ['number', 'Slots that found the task before still there.'],
      settledSlot: ['number?', 'The last slot that is done with.'],
      last: ['last slot?', 'The last one that it fired.'],
      active: ['texts', 'Its newest task, and those before that may still be there.'],
    },
  },
  value: {
    about: 'A named value.',
    fields: {
      user: ['text', 'Whose.'],
      namespace: ['text', 'In which namespace.'],
      key: ['text', 'Under which key.'],
      text: ['text', 'The value.'],
      ttlMs: ['number', 'How long it is kept.'],
      pushedAt: ['number', 'When it was written.'],
      writer: ['text?', 'The task that wrote it.'],
      lookAt: ['number', 'When to look whether it is over.'],
    },
  },
  series: {
    about: 'A minute or an hour of the series.',
    fields: {
      step: ['series step', 'Which of them.'],
      at: ['number', 'Which one, counted from the epoch.'],
      rows: ['text by text', 'Counts by name.'],
    },
  },
  looked: {
    about: 'What a queue had counted when the series looked at it last.',
    fields: {
      queue: ['text', 'The queue.'],
      at: ['number', 'When.'],
      totals: ['queue totals', 'How much.'],
    },
  },
  worker: {
    about: 'A worker.',
    fields: {
      spec: ['worker', 'As it registered.'],
      instance: ['text?', 'Which of all workers that ever had its id it is.'],
      startedAt: ['number', 'When it started.'],
      attempts: ['attempted', 'How its attempts ended since.'],
      lastSeenAt: ['number', 'When it was heard of last.'],
      lastRequest: ['text', 'Its latest request for leases.'],
      lastLeases: ['leases', 'What that gave.'],
      token: ['flag?', 'It was woken before it began to wait.'],
      offLists: ['flag?', 'It was silent so long that its lists were dropped.'],
      line: ['number?', 'Its place among those that stand in line for a wake-up.'],
    },
  },
} as const;

/** Rows that stand inside of others. */
export const PARTS = {
  run: {
    about: 'What ties a task to a workflow.',
    fields: {
      isJoin: ['flag', 'It ends when nothing blocks it, instead of being queued.'],
      owner: ['text?', 'The run that it is a member of.'],
      graph: ['text?', 'The snapshot of a graph that it needs.'],
      waitFor: ['texts', 'The tasks that it waited for when it was suspended last.'],
      wakeOn: ['wake word', 'Whether the first failure of these wakes it.'],
      wakeAt: ['number?', 'When it is woken in any case.'],
      attendedBy: ['text?', 'The token that it was suspended under, while its handler may go on.'],
      timeLeft: ['text?', 'What that handler had left of its time.'],
      decidesAfter: ['text?', 'The token that it was suspended under to decide.'],
      wait: ['wait?', 'What it waits for that is no task.'],
      waitSince: ['number?', 'Since when.'],
      waitNumber: ['number?', 'Of an event: the number of the newest when it began.'],
      journal: ['text by text', 'What it has written down.'],
      channels: ['channels?', 'What its members share.'],
      newestWrites: [
        'text?',
        'The token and the key of the newest checkpoint that wrote to channels.',
      ],
      signals: ['signals?', 'Signals that are kept for it.'],
      asks: ['asks?', 'What it has asked.'],
      pause: ['pause?', 'It is a run, and paused.'],
      pausedBy: ['text?', 'The run whose pauses hold it, of one without `owner`.'],
      asideFor: ['text?', 'The run whose pause has set it aside.'],
      aside: ['texts?', 'Ids of those that its own pause has set aside.'],
    },
  },
  channels: {
    about: 'Channels of a run.',
    fields: {
      values: ['text by text', 'Values by field.'],
      done: ['texts', 'Marks of writes that count once, and were done.'],
    },
  },
  signals: {
    about: 'Signals that are kept for a task.',
    fields: {
      kept: ['texts by text', 'Payloads by name, oldest first.'],
      ids: ['texts', 'The newest ids of those that were sent, oldest first.'],
    },
  },
  ask: {
    about: 'A question of a task.',
    fields: {
      mark: ['text', 'Tells it from the others of the task.'],
      ask: ['ask', 'The question.'],
      askedAt: ['number', 'When it was asked.'],
      until: ['number?', 'When its time is over.'],
      closing: ['text?', 'How it was closed; absent while it is open.'],
    },
  },
  stream: {
    about: 'A stream of a task.',
    fields: {
      name: ['text', 'Its name.'],
      next: ['number', 'The offset of what comes next.'],
      bytes: ['number', 'How much is kept.'],
      closed: ['flag', 'Nothing comes any more.'],
      entries: ['stream entries', 'What is kept.'],
      writers: ['writers', 'By node: its newest call, and how many chunks that has written.'],
    },
  },
  event: {
    about: 'An event.',
    fields: {
      number: ['number', 'Its number.'],
      at: ['number', 'When it was published.'],
      payload: ['text', 'Its payload.'],
      eventId: ['text', 'The id that it was published under.'],
    },
  },
} as const;

type Fields = Readonly<Record<string, readonly [type: string, sentence: string]>>;

type Value<T> = T extends keyof Types ? Types[T] : never;

type Optional<F extends Fields> = {
  [N in keyof F]: F[N][0] extends `${string}?` ? N : never;
}[keyof F];

/** A row with these fields. */
type Row<F extends Fields> = {
  readonly [N in Exclude<keyof F, Optional<F>>]: Value<F[N][0]>;
} & {
  readonly [N in Optional<F>]?: (F[N][0] extends `${infer T}?` ? Value<T> : never) | undefined;
};

type PartRow<P extends keyof typeof PARTS> = Row<(typeof PARTS)[P]['fields']>;

/** The name of a kind of rows. */
export type Kind = keyof typeof ROWS;

/** A row of a kind. */
export type RowOf<K extends Kind> = Row<(typeof ROWS)[K]['fields']>;

/** All rows, kind by kind. They may be read once. */
export type Rows = { readonly [K in Kind]: Iterable<RowOf<K>> };

/** See `PARTS`. */
export interface RunRow extends PartRow<'run'> {}
/** See `PARTS`. */
export interface ChannelsRow extends PartRow<'channels'> {}
/** See `PARTS`. */
export interface SignalsRow extends PartRow<'signals'> {}
/** See `PARTS`. */
export interface AskRow extends PartRow<'ask'> {}
/** See `PARTS`. */
export interface StreamRow extends PartRow<'stream'> {}
/** See `PARTS`. */
export interface EventRow extends PartRow<'event'> {}
