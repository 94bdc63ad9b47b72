/** Mutants of what Redis does for many tasks at once, and of where that meets the rest of a step. */
import type { Mutant } from '../mutants.ts';

const LUA = 'src/backends/redis/lua/lib';

/** Name, what is found, what stands there instead, and the tests of the Redis layer that are tried first. */
type Row = readonly [name: string, find: string, replace: string, first?: string];

const DEAL: readonly Row[] = [
  [
    'a turn that is dealt out is not charged',
    `    local after = tags[i] + GRAINS.turn\n`,
    `    local after = tags[i]\n`,
  ],
  [
    'virtual time stands still while turns are dealt out',
    `else v = Turn.afterTurn(from, 1, w) end\n`,
    `else v = from end\n`,
  ],
  [
    'who has nothing left counts in W still',
    `    if have == 1 then\n      w = w - weight\n`,
    `    if have == 1 then\n`,
  ],
  [
    'who leaves ahead in the same lease counts in W no more',
    `        Fluid.add(fluid, after, weight)\n`,
    ``,
  ],
  [
    'who had a turn goes before all others of its class',
    `if back and not (tag and tag <= tags[back]) then`,
    `if back then`,
  ],
  ['virtual time does not jump to the least tag', `      if start > v then from = start end\n`, ``],
  [
    'users with a record are dealt turns as if they had none',
    `    elseif isRecordless then\n      have = before`,
    `    elseif not i then\n      have = before`,
  ],
  [
    'of a class only the first page is seen',
    `got, size, size == 2 * page and from + page`,
    `got, size, false`,
    'usual-step-edges',
  ],
];

const START: readonly Row[] = [
  [
    'a task with facts is just started',
    `    if kind >= BYTE.facts and kind < BYTE.place and not (found and found[i]) then return i end\n`,
    ``,
  ],
  [
    'a task of another cost is charged one turn',
    `      if not c or string.sub(text, b + 1, c - 1) ~= '1' then return i end\n`,
    ``,
  ],
  [
    'a task is started by a worker that does not know its name',
    `      if request.names and not string.find(request.names, ',' .. name .. ',', 1, true) then return i end\n`,
    ``,
  ],
  [
    'tasks that are put back stand in the opposite order',
    `for at_ = #ids, 1, -1 do`,
    `for at_ = 1, #ids do`,
  ],
  [
    'a tag that is ahead is not kept',
    `      elseif start > turns.virtual then\n        kept`,
    `      elseif start < 0 then\n        kept`,
  ],
  ['names of those who have gone stay', `  if passed then Step.dropNames(queue, passed) end\n`, ``],
  [
    'tasks that are dealt out are not counted as started',
    `counts.queued - n, counts.started + n\n`,
    `counts.queued - n, counts.started\n`,
  ],
  [
    'tasks that are dealt out are runnable still',
    `= queue.runnable - n, counts`,
    `= queue.runnable, counts`,
  ],
  [
    'a queue takes turns of another',
    `(other.pass < pass or (other.pass == pass and i < at_))`,
    `other.pass < 0`,
  ],
  [
    'the pass of a queue is not raised',
    `    for _ = before + 1, batch.n do share.pass = share.pass + share.step end\n`,
    ``,
  ],
  [
    'many turns go past maxRunning of their queue',
    `    if config.maxRunning then most = math.min(most, config.maxRunning - share.queue.counts.started) end\n`,
    ``,
  ],
  [
    'a queue with a rate deals out many turns at once',
    `if share.scope or config.rate then`,
    `if share.scope then`,
  ],
  [
    'a worker with lists is dealt turns of everybody',
    `if share.scope or config.rate then`,
    `if config.rate then`,
  ],
];

const SETTLE_MANY: readonly Row[] = [
  [
    'tasks that finish together run still',
    `= counts.started - n, counts.finished + n`,
    `= counts.started, counts.finished + n`,
  ],
  [
    'a task with facts finishes as if it had none',
    `string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.counted) == 0\n    and string.sub`,
    `string.sub`,
  ],
  [
    'tasks finish under any token',
    `string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.counted) == 0\n    and string.sub(packed, -#token - 1) == '\\0' .. token`,
    `string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.counted) == 0`,
  ],
  [
    'who waits for a task does not hear that it finished',
    `        if ears then Settle.notify(ears, ids, ids + i, ids + stop, n) end\n`,
    ``,
    'end-watch',
  ],
  [
    'dependents of the first of many that finish do not hear of it',
    ` and not Settle.isOdd(ids, i, ears) then`,
    ` then`,
    'end-watch',
  ],
  [
    'those who were told that many have finished are not forgotten',
    `  if #notified > 0 then C.ears = C.ears - redis.call('HDEL', K.ears(), unpack(notified)) end\n`,
    ``,
    'end-watch',
  ],
  [
    'a task of the middle of many that finish has no dependents',
    `\n          and not Settle.isOdd(ids, stop + 1, ears) do`,
    ` do`,
    'end-watch',
  ],
  [
    'a task is settled twice in one call',
    `        for at_ = i, odd > 0 and stop or 0 do done[ARGV[ids + at_]] = true end\n`,
    ``,
  ],
  [
    'leases of many that finish are left',
    `    redis.call('HDEL', hot, unpack(ARGV, first, last))\n`,
    ``,
  ],
  [
    'retention does not hear of many that finish',
    `  if now < H.finished then H.finished = now end\n`,
    ``,
  ],
  [
    'of many attempts one is counted',
    `worker.succeeded = worker.succeeded + n`,
    `worker.succeeded = worker.succeeded + 1`,
  ],
  ['those that end together stand before those that ended in the step', `  F.flushEnded()\n`, ``],
  [
    'whoever stands behind a task that finishes has its lease',
    `while stop < last and hot[stop + 1] == packed and`,
    `while stop < last and hot[stop + 1] and`,
  ],
  [
    'an odd decision of a call is passed over',
    `hot[stop + 1] == packed and not others[stop + 1]\n`,
    `hot[stop + 1] == packed\n`,
  ],
];

const STORE_MANY: readonly Row[] = [
  ['a task is stored over another of its id', `    if stored[i] then return end\n`, ``],
  [
    'tasks of a user with a record are stored as if it had none',
    `    if Store.isOther(queue, ARGV[1 + 2 * g]) then return end\n`,
    ``,
  ],
  [
    'users of a queue that gives them settings have no record',
    `  if queue.config.perUser or queue.timed then return false end\n`,
    ``,
  ],
  [
    'a class more than there may be is begun',
    `  return n < LIMIT.weightClasses\n`,
    `  return true\n`,
  ],
  ['who comes back has a tag of a newcomer', `  kept = kept and kept + 0 or 0\n`, `  kept = 0\n`],
  [
    'whom somebody waits for is stored unheard',
    ` or H.missing < INF then return end`,
    ` then return end`,
  ],
  [
    'who joins does not count in W',
    `= queue.weightSum + USUAL.weight, queue.ready + 1, 1`,
    `= queue.weightSum, queue.ready + 1, 1`,
  ],
  ['stamps of many tasks are given again', `  C.stamp = stamp + n\n`, ``],
  [
    'who waits already joins again',
    `    if length == size then Store.join(queue, user) end\n`,
    `    Store.join(queue, user)\n`,
  ],
  [
    'nobody is woken for many tasks',
    `queue.gain, queue.enqueued = queue.runnable + size, queue.gain + size,`,
    `queue.gain, queue.enqueued = queue.runnable + size, queue.gain,`,
  ],
  [
    'users of many tasks have no name',
    `  redis.call('ZADD', K.users(queue.prefix), '0', user)\n`,
    ``,
  ],
];

const STEP: readonly Row[] = [
  [
    'users are known still after a rest',
    `  for _, queue in pairs(knownQueues) do queue.users, queue.runs = {}, nil end\n`,
    ``,
  ],
  ['tasks are known still after a rest', `  tasks = {}\n`, ``],
  [
    'dependents of before a rest wait for maintenance',
    `  if I.cascade then C.isOlder = true end\n`,
    ``,
  ],
  [
    'a queue that rests forgets nothing where virtual time stood still',
    `  if queue.virtual == 0 and queue.joined == 0 then return end\n`,
    `  if queue.virtual == 0 then return end\n`,
  ],
  ['kept tags outlive their epoch', `queue.tags == 0 or Step.dropAllTags(queue)`, `true`],
  [
    'who gets a record stays in the family of those without',
    `(string.byte(u.class) == 112) == needs then`,
    `u.class == needs then`,
  ],
  [
    'the tag of a user without a record is never kept',
    `u.countedWeight == USUAL.weight and F.startOf(u) > queue.virtual\n  local isKept`,
    `u.countedWeight == USUAL.weight and F.startOf(u) < 0\n  local isKept`,
  ],
];

const FAIR: readonly Row[] = [
  [
    'a class that changes its family forgets who entered last',
    `  if F.joinClass(u) == kind then lasts[kind] = last end\n`,
    `  F.joinClass(u)\n`,
  ],
  ['users without a record stand among those with one', `F.needsRecord(u) and 'o' or 'p'`, `'o'`],
  [
    'seats begin anew in each family',
    `    if not F.isKindUsed(classes, kind) then queue.lasts[kind] = nil end\n`,
    `    queue.lasts[kind] = nil\n`,
  ],
];

const HOT_LEASES: readonly Row[] = [
  [
    'leases that are dealt out are never looked at',
    `  if known and till >= known then return end\n`,
    `  do return end\n`,
  ],
  [
    'the end of leases that are dealt out is not told',
    `  if till < H.started then H.started = till end\n  local known`,
    `  local known`,
  ],
  [
    'a lease that ends before the others of its worker is not looked for in time',
    `  if known and till >= known then return end\n`,
    `  if known then return end\n`,
  ],
  [
    'a worker with leases is taken for one without',
    `  if redis.call('EXISTS', K.hot(worker)) == 0 then F.restWorker(worker) end\n`,
    `  F.restWorker(worker)\n`,
  ],
  [
    'a request sent again is given leases of any step',
    `fits = t and t.state == 'started' and t.step == step`,
    `fits = t and t.state == 'started'`,
  ],
  [
    'a request sent again is answered in the order of ids',
    `return a.stamp < b.stamp`,
    `return a.id < b.id`,
  ],
];

const USUAL: readonly Row[] = [
  [
    'usual: a lease of another token is settled',
    `          or string.sub(packed, AT.lease.rest) ~= queueName .. tail then return false end\n`,
    `          then return end\n`,
    'usual-step',
  ],
  [
    'usual: a task that others depend on ends unheard',
    `    if Settle.isReadBy(ears, at_) then return false, leases, ears end\n`,
    ``,
    'usual-step',
  ],
  [
    'usual: a channel is not told of an end',
    `  if ears then Settle.notify(ears, ids, ids + 1, ids + n, n) end\n`,
    ``,
    'usual-step',
  ],
  [
    'usual: a request that is sent again leases anew',
    ` or worker.request == request then return false end\n`,
    ` then return false end\n`,
    'usual-step',
  ],
  [
    'usual: maintenance that is due waits',
    `C.upkeep <= now or C.due <= now or H.started <= now or C.idle > 0`,
    `C.idle > 0`,
    'usual-step',
  ],
  [
    'usual: settings of a queue are not looked at',
    `    if not LEASE_SETTINGS[field] then return false end\n`,
    ``,
    'usual-step',
  ],
  [
    'usual: a lease does not say what its queue says of it',
    `    if queue.hasSettings then settings = Lease.settings({ { queue = queue } }) end\n`,
    ``,
    'usual-step',
  ],
  [
    'usual: the lease of a queue ends when the request says',
    `now + (queue.config.leaseMs or spec.leaseMs)`,
    `now + spec.leaseMs`,
    'usual-step',
  ],
  [
    'usual: a user with a record is passed over',
    ` (turns.count < n or turns.isOther) then return nil, leases, ears end\n`,
    ` turns.count == 0 then return nil, leases, ears end\n`,
    'usual-step',
  ],
  [
    'usual: nobody is woken for work that is left',
    `n > 0 and (queue.runnable > n or string.find`,
    `n > 0 and (string.find`,
    'usual-step',
  ],
  [
    'usual: a task of a user with a record is stored as if it had none',
    ` and not Store.isOther(queue, user)\n`,
    `\n`,
    'usual-step',
  ],
  [
    'usual: a user that comes joins no class',
    ` == n then Store.join(queue, user) end\n`,
    ` == 0 then Store.join(queue, user) end\n`,
    'usual-step',
  ],
  [
    'usual: a stored task is written again',
    `Store.textOf(ARGV[6])) == 0 then return false end\n`,
    `Store.textOf(ARGV[6])) == 2 then return false end\n`,
    'usual-step',
  ],
];

/** What a step remembers for the next one. */
const KEPT: readonly Row[] = [
  [
    'a clock that was set back is not seen by a usual step',
    `  if C.steps == 0 or F.hasJumped() then return F.readAll() end\n`,
    ``,
  ],
];

export const STRAIGHT_MUTANTS: readonly Mutant[] = [
  ...of('turns/deal', DEAL),
  ...of('steps/dispatch', START),
  ...of('steps/usual', USUAL),
  ...of('base/time', KEPT),
  ...of('steps/settle-many', SETTLE_MANY),
  ...of('steps/store-many', STORE_MANY),
  ...of('steps/step', STEP),
  ...of('turns/fair', FAIR),
  ...of('steps/hot-leases', HOT_LEASES),
];

function of(file: string, rows: readonly Row[]): readonly Mutant[] {
  return rows.map(([name, find, replace, first]) => ({
    name: `Lua, straight: ${name}`,
    file: `${LUA}/${file}.lua`,
    find,
    replace,
    ...(first === undefined ? {} : { first }),
  }));
}
