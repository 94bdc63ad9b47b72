/** Keys of workers, and of the namespace; see `task-keys.ts` for the format of the comments. */
import type { KeyFamily } from './key-family.ts';

/** Families of workers, and of the lists of users that they are assigned to or steal from. */
export const WORKER_KEYS = {
  /**
   * worker → last seen
   * @by registration, lease, settle, extend
   * @life until unregistered or long silent
   */
  workers: { type: 'ZSET', name: '{p}workers' },
  /**
   * state of a worker: see Fields
   * @by registration, lease, settle, extend
   * @life with it
   */
  worker: { type: 'HASH', name: '{p}worker:{id}' },
  /**
   * task name → when a worker that knew it unregistered (live workers list theirs)
   * @by unregistration
   * @life an hour
   */
  names: { type: 'ZSET', name: '{p}names' },
  /**
   * pending updates after new settings → progress: a queue, whose users get new defaults → the user reached; `@` and a user, with new settings in all queues → a cursor over `queues`
   * @by settings, maintenance
   * @life until done
   */
  refreshing: { type: 'HASH', name: '{p}refreshing' },
  /**
   * tokens, or the lease of a handed task: token, moment, length, id and text, separated by NUL; the worker blocks on it
   * @by all steps that add work for it
   * @life until it takes them, leases, or is removed; a task until a sweep puts it back, 2 s later
   */
  wake: { type: 'LIST', name: '{p}wake:{worker}' },
  /**
   * waiting worker → since when; `*` for unrestricted ones
   * @by lease, all steps that wake it
   * @life while they wait
   */
  idleWorkers: { type: 'ZSET', name: '{queue}idle-workers:{list}' },
  /**
   * clock of an assigned or steal list: see Fields
   * @by registration, lease
   * @life while a live worker has it
   */
  list: { type: 'HASH', name: '{queue}list:{list}' },
  /**
   * users of the list
   * @by registration
   * @life with it
   */
  listNames: { type: 'SET', name: '{queue}list-names:{list}' },
  /**
   * workers that have the list
   * @by registration
   * @life with it
   */
  listWorkers: { type: 'SET', name: '{queue}list-workers:{list}' },
  /**
   * ready users of the list → S + 1/w
   * @by enqueue, lease, settings
   * @life while it has members
   */
  listReady: { type: 'ZSET', name: '{queue}list-ready:{list}' },
  /**
   * users of a steal list without an assigned worker
   * @by enqueue, lease, settings
   * @life while it has members
   */
  unassigned: { type: 'ZSET', name: '{queue}unassigned:{list}' },
  /**
   * lists that are being dropped in steps
   * @by unregistration, maintenance
   * @life until dropped
   */
  dropping: { type: 'SET', name: '{p}dropping' },
} as const;
WORKER_KEYS satisfies Record<string, KeyFamily>;

/** Families of the namespace as a whole. */
export const NAMESPACE_KEYS = {
  /**
   * state kept between steps: see Packed records and Fields. It contains the head of each index below, so that a step knows without a read whether anything is due
   * @by every step
   * @life for ever
   */
  clock: { type: 'HASH', name: '{p}clock' },
  /**
   * layout version, or `copying` during a copy from another backend; moment of creation
   * @by the first client
   * @life for ever
   */
  meta: { type: 'HASH', name: '{p}meta' },
  /**
   * never exists: deleting it first lets a script run when memory is full. On a Cluster every script declares it beside the clock, so that none runs while the slot moves
   * beside the clock, so that none runs while the slot is moved
   * @by every step that may free memory
   * @life –
   */
  oom: { type: 'none', name: '{p}oom' },
  /**
   * what was set aside because it could not be read → why, NUL, its bytes
   * @by a call with care
   * @life until `doctor --repair`
   */
  damaged: { type: 'HASH', name: '{p}damaged' },
  /**
   * a key of another type than its family, under its name without the prefix
   * @by a call with care
   * @life until `doctor --repair`
   */
  setAside: { type: 'none', name: '{p}set-aside:{key}' },
  /**
   * counts of a minute (`m` and its number since the epoch) or hour (`h`): `q:` and a queue, or `u:`, queue, colon and user → rank and counts; waits; runs. An empty queue or user: those without their own row
   * @by `series.add`
   * @life a day, 31 days
   */
  series: { type: 'HASH', name: '{p}series:{step}' },
  /**
   * additions that are not merged yet: moment, and totals of queues; rows as JSON
   * @by `series.add`
   * @life until they are merged
   */
  seriesNew: { type: 'LIST', name: '{p}series-new' },
  /**
   * queue → its creation or the last merged read, and its totals; `@` → number of merges
   * taken in
   * @by all steps that begin a queue, `series.add`
   * @life for ever
   */
  seriesTotals: { type: 'HASH', name: '{p}series-totals' },
  /**
   * channel on which a process receives the ends of tasks
   * @by settle, cancel, maintenance: published
   * @life –
   */
  notices: { type: 'none', name: '{p}notices:{process}' },
  /**
   * channel on which readers of a stream receive its next offset
   * @by append: published
   * @life –
   */
  streamNotices: { type: 'none', name: '{p}stream-notices:{id, name}' },
} as const;
NAMESPACE_KEYS satisfies Record<string, KeyFamily>;

/** Sorted sets over all queues with fixed names, as `K.index(name)` and the heads that the clock keeps of them. */
export const INDEX_KEYS = {
  /**
   * queue and user, as a pair → least due time of the user's scheduled tasks
   * @by enqueue, settle, maintenance
   * @life while it has members
   */
  scheduledUsers: { type: 'ZSET', name: '{p}scheduled-users' },
  /**
   * queue with a rate → when the rate allows its next start, as of its latest start
   * @by lease, settings
   * @life while it has members
   */
  rated: { type: 'ZSET', name: '{p}rated' },
  /**
   * queue and user, as a pair → when the user's rate allows its next start
   * @by lease, maintenance
   * @life while it has members
   */
  throttled: { type: 'ZSET', name: '{p}throttled' },
  /**
   * stamp of its arrival and id → expiry, the end of a wait for a failed or missing dependency, the wake-up of a suspended run, or the next check whether a live worker knows the name of a parked task
   * @by all steps that set such a moment
   * @life while it has members
   */
  deadlines: { type: 'ZSET', name: '{p}deadlines' },
  /**
   * ended task whose dependents are not updated yet → stamp of its end
   * @by all steps that end a task; the cascade
   * @life while it has members
   */
  cascade: { type: 'ZSET', name: '{p}cascade' },
  /**
   * schedule with a next slot → due time of that slot
   * @by `schedules`, firing
   * @life while it has members
   */
  schedulesDue: { type: 'ZSET', name: '{p}schedules:due' },
  /**
   * place of a value → next check whether it has expired
   * @by as `xcom`
   * @life while it has members
   */
  xcomEnds: { type: 'ZSET', name: '{p}xcom-ends' },
  /**
   * id that is not stored, and the user that has to store it, as in `missing` → 1
   * @by enqueue, redrive
   * @life while it has members
   */
  missingIds: { type: 'ZSET', name: '{p}missing' },
  /**
   * unsealed batch → deadline
   * @by the scripts of the batch
   * @life while it has members
   */
  submissions: { type: 'ZSET', name: '{p}submissions' },
  /**
   * worker on lists → last seen
   * @by registration, lease
   * @life while it has members
   */
  listedWorkers: { type: 'ZSET', name: '{p}listed-workers' },
} as const;
INDEX_KEYS satisfies Record<string, KeyFamily>;
