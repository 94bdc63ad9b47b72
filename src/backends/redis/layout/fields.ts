/**
 * Short names of stored facts, each with its name in the code and its content. Lua says `FIELD.user.shares`
 * for a field of a hash; a name inside of a packed value, as `t.x.waitUntil`, is written in full, and the
 * bundler replaces it. Tables of docs/redis-layout.md are generated from these.
 */

/** Name in the code → short name, and content. */
export type Fields = Readonly<Record<string, readonly [short: string, holds: string]>>;

/** Fields of hashes, by family of keys. */
export const HASH_FIELDS = {
  clock: {
    numbers: ['s', 'packed: clock'],
    upkeep: ['m', 'packed: upkeep'],
    queue: ['q:', 'and queue: packed: queue, then seldom'],
    worker: ['w:', 'and worker: packed: worker'],
  },
  fair: {
    settings: ['c', 'settings of the queue, as msgpack'],
    mean: ['t', 'mean time that leases are held, where time is charged: a double'],
    followers: ['fo', 'kept tasks that failed because another did'],
    followed: ['fe', 'all tasks that failed because another did'],
  },
  errorGroup: {
    attempts: ['a', 'number of failed attempts'],
    first: ['f', 'moment of the first'],
    newest: ['n', 'the task of the newest'],
  },
  user: {
    numbers: ['u', 'packed: user'],
    shares: ['v', 'packed: shares, once it had a turn'],
    settings: ['c', 'its own settings and lists, as msgpack: see Packed values'],
    mean: ['t', 'as `t` of `fair`'],
  },
  worker: {
    spec: ['j', 'as JSON, for people'],
    queues: ['q', 'names of its queues, separated by commas'],
    names: ['n', 'names of the tasks that it knows: `,a,b,`'],
    lists: ['l', 'its lists, as msgpack'],
    began: ['b', 'its start'],
    failed: ['f', 'failed attempts since then'],
    lost: ['g', 'lost attempts since then'],
    instance: ['o', 'random id of the process among those with this worker id; absent without one'],
  },
  key: { record: ['k', 'as msgpack: see Packed values'] },
  schedule: {
    spec: ['j', 'as JSON'],
    revision: ['r', 'increases with each change'],
    paused: ['p', '1 or 0'],
    overlap: ['o', 'policy'],
    limit: ['m', 'most firings'],
    graph: ['h', 'hash of the snapshot that it needs'],
    slot: ['s', 'the next slot'],
    due: ['d', 'due time of that slot'],
    created: ['c', 'moment of creation'],
    changed: ['u', 'moment of the last change'],
    fired: ['f', 'number of fired slots'],
    missed: ['x', 'number of missed slots'],
    overlapped: ['v', 'number of overlapped slots'],
    settled: ['t', 'the latest slot that was decided'],
    lastSlot: ['ls', 'the latest slot that stored a task'],
    lastId: ['li', 'id of that task'],
    active: ['a', 'tasks that may not have ended, separated by NUL'],
    user: ['e', 'user whose events it fires at; absent: it fires by the clock'],
    event: ['n', 'the name of these events'],
  },
  schedulerLock: {
    owner: ['owner', 'the scheduler that fires'],
    till: ['until', 'end of its lock'],
    fence: ['fence', 'increases with each owner'],
  },
  submit: {
    next: ['next', 'number of stored parts'],
    reply: ['reply:', 'and the number of a part: the answer to it'],
    sealed: ['sealed', '1'],
    undone: ['undone', '1'],
    done: ['done', '1'],
  },
  list: {
    whole: ['d', '1 once all of its names are registered'],
    clock: ['c', 'virtual time of the list'],
    epoch: ['e', 'epoch of the queue, at that time'],
    least: ['m', 'least start tag of the names registered so far'],
  },
  graphMeta: { till: ['till', 'expiry of the snapshot, 0 while a task needs it'] },
  run: {
    redrives: ['redrives', 'number of redrives of its task since it began'],
    givenUp: ['d:', 'and 22 characters of the ids of members: the run has given up their group'],
  },
  channel: {
    value: ['v:', 'and channel, colon, key: JSON text'],
    once: ['o:', 'and `<bytes>:<field><name>`: mark of a write with `once`'],
    counts: ['n', 'number of values, and of bytes'],
    signalCounts: ['sn', 'number of kept signals, and of bytes; number of signals with ids'],
    signalLine: ['sq:', 'and name: number of the first kept signal, and of the next one'],
    signal: ['sp:', 'and the number in that line, colon, name: JSON text'],
    signalId: ['si:', 'and id of a signal: its place among the newest'],
    signalPlace: ['sr:', 'and such a place: the id'],
    ask: ['qa:', 'and mark of a question: its moment, the end of its time, the question as JSON'],
    askClosing: ['qc:', 'and that mark: moment of the closing, how, and the answer as JSON'],
  },
  streams: {
    count: ['n', 'number of streams'],
    state: [
      's:',
      'and a name: the next offset, the first kept offset, kept bytes, 1 once it is closed',
    ],
    writer: ['w:', 'and name, colon, node: its latest call, and the number of chunks of that'],
  },
  stream: { head: ['h', 'see the key'], text: ['t', 'see the key'] },
  events: {
    newest: ['n', 'number of the newest event'],
    event: ['e:', 'and number: moment of publication, JSON text'],
    id: ['i:', 'and id of an event: its number'],
    idOf: ['r:', 'and number: id of the event'],
  },
  xcom: {
    value: ['v', 'JSON text'],
    writer: ['w', 'the task that wrote it, empty for none'],
    pushed: ['p', 'moment of the write'],
    keep: ['t', "how long it is kept after that task's end, in ms"],
  },
} as const;
HASH_FIELDS satisfies Record<string, Fields>;

/**
 * Names inside of packed values, by the value. A long name stands for the same short one
 * everywhere, so it has no other meaning.
 */
export const PACKED_NAMES = {
  /** Values after the numbers of `facts`. */
  facts: {
    optional: ['x', 'rare facts'],
    changing: ['y', 'optional facts that change'],
    latestLease: ['o', 'token NUL worker, while it is neither started nor ended'],
  },
  /** `x` of facts. */
  optional: {
    waitsOn: ['d', 'dependencies'],
    policies: [
      'g',
      'policies for a failed, canceled and missing one; whether it may be another user’s',
    ],
    assumed: ['m', 'dependencies that were missing and counted as satisfied'],
    startWithin: ['xr', 'its time to start, if that counts from its release'],
    startUntil: ['ex', 'deadline of the start'],
    waitUntil: ['wu', 'end of its wait for a task that cannot end without help'],
    wakeDue: ['wk', 'wake-up of a suspension'],
    leastDeadline: ['dl', 'the least of these'],
    keyName: ['k', 'idempotency key'],
    keyPassed: ['kp', 'it no longer holds its key, which has passed to others, or it was redriven'],
    keyHoldsUntil: ['ku', 'end of its key, whether it has ended or not'],
    keyWindowFrom: ['kn', 'start of the window of its key, if that collects calls'],
    payloadDigest: ['fp', 'digest of the first payload'],
    batchId: ['su', 'unsealed batch'],
    awaitKind: ['ak', 'kind of its wait'],
    awaitName: [
      'an',
      'name of the signal, mark of the question, or name and key of the event as a pair',
    ],
    awaitTargets: ['ao', 'ids of the tasks whose signals it takes'],
    awaitEntry: ['ae', 'field of the journal for the answer'],
    isJoin: ['j', 'it is a join'],
    ownerRun: ['o', 'its run'],
    graphHash: ['h', 'hash of the snapshot that it needs'],
    attendedLease: [
      'hl',
      'start of the lease of its suspension, and its token, while its handler may use it; then, as JSON, the remaining time of that',
    ],
    decidesAfter: [
      'hd',
      'token of a suspension to decide: a pause does not stop it until the next settlement',
    ],
    suspendedFor: ['s', 'tasks that it was suspended for, without those that a wake-up removed'],
    keySpec: ['i', 'in calls only: its idempotency key, and the policy'],
    pausedSince: ['ps', 'of a run: start of its pause'],
    pauseReason: ['pr', 'of a run: reason of its pause'],
    pausedBy: ['pb', 'the run whose pauses stop it, if that is not its `o`'],
    asideFor: ['hb', 'it was set aside: the run whose pause stops it'],
    hasAside: ['hs', 'of a run: `aside` has members'],
    wakeWord: ['sp', '`failure` if the first task that does not finish wakes it'],
  },
  /** `y` of facts. */
  changing: {
    settledToken: ['st', 'an older token that settled it'],
    endCause: ['ca', 'cause of its end, as JSON'],
    cancelCause: ['cn', 'cause of its cancel, as JSON'],
    checkpoint: ['cw', 'token and name of the latest checkpoint that wrote to channels'],
    chargedAhead: ['ch', 'its estimated charge'],
    streamed: ['sm', 'it has streams'],
  },
  /** `c` of `user`. */
  settings: {
    userPart: ['o', 'its own settings'],
    onLists: ['l', 'lists that it is on'],
    keepsRecord: ['k', 'it has settings for this queue only'],
  },
  /** `l` of `worker`. */
  workerLists: {
    assignedList: ['a', 'list of assigned users'],
    stealList: ['s', 'list of steal targets, or `any`'],
  },
  /** `k` of `key`. */
  key: {
    ownerId: ['o', 'the task that holds it'],
    followerId: ['f', 'the task that runs after the owner'],
    digestFirst: ['p', 'digest of the first payload'],
    holdsUntil: ['u', 'end of the key'],
    windowFrom: ['n', 'start of its window, if it collects calls'],
    ownerEndedAt: ['e', 'end of its owner'],
    ownerEndedAs: ['g', 'end state of the owner, once that is removed'],
    absorbedIds: ['a', 'ids of the calls that it answered'],
  },
} as const;
PACKED_NAMES satisfies Record<string, Fields>;
