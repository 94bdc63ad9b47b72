/**
 * Keys of tasks, of runs, and of their parts. The comment on each is its row in
 * docs/redis-layout.md: what it holds, who writes it (`@by`), how long it lives (`@life`).
 */
import type { KeyFamily } from './key-family.ts';

/** Families of the namespace with a key or field for each task, run, schedule or value. */
export const TASK_KEYS = {
  /**
   * id → the constant text of a task: see Texts
   * @by enqueue; a replaced input, and later facts are in `facts`
   * @life until retention or `remove`
   */
  tasks: { type: 'HASH', name: '{p}tasks' },
  /**
   * id → a payload over 1 KiB
   * @by enqueue
   * @life with the task
   */
  payloads: { type: 'HASH', name: '{p}payloads' },
  /**
   * id → its optional facts, packed: see Packed records and Fields
   * @by all steps that change a task with optional facts
   * @life while it has optional facts
   */
  facts: { type: 'HASH', name: '{p}facts' },
  /**
   * id → lease, packed. Over 64 bytes long, so that the hash is no listpack. Its length is the number of tasks that the worker runs
   * @by lease, hand-over, extend; removed by settle and the sweep
   * @life while the worker has leases
   */
  hot: { type: 'HASH', name: '{p}hot:{worker}' },
  /**
   * id → its end, packed
   * @by settle, cancel, maintenance
   * @life with the task, from its end on
   */
  ends: { type: 'HASH', name: '{p}ends' },
  /**
   * id → a result over 64 KiB, which is not in `ends` then
   * @by settle
   * @life with the task
   */
  results: { type: 'HASH', name: '{p}results' },
  /**
   * id → its latest error
   * @by settle
   * @life with the task
   */
  errors: { type: 'HASH', name: '{p}errors' },
  /**
   * id → receivers of its end: `d` for dependents, then channels of processes that wait for its end
   * @by watch, enqueue of a dependent
   * @life channels until its end, `d` with the task
   */
  ears: { type: 'HASH', name: '{p}ears' },
  /**
   * attempts that did not finish the task, newest 20, as JSON
   * @by settle, the sweep
   * @life with the task
   */
  attempts: { type: 'LIST', name: '{p}attempts:{id}' },
  /**
   * for scheduled tasks stamp of arrival and id → due; for deferred ones id → stamp of arrival. None for `queued` tasks, which are in the users' lines, for `started` ones, which are in `hot`, and for ended ones
   * @by all steps that move such a task
   * @life while it has members
   */
  state: { type: 'ZSET', name: '{p}state:{state}' },
  /**
   * worker with leases → a moment before which none of them ends; the least end may be later
   * @by lease, extend, settle, the sweep
   * @life until a sweep finds none
   */
  leases: { type: 'ZSET', name: '{p}leases' },
  /**
   * ids in the order of their ends. A removed one leaves a hole: the byte 255, which no id has, and the stamp of its end. The first is no hole
   * @by all steps that end a task; retention, redrive and `remove`
   * @life while it has members
   */
  ended: { type: 'LIST', name: '{p}ended:{state}' },
  /**
   * state → number of holes in its list
   * @by redrive, `remove`, retention
   * @life while there are any
   */
  holes: { type: 'HASH', name: '{p}holes' },
  /**
   * id that retention skipped because other tasks read it → stamp of its end
   * @by retention, the last reader
   * @life until its last reader has gone: then it is put back, or removed
   */
  kept: { type: 'ZSET', name: '{p}kept:{state}' },
  /**
   * failed tasks of a name, of all versions: id → stamp of its end
   * @by all steps that end a task; retention, redrive and `remove`
   * @life while it has members
   */
  failedNamed: { type: 'ZSET', name: '{p}failed-named:{name}' },
  /**
   * failed tasks of an error group: id → stamp of its end
   * @by all steps that end a task; retention, redrive and `remove`
   * @life while it has members
   */
  failedOf: { type: 'ZSET', name: '{p}failed-of:{group}' },
  /**
   * facts about an error group besides its failed tasks: see Fields
   * @by settle, the sweep, all other steps that fail a task
   * @life until the last of its failed tasks is gone; without any, 24 h past the newest attempt, by TTL
   */
  errorGroup: { type: 'HASH', name: '{p}error-group:{group}' },
  /**
   * error group → minus the moment of its latest failed attempt: of kind `failed` those with failed tasks, of kind `retried` the others
   * @by settle, the sweep, all other steps that fail a task
   * @life `failed`: while it has members; `retried`: 24 h past the newest attempt, by TTL
   */
  errorGroups: { type: 'ZSET', name: '{p}error-groups:{kind}' },
  /**
   * dependents of the task → stamp of the dependent's arrival
   * @by enqueue, redrive, suspension; the cascade
   * @life until they are updated
   */
  waiting: { type: 'ZSET', name: '{p}deps:waiting:{id}' },
  /**
   * dependents of an id that is not stored, by the pair of `id` and the user that has to store it, or nothing for any user → stamp of the dependent's arrival
   * @by enqueue, redrive
   * @life until a task that they may depend on is stored; then `waiting`
   */
  missing: { type: 'ZSET', name: '{p}deps:missing:{pair}' },
  /**
   * ids that the task still waits for
   * @by enqueue, redrive, suspension; the cascade
   * @life until none is left
   */
  blocked: { type: 'SET', name: '{p}deps:blocked:{id}' },
  /**
   * tasks that wait for its redrive → stamp of their arrival
   * @by the cascade, redrive, `remove`
   * @life until redrive or removal
   */
  awaitingRedrive: { type: 'ZSET', name: '{p}deps:redrive:{id}' },
  /**
   * tasks that the pause of a run has set aside → stamp of their arrival. The run has `hasAside` in its facts then
   * @by lease, `pause`; the cascade
   * @life until the pause is over, and they are put back
   */
  aside: { type: 'ZSET', name: '{p}aside:{id}' },
  /**
   * journal of a run: field → text · `=` begins answers of waits: moment, what ended it, JSON text · `redrives` number of redrives of its task since it began · `d:` and the mark of a group that was given up
   * @by checkpoint, redrive, all steps that wake a task
   * @life with the task
   */
  run: { type: 'HASH', name: '{p}run:{id}' },
  /**
   * channels of a run, its kept signals, and its questions: see Fields
   * @by settle, checkpoint, writes at once, signals, suspension, all steps that end a wait
   * @life with the run's task
   */
  channel: { type: 'HASH', name: '{p}channel:{id}' },
  /**
   * suspended task that waits for a signal, an event, an answer or a time → since when
   * @by suspension, all steps that wake a task
   * @life until it is woken or has ended
   */
  waits: { type: 'ZSET', name: '{p}waits:{kind}' },
  /**
   * suspended task that waits for a signal, by the pair of the target task and the signal's name → stamp of its arrival
   * @by suspension, signals
   * @life until it is woken or has ended
   */
  waiters: { type: 'ZSET', name: '{p}waiters:{id, signal}' },
  /**
   * moment (16 digits), space, mark, dot, id of an open question → 0, for paging, by the pair of a user, or nothing for all, and the name of a person who may answer, or nothing
   * @by suspension, all steps that end the wait
   * @life while it is open
   */
  asks: { type: 'ZSET', name: '{p}asks:{user, name}' },
  /**
   * newest events of a name and key, by the pair of their user and of the pair of name and key: see Fields
   * @by `publish`
   * @life 1 h past the newest, or its own time, by TTL
   */
  events: { type: 'HASH', name: '{p}events:{place}' },
  /**
   * suspended task that waits for such an event → the number of the newest at the start of the wait
   * @by suspension, `publish`, all steps that end a wait
   * @life until it is woken or has ended
   */
  eventWaiters: { type: 'ZSET', name: '{p}event-waiters:{place}' },
  /**
   * a named value, by the pair of its user and of the pair of namespace and key: see Fields
   * @by settle, checkpoint, `xcom`
   * @life until its time has passed and no dependent of its writer is left
   */
  xcom: { type: 'HASH', name: '{p}xcom:{place}' },
  /**
   * state of the streams of a task: see Fields. A task with streams has `streamed` in its facts
   * @by append
   * @life with the task
   */
  streams: { type: 'HASH', name: '{p}streams:{id}' },
  /**
   * blocks of a stream; the number of an entry is the next offset: `h` kind, number of its offsets, attempt and node, separated by a space · `t` its chunks
   * @by append
   * @life with the task; the oldest are removed beyond the limits of a stream
   */
  stream: { type: 'STREAM', name: '{p}stream:{id, name}' },
  /**
   * key → 0, for paging, by the pair of user and namespace
   * @by as `xcom`
   * @life while there are values
   */
  xcomKeys: { type: 'ZSET', name: '{p}xcom-keys:{space}' },
  /**
   * namespace → 0, for paging
   * @by as `xcom`
   * @life while there are values
   */
  xcomNamespaces: { type: 'ZSET', name: '{p}xcom-namespaces:{user}' },
  /**
   * snapshot of a graph
   * @by the first enqueue of a run of it
   * @life while a stored task needs it, else 1 d past its last use, by TTL
   */
  graph: { type: 'STRING', name: '{p}graph:{hash}' },
  /**
   * a snapshot longer than 128 KiB, until the script that saves it renames it to `graph`
   * @by the client
   * @life 1 min, by TTL
   */
  graphNew: { type: 'STRING', name: '{p}graph-new:{hash}' },
  /**
   * expiry of the snapshot: distinguishes expired, evicted and unknown ones: see Fields
   * @by as `graph`
   * @life 8 d past its last use, by TTL; no end while a task needs the snapshot
   */
  graphMeta: { type: 'HASH', name: '{p}graphmeta:{hash}' },
  /**
   * stored tasks that need the snapshot, and schedules (as `~S.` and the name)
   * @by enqueue, schedules; retention
   * @life while there are any
   */
  graphRefs: { type: 'SET', name: '{p}graph-refs:{hash}' },
  /**
   * idempotency key: see Fields
   * @by enqueue, all steps that end its owner
   * @life with its owner's record, at the latest 2 min past its owner's end, by TTL; with its own `ttl` a minute after that
   */
  key: { type: 'HASH', name: '{p}key:{queueName}:{user, key}' },
  /**
   * a schedule: see Fields
   * @by `schedules`, firing
   * @life until removed
   */
  schedule: { type: 'HASH', name: '{p}schedule:{id}' },
  /**
   * schedule → 0, for paging
   * @by `schedules`
   * @life with the schedule's record
   */
  schedules: { type: 'ZSET', name: '{p}schedules' },
  /**
   * schedules that fire at events of this name of this user, and are not paused
   * @by `schedules`
   * @life while it has members
   */
  eventSchedules: { type: 'SET', name: '{p}event-schedules:{user, event}' },
  /**
   * the scheduler that fires schedules: see Fields. It saves work; firing is safe without it
   * @by schedulers
   * @life for ever
   */
  schedulerLock: { type: 'HASH', name: '{p}scheduler:lock' },
  /**
   * a batch stored in several scripts: see Fields
   * @by the scripts of the batch
   * @life 60 s past its seal
   */
  submit: { type: 'HASH', name: '{p}submit:{id}' },
  /**
   * the tasks of such a batch
   * @by the scripts of the batch
   * @life until they can be leased
   */
  submitted: { type: 'LIST', name: '{p}submitted:{id}' },
} as const;
TASK_KEYS satisfies Record<string, KeyFamily>;
