/**
 * Records that are stored as bytes: the fields in their order, each with its kind in the `struct` library
 * of Redis. Lua gets the format as `FORMAT.lease`, the start of a field as `AT.lease.flags`, counted from
 * 1, and the start of the rest as `AT.lease.rest`; docs/redis-layout.md has them as a table.
 */

/** `d`: a double, `I`: 4 bytes, unsigned, `B`: one byte, `x`: padding. Little endian. */
export type FieldKind = 'd' | 'I' | 'B' | 'x';

/** Bytes of each. */
const KIND_BYTES: Readonly<Record<FieldKind, number>> = { d: 8, I: 4, B: 1, x: 1 };

/** One record. */
export interface PackedRecord {
  /** Key and field of the record. */
  readonly where: string;
  /** Fields in their order, and the content of each. */
  readonly fields: readonly (readonly [name: string, kind: FieldKind, holds: string])[];
  /** Description of what follows the fields. */
  readonly rest: string;
}

/** All records by their name in code and scripts. */
export const PACKED = {
  lease: {
    where: '`hot`',
    fields: [
      ['leasedAt', 'd', 'its start'],
      ['ends', 'd', 'its end'],
      ['epoch', 'I', 'epoch of its queue'],
      ['flags', 'B', 'sum: lease'],
      ['step', 'd', 'number of the step that gave it'],
      // Long enough that Redis keeps no listpack of leases, which it would scan for each.
      ['pad1', 'x', ''],
      ['pad2', 'x', ''],
      ['pad3', 'x', ''],
      ['pad4', 'x', ''],
    ],
    rest: 'queue, NUL, token',
  },
  ending: {
    where: '`ends`',
    fields: [
      ['code', 'B', 'code of the state, and sum: ending'],
      ['at', 'd', 'its end'],
      ['leasedAt', 'd', 'start of its latest lease'],
      ['stamp', 'd', 'stamp of its end'],
    ],
    rest: 'token, NUL, worker, NUL, result',
  },
  facts: {
    where: '`facts`',
    fields: [
      ['place', 'B', '0 in line or started, 1 scheduled, 2 deferred'],
      ['flags', 'B', 'sum: facts'],
      ['seq', 'd', 'its place in line; 0: the stamp of its arrival'],
      ['failures', 'I', 'failed attempts'],
      ['losses', 'I', 'leases that ended without an outcome'],
      ['releases', 'I', 'number of releases'],
      [
        'at',
        'd',
        'its due time; in line, below 0, time from the end of its last dependency until it was queued',
      ],
      ['readers', 'I', 'number of tasks that read its result'],
    ],
    rest: 'msgpack of `x`, `y` and `o`, if it has any: see Fields',
  },
  user: {
    where: '`u` of `user`',
    fields: [
      ['tag', 'd', 'start tag, in grains of its own turns'],
      ['epoch', 'I', 'epoch of the tag'],
      ['flags', 'B', 'sum: user'],
      ['weight', 'I', 'its counted weight, in hundredths'],
      ['headroom', 'I', 'its part of `runnable`'],
      ['level1', 'I', 'tasks in line of level 1'],
      ['level2', 'I', 'of level 2'],
      ['level3', 'I', 'of level 3'],
      ['level4', 'I', 'of level 4'],
      ['level5', 'I', 'of level 5'],
      ['level6', 'I', 'of level 6'],
      ['live', 'I', 'tasks that have not ended, if they are counted'],
      ['running', 'I', 'tasks that are started, if they are counted'],
      ['arrival', 'd', 'theoretical arrival time of its rate'],
    ],
    rest: 'nothing',
  },
  shares: {
    where: '`v` of `user`',
    fields: [['critical', 'I', 'critical turns in a row']],
    rest: '*level share* of each level that has waited',
  },
  levelShare: {
    where: '`v` of `user`',
    fields: [
      ['level', 'B', '1 to 5'],
      ['waited', 'd', 'its wait for the next turn, in turns of weight 1'],
    ],
    rest: 'the next',
  },
  queue: {
    where: '`q:…` of `clock`',
    fields: [
      ['virtual', 'd', 'virtual time V'],
      ['weights', 'd', 'W, the weight of the ready users'],
      ['epoch', 'd', 'number of times that it went idle'],
      ['runnable', 'd', 'tasks that could start, without its own limits'],
      ['ready', 'd', 'users that are ready'],
      ['idleLeast', 'd', 'the least of `idle`; infinite for none'],
      ['old', 'd', 'oldest epoch with users in `idle` or `old-tags`'],
      ['tags', 'd', 'number of `kept-tags`'],
      ['joined', 'd', 'whether a user entered in this epoch'],
      ['scheduled', 'd', 'tasks by state'],
      ['deferred', 'd', ''],
      ['queued', 'd', ''],
      ['started', 'd', ''],
      ['ended', 'd', 'kept finished tasks'],
      ['enqueued', 'd', 'total of enqueued tasks'],
      ['finished', 'd', 'total of finished tasks'],
      ['recordless', 'd', 'users without a record in the class of weight 100'],
      ['last', 'd', 'the latest tag that entered the weight 100, -1 for none'],
      ['flags', 'B', 'sum: queue'],
    ],
    rest: '*seldom*, which most steps copy unchanged',
  },
  seldom: {
    where: '`q:…` of `clock`',
    fields: [
      ['arrival', 'd', "theoretical arrival time of the queue's rate"],
      ['keptFailed', 'd', 'kept failed tasks'],
      ['keptCanceled', 'd', 'kept canceled tasks'],
      ['failed', 'd', 'total of failed tasks'],
      ['canceled', 'd', 'total of canceled tasks'],
      ['retried', 'd', 'total of retried attempts'],
      ['lost', 'd', 'total of lost leases'],
      ['stolen', 'd', 'total of stolen turns'],
    ],
    rest: 'msgpack of other classes, their latest tags, the number of parked tasks, and the weights in `leavers`; or nothing',
  },
  worker: {
    where: '`w:…` of `clock`',
    fields: [
      ['seen', 'd', 'moment of its latest call'],
      ['succeeded', 'd', 'succeeded attempts since its start'],
      ['announced', 'd', 'number of the step of its registration'],
      ['flags', 'B', 'sum: worker'],
      ['lastBytes', 'B', 'bytes of its latest lease request'],
    ],
    rest: 'its latest lease request, `<step>-<request>`: a repeated one is answered with the leases of that step that are still in `hot`, by arrival; then its place among the waiting workers, as msgpack: `-` once it was woken, `+` once it was handed a task, nothing if it does not wait',
  },
  clock: {
    where: '`s` of `clock`',
    fields: [
      ['seen', 'd', 'moment of the latest step'],
      ['started', 'd', 'a moment before which no lease ends'],
      ['finished', 'd', 'end of the first kept task of the state'],
      ['failed', 'd', ''],
      ['canceled', 'd', ''],
      [
        'due',
        'd',
        'the least of `scheduledUsers`, `throttled`, `deadlines` and `schedulesDue` of *upkeep*',
      ],
      ['upkeep', 'd', 'next due time of other maintenance; 0: at once'],
      ['stamp', 'd', 'the latest stamp'],
      ['steps', 'd', 'number of steps so far'],
      ['waiting', 'I', 'workers that wait'],
      ['ears', 'I', 'number of `ears`'],
      ['flags', 'B', 'sum: clock'],
    ],
    rest: 'nothing; or a double, the wake-up of the first holder of the alarm, and the two holders, separated by a comma',
  },
  upkeep: {
    where: '`m` of `clock`',
    fields: [
      ['pause', 'd', 'end of the pause after an outage, in which no lease is taken back'],
      ['scheduledUsers', 'd', 'heads of the indexes over all queues'],
      ['throttled', 'd', ''],
      ['deadlines', 'd', ''],
      ['cascade', 'd', ''],
      ['listedWorkers', 'd', ''],
      ['submissions', 'd', ''],
      ['missing', 'd', ''],
      ['configs', 'd', 'users with settings'],
      ['dropping', 'd', '1 while `dropping` has members'],
      ['refresh', 'd', '1 while `refreshing` has members'],
      ['schedulesDue', 'd', ''],
      ['xcomEnds', 'd', ''],
    ],
    rest: 'nothing',
  },
} as const;
PACKED satisfies Record<string, PackedRecord>;

/** The format of a record for `struct`: `<ddIBdxxxx`. */
export function formatOf({ fields }: PackedRecord): string {
  return `<${fields.map(([, kind]) => kind).join('')}`;
}

/** Start of each field, counted from 1, and `rest`, which follows the last. */
export function offsetsOf({ fields }: PackedRecord): Readonly<Record<string, number>> {
  return offsetsIn(Object.fromEntries(fields.map(([name, kind]) => [name, KIND_BYTES[kind]])));
}

/** Bytes of the first parts of a task's text. Its user's name follows them. */
export const TEXT_WIDTHS = {
  /** Moment of its enqueue, in ms. */
  created: 13,
  /** Stamp of its arrival, in hex. */
  stamp: 12,
  /** 1 to 6. */
  level: 1,
  /** Sum: kind, as a character from `0` on. */
  kind: 1,
  /** Bytes of the user's name, in decimal. */
  userBytes: 3,
} as const;

/** The byte for a sum of 0 in a text. */
export const ZERO_BYTE = 48;

/** Start of each part of a task's text, counted from 1; `rest`: its user's name. */
export const TEXT_OFFSETS: Readonly<Record<keyof typeof TEXT_WIDTHS | 'rest', number>> =
  offsetsIn(TEXT_WIDTHS);

function offsetsIn<Name extends string>(
  widths: Readonly<Record<Name, number>>,
): Readonly<Record<Name | 'rest', number>> {
  let at = 1;
  const found: Partial<Record<string, number>> = {};
  for (const [name, bytes] of Object.entries<number>(widths)) {
    found[name] = at;
    at += bytes;
  }
  // Each name of the widths has a value now.
  return { ...found, rest: at } as Record<Name | 'rest', number>;
}
