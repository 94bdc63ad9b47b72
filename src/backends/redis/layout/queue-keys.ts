/** Keys of users and of queues; see `task-keys.ts` for the format of the comments. */
import type { KeyFamily } from './key-family.ts';

/** Families with keys for each queue, and mostly for each user in it. */
export const QUEUE_KEYS = {
  /**
   * ids of a level in the order of their places; the level is omitted when it is 3, which most tasks have
   * @by enqueue, lease, all steps that put a task back
   * @life while it has members
   */
  line: { type: 'LIST', name: '{queue}line{level}:{user}' },
  /**
   * queued tasks outside of the lines, since a worker that reached them did not know their names: `<bytes>:<user>`, level, place (12 hex digits) and id → 0
   * @by lease
   * @life while there are any
   */
  parked: { type: 'ZSET', name: '{queue}parked' },
  /**
   * the same by name
   * @by lease
   * @life while there are any
   */
  parkedOfName: { type: 'ZSET', name: '{queue}parked-of-name:{name}' },
  /**
   * level and user with parked tasks of that name → stamp of their latest turn to be brought back
   * @by lease
   * @life while there are any
   */
  parkedUsers: { type: 'ZSET', name: '{queue}parked-users:{name}' },
  /**
   * names of parked tasks
   * @by lease
   * @life while there are any
   */
  parkedNames: { type: 'HASH', name: '{queue}parked-names' },
  /**
   * stamp of arrival and id → due
   * @by enqueue, settle, maintenance
   * @life while it has members
   */
  scheduled: { type: 'ZSET', name: '{queue}scheduled:{user}' },
  /**
   * state of a user in the queue: see Packed records and Fields. A user with no settings but a weight, no lists, and only tasks of level 3 in line, in a queue that charges turns, has no `u`: its line and its tag suffice, with its weight in `c`, if that is not 100 (a kept tag of another weight is in `u`)
   * @by all steps that change its counts, its tag or its settings
   * @life while the user has work, a kept tag, settings or is on a list
   */
  user: { type: 'HASH', name: '{queue}user:{user}' },
  /**
   * user → 0, for paging: those with a record, or with tasks that wait, are scheduled or deferred, or with a kept tag. A user with started tasks only is found by those
   * @by enqueue; the end of a step
   * @life while there is one of these
   */
  users: { type: 'ZSET', name: '{queue}users' },
  /**
   * user without a record and without tasks in line → its tag
   * @by lease, enqueue, maintenance
   * @life until V has passed it, or the user is back in line; then dropped, some together
   */
  keptTags: { type: 'ZSET', name: '{queue}kept-tags' },
  /**
   * kept tags of a past epoch, when they were too many to be dropped at once
   * @by the end of a step
   * @life until dropped
   */
  oldTags: { type: 'ZSET', name: '{queue}old-tags:{epoch}' },
  /**
   * user → number of its tasks that are scheduled or deferred
   * @by all steps that move such a task
   * @life while there are any
   */
  later: { type: 'HASH', name: '{queue}later' },
  /**
   * settings for all queues (`*`) and by queue, as msgpack
   * @by `users.set`
   * @life until reset
   */
  userConfig: { type: 'HASH', name: '{p}user-config:{user}' },
  /**
   * users that have such settings
   * @by `users.set`
   * @life until reset
   */
  configured: { type: 'SET', name: '{p}configured-users' },
  /**
   * user with settings for all queues → 0, for paging
   * @by `users.set`
   * @life until reset
   */
  configuredForAll: { type: 'ZSET', name: '{p}configured-for-all' },
  /**
   * state, counts and settings of the queue: see Packed records and Fields
   * @by every step that changes the queue
   * @life for ever
   */
  fair: { type: 'HASH', name: '{queue}fair' },
  /**
   * ready user → start tag T in grains of its own turns, in shared classes S; class = family and weight (`w…`) or power of two (`s…`). Families: `p` users without a record, `o` others without an assigned worker, `a` those with one. The 21st user of a class adds a member of 65 bytes 255 with the score +inf, which is no valid name, so that the set is no listpack
   * @by enqueue, lease, settings
   * @life while it has users
   */
  ready: { type: 'ZSET', name: '{queue}ready:{class}' },
  /**
   * user with a record and no tasks → virtual time until which its tag is kept
   * @by the end of a step, maintenance
   * @life until V has passed
   */
  idle: { type: 'ZSET', name: '{queue}idle:{epoch}' },
  /**
   * `<weight>:<user>`, of users with a record that were ahead of V when they stopped being ready → virtual time of their tag: they count in W until then
   * @by lease, settle, enqueue, settings
   * @life until V has passed, or the user is ready again
   */
  leavers: { type: 'ZSET', name: '{queue}leavers' },
  /**
   * queues with such users to drop
   * @by the end of a step, maintenance
   * @life until dropped
   */
  idleQueues: { type: 'SET', name: '{p}idle-queues' },
  /**
   * all queues ever used
   * @by the first step in it
   * @life for ever
   */
  queues: { type: 'SET', name: '{p}queues' },
} as const;
QUEUE_KEYS satisfies Record<string, KeyFamily>;
