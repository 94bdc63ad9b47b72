/**
 * Keys of tasks, of runs, and of what belongs to them. The comment on each is its row in
 * docs/redis-layout.md: what it holds, who writes it (`@by`), how long it lives (`@life`).
 */
import type { KeyFamily } from './key-family.ts';

/** Families of the namespace with a place for each task, run, schedule or value. */
export const TASK_KEYS = {
  /**
   * id → the text of a task, which stays as it is: see Texts
   * @by enqueue; a replaced input, and what else there is in `facts`
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
   * id → lease, packed. Over 64 bytes long, so that the hash is no listpack. How many there are is how many tasks the worker runs
   * @by lease, hand-over, extend; taken out by settle and the sweep
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
   * id → a result over 64 KiB, which then does not stand in `ends`
   * @by settle
   * @life with the task
   */
  results: { type: 'HASH', name: '{p}results' },
  /**
   * id → its newest error
   * @by settle
   * @life with the task
   */
  errors: { type: 'HASH', name: '{p}errors' },
  /**
   * id → who is to hear of its end: `d` when others depend on it, then channels of processes that wait for its end
   * @by watch, enqueue of a dependent
   * @life channels until its end, `d` with the task
   */
  ears: { type: 'HASH', name: '{p}ears' },
  /**
   * attempts that did not end well, newest 20, as JSON
   * @by settle, the sweep
   * @life with the task
   */
  attempts: { type: 'LIST', name: '{p}attempts:{id}' },
  /**
   * of scheduled tasks the stamp of arrival and the id → due; of deferred ones id → stamp of arrival. None for `queued`, which the users' lines are, for `started`, which `hot` is, and for those that have ended
   * @by all steps that move such a task
   * @life while it has members
   */
  state: { type: 'ZSET', name: '{p}state:{state}' },
  /**
   * worker that has leases → a moment before which none of them ends; the least end may be later
   * @by lease, extend, settle, the sweep
   * @life until a sweep finds none
   */
  leases: { type: 'ZSET', name: '{p}leases' },
  /**
   * ids in the order of their ends. One that was taken out of the middle leaves a hole: the byte 255, which no id has, and the stamp of its end. The first is none
   * @by all steps that end a task; retention, redrive and `remove`
   * @life while it has members
   */
  ended: { type: 'LIST', name: '{p}ended:{state}' },
  /**
   * state → how many of its list are holes
   * @by redrive, `remove`, retention
   * @life while there are any
   */
  holes: { type: 'HASH', name: '{p}holes' },
  /**
   * id that retention came to while others read it → stamp of its end
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
   * what is known of an error group beside its failed tasks: see Fields
   * @by settle, the sweep, all other steps that fail a task
   * @life until the last of its failed tasks is gone; without any, 24 h past the newest attempt, by TTL
   */
  errorGroup: { type: 'HASH', name: '{p}error-group:{group}' },
  /**
   * error group → minus the moment at which an attempt failed so last: of kind `failed` those with failed tasks, of kind `retried` the others
   * @by settle, the sweep, all other steps that fail a task
   * @life `failed`: while it has members; `retried`: 24 h past the newest attempt, by TTL
   */
  errorGroups: { type: 'ZSET', name: '{p}error-groups:{kind}' },
  /**
   * who waits for it → stamp of the waiter's arrival
   * @by enqueue, redrive, suspension; the cascade
   * @life until its end was told
   */
  waiting: { type: 'ZSET', name: '{p}deps:waiting:{id}' },
  /**
   * dependents of an id that is not stored, by the pair of `id` and the user that has to store it, or nothing for any user → stamp of the dependent's arrival
   * @by enqueue, redrive
   * @life until a task that they may depend on is stored; then `waiting`
   */
  missing: { type: 'ZSET', name: '{p}deps:missing:{pair}' },
  /**
   * whom it still waits for
   * @by enqueue, redrive, suspension; the cascade
   * @life until none is left
   */
  blocked: { type: 'SET', name: '{p}deps:blocked:{id}' },
  /**
   * who waits for its redrive → stamp of its arrival
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
   * journal of a run: field → text · `=` begins answers of waits: moment, what ended it, JSON text · `redrives` how often its task was redriven since it began · `d:` and the mark of a group that was given up
   * @by checkpoint, redrive, all steps that wake a task
   * @life with the task
   */
  run: { type: 'HASH', name: '{p}run:{id}' },
  /**
   * channels of a run, signals that were sent to it, and what it asks: see Fields
   * @by settle, checkpoint, writes at once, signals, suspension, all steps that end a wait
   * @life with the run's task
   */
  channel: { type: 'HASH', name: '{p}channel:{id}' },
  /**
   * suspended task that waits for what is no task → since when
   * @by suspension, all steps that wake a task
   * @life until it is woken or has ended
   */
  waits: { type: 'ZSET', name: '{p}waits:{kind}' },
  /**
   * suspended task that waits for a signal, by the pair of the task that it is sent to and its name → stamp of its arrival
   * @by suspension, signals
   * @life until it is woken or has ended
   */
  waiters: { type: 'ZSET', name: '{p}waiters:{id, signal}' },
  /**
   * moment (16 digits), blank, mark, dot, id of an open question → 0, for paging, by the pair of a user, or nothing for all, and a name that it is for, or nothing
   * @by suspension, all steps that end the wait
   * @life while it is open
   */
  asks: { type: 'ZSET', name: '{p}asks:{user, name}' },
  /**
   * events of a name and key, the newest, by the pair of their user and of the pair of name and key: see Fields
   * @by `publish`
   * @life 1 h past the newest, or as it says, by TTL
   */
  events: { type: 'HASH', name: '{p}events:{place}' },
  /**
   * suspended task that waits for such an event → the number of the newest when it began
   * @by suspension, `publish`, all steps that end a wait
   * @life until it is woken or has ended
   */
  eventWaiters: { type: 'ZSET', name: '{p}event-waiters:{place}' },
  /**
   * a named value, by the pair of its user and of the pair of namespace and key: see Fields
   * @by settle, checkpoint, `xcom`
   * @life until its time is over and no dependent of its writer lives
   */
  xcom: { type: 'HASH', name: '{p}xcom:{place}' },
  /**
   * what is known of the streams of a task: see Fields. A task that has any has `streamed` in its facts
   * @by append
   * @life with the task
   */
  streams: { type: 'HASH', name: '{p}streams:{id}' },
  /**
   * blocks of a stream; the number of an entry is the offset behind it: `h` kind, offsets that it takes, attempt and node, parted by a space · `t` its chunks
   * @by append
   * @life with the task; the oldest go when more is kept than one stream may
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
   * @by the first that enqueues a run of it
   * @life while a stored task needs it, else 1 d past its last use, by TTL
   */
  graph: { type: 'STRING', name: '{p}graph:{hash}' },
  /**
   * one longer than 128 KiB, until the script that saves it names it `graph`
   * @by the client
   * @life 1 min, by TTL
   */
  graphNew: { type: 'STRING', name: '{p}graph-new:{hash}' },
  /**
   * when the snapshot goes: tells one whose time is over from one that was evicted and from one that never was: see Fields
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
   * @life with its owner's record, at the latest 2 min past its owner's end, by TTL; with a `ttl` of its own a minute after that is over
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
   * who fires schedules: see Fields. It saves work; a firing is safe without
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
   * @life until they are released
   */
  submitted: { type: 'LIST', name: '{p}submitted:{id}' },
} as const;
TASK_KEYS satisfies Record<string, KeyFamily>;
