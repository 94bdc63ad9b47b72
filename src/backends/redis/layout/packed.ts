/**
 * Records that are stored as bytes: the fields in their order, each with its kind as the `struct` library
 * of Redis writes it. Lua gets the format as `FORMAT.lease`, where a field begins as `AT.lease.flags`,
 * counted from 1, and where the rest begins as `AT.lease.rest`; docs/redis-layout.md has them as a table.
 */

/** `d`: a double, `I`: 4 bytes without a sign, `B`: one byte, `x`: a byte of nothing. Little endian. */
export type FieldKind = 'd' | 'I' | 'B' | 'x';

/** Bytes of each. */
const KIND_BYTES: Readonly<Record<FieldKind, number>> = { d: 8, I: 4, B: 1, x: 1 };

/** One record. */
export interface PackedRecord {
  /** Where it is stored. */
  readonly where: string;
  /** Fields in their order, and what each is. */
  readonly fields: readonly (readonly [name: string, kind: FieldKind, holds: string])[];
  /** What stands behind the fields, in words. */
  readonly rest: string;
}

/** All records by the name that code and scripts call them. */
export const PACKED = {
  lease: {
    where: '`hot`',
    fields: [
      ['leasedAt', 'd', 'when it was given'],
      ['ends', 'd', 'when it ends'],
      ['epoch', 'I', 'of its queue'],
      ['flags', 'B', 'sum: lease'],
      ['step', 'd', 'in which it was given'],
      // So long that Redis keeps no listpack of leases, which it would look through for each.
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
      ['at', 'd', 'when it ended'],
      ['leasedAt', 'd', 'when it was leased'],
      ['stamp', 'd', 'of its end'],
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
      ['releases', 'I', 'times that it was given back'],
      [
        'at',
        'd',
        'when it is due; in line, below 0, how long after the last end that it waited for',
      ],
      ['readers', 'I', 'how many read its result'],
    ],
    rest: 'msgpack of `x`, `y` and `o`, where it has any: see Fields',
  },
  user: {
    where: '`u` of `user`',
    fields: [
      ['tag', 'd', 'start tag, in grains of its own turns'],
      ['epoch', 'I', 'of the tag'],
      ['flags', 'B', 'sum: user'],
      ['weight', 'I', 'that it was counted with, in hundredths'],
      ['headroom', 'I', 'what it adds to `runnable`'],
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
      ['waited', 'd', 'for how many turns of weight 1 it has waited for its next'],
    ],
    rest: 'the next',
  },
  queue: {
    where: '`q:…` of `clock`',
    fields: [
      ['virtual', 'd', 'virtual time V'],
      ['weights', 'd', 'W, of those who are ready'],
      ['epoch', 'd', 'how often it fell idle'],
      ['runnable', 'd', 'tasks that could start, its own limits left out'],
      ['ready', 'd', 'users that are ready'],
      ['idleLeast', 'd', 'the least of `idle`; infinite for none'],
      ['old', 'd', 'oldest epoch of which `idle` or `old-tags` may hold a user'],
      ['tags', 'd', 'how many `kept-tags` there are'],
      ['joined', 'd', 'whether a user entered in this epoch'],
      ['scheduled', 'd', 'tasks by state'],
      ['deferred', 'd', ''],
      ['queued', 'd', ''],
      ['started', 'd', ''],
      ['ended', 'd', 'finished ones that are kept'],
      ['enqueued', 'd', 'ever'],
      ['finished', 'd', 'ever'],
      ['recordless', 'd', 'users without a record in the class of weight 100'],
      ['last', 'd', 'tag that entered the weight 100 last, -1 for none'],
      ['flags', 'B', 'sum: queue'],
    ],
    rest: '*seldom*, which a usual step hands through as it is',
  },
  seldom: {
    where: '`q:…` of `clock`',
    fields: [
      ['arrival', 'd', "theoretical arrival time of the queue's rate"],
      ['keptFailed', 'd', 'failed ones that are kept'],
      ['keptCanceled', 'd', 'canceled ones that are kept'],
      ['failed', 'd', 'ever'],
      ['canceled', 'd', 'ever'],
      ['retried', 'd', 'ever'],
      ['lost', 'd', 'leases, ever'],
      ['stolen', 'd', 'turns, ever'],
    ],
    rest: 'msgpack of other classes, of their latest tags, of how many tasks are parked, of the weights in `leavers`; or nothing',
  },
  worker: {
    where: '`w:…` of `clock`',
    fields: [
      ['seen', 'd', 'when it was last seen'],
      ['succeeded', 'd', 'attempts since its start that succeeded'],
      ['announced', 'd', 'step in which it announced itself'],
      ['flags', 'B', 'sum: worker'],
      ['lastBytes', 'B', 'bytes of its newest lease request'],
    ],
    rest: 'its newest lease request, `<step>-<request>`: sent again, it is answered with the leases of that step that are still in `hot`, by arrival; then where it stands in line and what for, as msgpack: `-` once it was woken, `+` once it was handed a task, nothing in no line',
  },
  clock: {
    where: '`s` of `clock`',
    fields: [
      ['seen', 'd', 'moment of the latest step'],
      ['started', 'd', 'a moment before which no lease ends'],
      ['finished', 'd', 'when the first kept one of the state ended'],
      ['failed', 'd', ''],
      ['canceled', 'd', ''],
      [
        'due',
        'd',
        'the least of `scheduledUsers`, `throttled`, `deadlines` and `schedulesDue` of *upkeep*',
      ],
      ['upkeep', 'd', 'when other maintenance has something to do; 0: at once'],
      ['stamp', 'd', 'the latest'],
      ['steps', 'd', 'how many there were'],
      ['waiting', 'I', 'workers that stand in line'],
      ['ears', 'I', 'how many there are'],
      ['flags', 'B', 'sum: clock'],
    ],
    rest: 'nothing; or a double, when the first holder of the alarm wakes, and the two holders, parted by a comma',
  },
  upkeep: {
    where: '`m` of `clock`',
    fields: [
      ['pause', 'd', 'until when no lease is taken back, after an outage'],
      ['scheduledUsers', 'd', 'heads of the indexes over all queues'],
      ['throttled', 'd', ''],
      ['deadlines', 'd', ''],
      ['cascade', 'd', ''],
      ['listedWorkers', 'd', ''],
      ['submissions', 'd', ''],
      ['missing', 'd', ''],
      ['configs', 'd', 'users with settings'],
      ['dropping', 'd', '1 while `dropping` has any'],
      ['refresh', 'd', '1 while `refreshing` has any'],
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

/** Where each field begins, counted from 1, and `rest`, which is behind the last. */
export function offsetsOf({ fields }: PackedRecord): Readonly<Record<string, number>> {
  return offsetsIn(Object.fromEntries(fields.map(([name, kind]) => [name, KIND_BYTES[kind]])));
}

/** Bytes of the parts that a task's text begins with. Behind them stands its user's name. */
export const TEXT_WIDTHS = {
  /** When it was enqueued, in ms. */
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

/** The byte that stands for a sum of 0 in a text. */
export const ZERO_BYTE = 48;

/** Where each part of a task's text begins, counted from 1; `rest`: its user's name. */
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
  // Each name of the widths has been given one.
  return { ...found, rest: at } as Record<Name | 'rest', number>;
}
