/**
 * The short names under which facts are stored, each with what it is called in the code and what it holds.
 * Lua says `FIELD.user.shares` for a field of a hash; a name inside of a packed value, as `t.x.waitUntil`, is
 * written long, and the bundler writes the short one. Tables of docs/redis-layout.md are made of these.
 */

/** Name in the code → short name, and what it holds. */
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
    followers: ['fo', 'failed tasks that only followed others and are kept'],
    followed: ['fe', 'the same, ever'],
  },
  errorGroup: {
    attempts: ['a', 'attempts that have failed so'],
    first: ['f', 'when the first of them did'],
    newest: ['n', 'the task of the newest'],
  },
  user: {
    numbers: ['u', 'packed: user'],
    shares: ['v', 'packed: shares, once it had a turn'],
    settings: ['c', 'settings of its own and lists, as msgpack: see Packed values'],
    mean: ['t', 'as `t` of `fair`'],
  },
  worker: {
    spec: ['j', 'as JSON, for people'],
    queues: ['q', 'parted by commas'],
    names: ['n', 'of the tasks that it knows: `,a,b,`'],
    lists: ['l', 'its lists, as msgpack'],
    began: ['b', 'its start'],
    failed: ['f', 'attempts since then that failed'],
    lost: ['g', 'that were lost'],
    instance: ['o', 'which of those with this id it is, random; absent where it did not say'],
  },
  key: { record: ['k', 'as msgpack: see Packed values'] },
  schedule: {
    spec: ['j', 'as JSON'],
    revision: ['r', 'rises with each change'],
    paused: ['p', '1 or 0'],
    overlap: ['o', 'policy'],
    limit: ['m', 'most firings'],
    graph: ['h', 'hash of the snapshot that it needs'],
    slot: ['s', 'that comes next'],
    due: ['d', 'when that is to be fired'],
    created: ['c', 'when'],
    changed: ['u', 'when'],
    fired: ['f', 'how many fired'],
    missed: ['x', 'how many were missed'],
    overlapped: ['v', 'how many overlapped'],
    settled: ['t', 'the latest slot that was decided'],
    lastSlot: ['ls', 'the latest that made a task'],
    lastId: ['li', 'its id'],
    active: ['a', 'tasks that may not have ended, parted by NUL'],
    user: ['e', 'whose events it fires at; absent: it fires by the clock'],
    event: ['n', 'the name of these events'],
  },
  schedulerLock: {
    owner: ['owner', 'the scheduler that fires'],
    till: ['until', 'until when no other scheduler does'],
    fence: ['fence', 'rises with each owner'],
  },
  submit: {
    next: ['next', 'how many parts are stored'],
    reply: ['reply:', 'and the number of a part: what was answered to it'],
    sealed: ['sealed', '1'],
    undone: ['undone', '1'],
    done: ['done', '1'],
  },
  list: {
    whole: ['d', '1 once all of its names are registered'],
    clock: ['c', 'virtual time of the list'],
    epoch: ['e', 'of the queue, at that time'],
    least: ['m', 'least start tag among the names that are registered so far'],
  },
  graphMeta: { till: ['till', 'when the snapshot goes, 0 while a task needs it'] },
  run: {
    redrives: ['redrives', 'how often its task was redriven since it began'],
    givenUp: ['d:', 'and 22 characters of the ids of members: the run has given up their group'],
  },
  channel: {
    value: ['v:', 'and channel, colon, key: JSON text'],
    once: ['o:', 'and `<bytes>:<field><name>`: a write that counts once and was done'],
    counts: ['n', 'how many values and bytes there are'],
    signalCounts: ['sn', 'how many signals are kept, and bytes; how many with ids were sent'],
    signalLine: ['sq:', 'and name: the first that is kept, and the next after the last'],
    signal: ['sp:', 'and the number in that line, colon, name: JSON text'],
    signalId: ['si:', 'and id of a signal: its place among the newest'],
    signalPlace: ['sr:', 'and such a place: the id'],
    ask: [
      'qa:',
      'and mark of a question: when it was asked, when its time is over, itself as JSON',
    ],
    askClosing: ['qc:', 'and that mark: when it was closed, how, and the answer as JSON'],
  },
  streams: {
    count: ['n', 'how many streams there are'],
    state: [
      's:',
      'and a name: the offset that comes next, the first that is kept, bytes that are kept, 1 once it is closed',
    ],
    writer: ['w:', 'and name, colon, node: its newest call, and how many chunks that has written'],
  },
  stream: { head: ['h', 'see the key'], text: ['t', 'see the key'] },
  events: {
    newest: ['n', 'number of the newest'],
    event: ['e:', 'and number: when it was published, JSON text'],
    id: ['i:', 'and its id: its number'],
    idOf: ['r:', 'and number: its id'],
  },
  xcom: {
    value: ['v', 'JSON text'],
    writer: ['w', 'the task that pushed it, empty for none'],
    pushed: ['p', 'when'],
    keep: ['t', "how long it is kept after that task's end, in ms"],
  },
} as const;
HASH_FIELDS satisfies Record<string, Fields>;

/**
 * Names inside of packed values, by what the value is. The long name stands for the same short one wherever it
 * is, so it is the name of nothing else.
 */
export const PACKED_NAMES = {
  /** What stands behind the numbers of `facts`. */
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
      'for one that fails, is canceled, is missing; whether it may be another user’s',
    ],
    assumed: ['m', 'those that were missing and counted as satisfied'],
    startWithin: ['xr', 'its time to start, if that begins with its release'],
    startUntil: ['ex', 'deadline of the start'],
    waitUntil: ['wu', 'of a wait for what cannot end by itself'],
    wakeDue: ['wk', 'of a suspension'],
    leastDeadline: ['dl', 'the least of these'],
    keyName: ['k', 'idempotency key'],
    keyPassed: ['kp', 'its key has passed to others, or it was redriven: it holds it no more'],
    keyHoldsUntil: ['ku', 'until when its key holds, whether it has ended or not'],
    keyWindowFrom: ['kn', 'when the window of its key began, if that gathers calls'],
    payloadDigest: ['fp', 'digest of the first payload'],
    batchId: ['su', 'unsealed batch'],
    awaitKind: ['ak', 'what it waits for that is no task'],
    awaitName: [
      'an',
      'name of the signal, mark of the question, or name and key of the event as a pair',
    ],
    awaitTargets: ['ao', 'ids of the tasks whose signals it takes'],
    awaitEntry: ['ae', 'field of the journal for the answer'],
    isJoin: ['j', 'it is a join'],
    ownerRun: ['o', 'its run'],
    graphHash: ['h', 'of the snapshot that it needs'],
    attendedLease: [
      'hl',
      'when the lease began that it was suspended under, and its token, while its handler may speak by it; behind them, as JSON, what that had left of its time',
    ],
    decidesAfter: [
      'hd',
      'the token that it was suspended under to decide: a pause does not hold it while nothing was settled since',
    ],
    suspendedFor: ['s', 'whom it was suspended for, but for those that a wake took it away from'],
    keySpec: ['i', 'in a call alone: its idempotency key, and how that is treated'],
    pausedSince: ['ps', 'of a run: when it was paused'],
    pauseReason: ['pr', 'and why'],
    pausedBy: ['pb', 'the run whose pauses hold it, if that is not its `o`'],
    asideFor: ['hb', 'it was set aside: the run whose pause holds it'],
    hasAside: ['hs', 'of a run: `aside` has members'],
    wakeWord: ['sp', '`failure` when the first that does not finish wakes it'],
  },
  /** `y` of facts. */
  changing: {
    settledToken: ['st', 'an older token that settled it'],
    endCause: ['ca', 'why it ended, as JSON'],
    cancelCause: ['cn', 'why it is to be canceled, as JSON'],
    checkpoint: ['cw', 'token and name of the newest checkpoint that wrote to channels'],
    chargedAhead: ['ch', 'what was charged by expectation'],
    streamed: ['sm', 'it has streams'],
  },
  /** `c` of `user`. */
  settings: {
    userPart: ['o', 'settings of its own'],
    onLists: ['l', 'lists that it is on'],
    keepsRecord: ['k', 'it has settings for this queue alone'],
  },
  /** `l` of `worker`. */
  workerLists: {
    assignedList: ['a', 'list of assigned users'],
    stealList: ['s', 'list of steal targets, or `any`'],
  },
  /** `k` of `key`. */
  key: {
    ownerId: ['o', 'the task that holds it'],
    followerId: ['f', 'the task that waits for the owner'],
    digestFirst: ['p', 'of the first payload'],
    holdsUntil: ['u', 'until when it holds'],
    windowFrom: ['n', 'when its window began, if it gathers calls'],
    ownerEndedAt: ['e', 'when its owner ended'],
    ownerEndedAs: ['g', 'how, once that is removed'],
    absorbedIds: ['a', 'ids that it answered'],
  },
} as const;
PACKED_NAMES satisfies Record<string, Fields>;
