/** Mutants of what Redis does for many tasks at once that are not as most are. */
import type { Mutant } from '../mutants.ts';

const LUA = 'src/backends/redis/lua/lib';

/** Name, what is found, and what stands there instead. */
type Row = readonly [name: string, find: string, replace: string];

const DEAL_RICH: readonly Row[] = [
  [
    'turns whose tasks were put back stay charged',
    `dispatched, odd = Dispatch.turns(queue, taken.stop - 1, turns), taken.isOdd`,
    `dispatched.count, odd = taken.stop - 1, taken.isOdd`,
  ],
  ['turns are dealt out by what is stored, not by what the step has done', `  Step.rest()\n`, ``],
  [
    'many turns of a user go past its maxRunning',
    `math.min(u.queued, set.maxRunning - u.running, most + 1)`,
    `math.min(u.queued, most + 1)`,
  ],
  [
    'many turns of a user are written past its rate',
    `    if Rate.allowedAt(set.rate, Rate.boundedTat(set.rate, tat, now)) > now then return false end\n`,
    ``,
  ],
  [
    'many turns of a user leave as many that may start',
    `u.queue.runnable + headroom - u.headroom`,
    `u.queue.runnable`,
  ],
  ['many turns of a user are not running', `running = running + n end`, `running = running end`],
  [
    'many turns of a user leave it a record that it does not need',
    `(u.isRecorded or cnt and queued > cnt[3])`,
    `true`,
  ],
  [
    'many turns of a user go past its rate',
    `  if set.rate then headroom = Dispatch.startsOf(u, headroom) end\n`,
    ``,
  ],
  ['many turns of a user spend nothing of its rate', `        u.tat = tat\n`, ``],
  [
    'the lease of a queue ends when the request says',
    `turns.count, now + (queue.config.leaseMs or request.leaseMs)`,
    `turns.count, now + request.leaseMs`,
  ],
  [
    'a long payload stays behind',
    `    if request.isLong then Dispatch.addLong(batch, before) end\n`,
    ``,
  ],
  [
    'many turns of a user are all of level 3',
    `if plan and plan.cnt then`,
    `if plan and false then`,
  ],
  [
    'a task is started with many others after its time to start',
    `not (x and (x.startUntil or x.startWithin or x.ownerRun and Park.isAbandoned(t) or Pause.runOf(t)))`,
    `not (x and x.ownerRun and Park.isAbandoned(t))`,
  ],
  [
    'a task of a run that has ended is started with many others',
    `not (x and (x.startUntil or x.startWithin or x.ownerRun and Park.isAbandoned(t) or Pause.runOf(t)))`,
    `not (x and x.startUntil)`,
  ],
  ['a last chance is taken beside others', `    and t.losses < LIMIT.maxLost - 1 and `, `    and `],
  ['a token of many is less than the one before', `F.tokenNumber(t.token) < micros`, `true`],
  [
    'who has had all its turns stays ready',
    `      if turns.left[i] == 0 then u.ready, u.class = false, false end\n`,
    ``,
  ],
  [
    'leases of users with a record are not counted when they end',
    `(u and u.isCounted and FLAG.lease.counted or 0)`,
    `0`,
  ],
  ['a lease of many tells nothing of facts', `    if t or long then `, `    if long then `],
];

const SETTLE_RICH: readonly Row[] = [
  ['many settle what another lease has', `string.sub(packed, -#tail) ~= tail`, `false`],
  [
    'many settle a task that was settled in this call',
    `tasks[id] ~= nil or call.done[id] or seen[id] or`,
    `tasks[id] ~= nil or seen[id] or`,
  ],
  ['many finish although a cancel was asked for', `if not t or t.canceling then`, `if not t then`],
  [
    'many end at once in a queue that charges time',
    `    if F.queueOf(t.queueName).timed then break end\n`,
    ``,
  ],
  [
    'many that depended on others read them for ever',
    `if x and (x.waitsOn or x.suspendedFor or`,
    `if x and (x.suspendedFor or`,
  ],
  [
    'many that had a key hold it',
    `x.suspendedFor or x.keyName or x.leastDeadline`,
    `x.suspendedFor or x.leastDeadline`,
  ],
  [
    'many with facts end, and their dependents do not hear',
    `  if call.ears then Cascade.stand(`,
    `  if false then Cascade.stand(`,
  ],
  ['many end, and their dependents do not hear', `  Cascade.stand(ids, ears, i - 1, stamp)\n`, ``],
  [
    'ends of many do not tell that others read them',
    `string.char((FINISHED + FLAG.ending.awaited))`,
    `string.char(FINISHED)`,
  ],
  [
    'many end, and run for their users',
    `u.running, u.live = u.running - n, u.live - n`,
    `u.live = u.live - n`,
  ],
  [
    'many end, and nobody may start instead',
    `u.live - n\n  F.reindex(u)\n`,
    `u.live - n\n  F.touch(u)\n`,
  ],
  [
    'many that had failed before succeed without an attempt',
    `    if t.hasAttempts then F.pushAttempt(t, 'succeeded', 'finish') end\n`,
    ``,
  ],
];

const RETRY_MANY: readonly Row[] = [
  [
    'many are tried again that were settled in this call',
    `or tasks[id] ~= nil or done[id] or seen[id] then`,
    `or tasks[id] ~= nil or seen[id] then`,
  ],
  [
    'many are tried again although a cancel was asked for',
    `  if flags % (2 * FLAG.facts.canceling) >= FLAG.facts.canceling then return end\n`,
    ``,
  ],
  ['many go back to the head of the line', `if head and place < head then`, `if head then`],
  [
    'who had nothing in line does not join',
    `  if head == INF then Store.join(queue, name) end\n`,
    ``,
  ],
  [
    'many that wait before they are tried again do not',
    `ARGV[delays + at_] ~= '0'`,
    `ARGV[delays + at_] == ''`,
  ],
  [
    'many of another level go back to the middle',
    `if level ~= (BYTE.zero + USUAL.level) then`,
    `if not level then`,
  ],
  [
    'many are tried again by users with a record',
    `(isOther and Store.isOther(queue, name))`,
    `false`,
  ],
  ['many are tried again for ever', `failures + 1, losses`, `failures, losses`],
  [
    'an attempt is told as that of another that failed less often',
    ` or row.failures ~= failures then`,
    ` then`,
  ],
  [
    'the long error of an attempt stays with many that are tried again',
    `(isLong and row.longHead or row.head)`,
    `row.head`,
  ],
];

const COUNT_DOWN: readonly Row[] = [
  [
    'a task that the step has read finishes as its lease said',
    `return tasks[ARGV[ids + i]] or ears and`,
    `return ears and`,
  ],
  [
    'many tasks of a user finish, and one is counted',
    `Settle.countDown(queue, name, counts[name])`,
    `Settle.countDown(queue, name, 1)`,
  ],
  [
    'whoever waits for its own limit is not ready when many have ended',
    `flags >= FLAG.user.throttled or headroom ~= a + b + c + d + e + f then`,
    `flags >= FLAG.user.throttled then`,
  ],
  [
    'many end, and are counted as living',
    `f, live - n, running - n, tat))`,
    `f, live, running - n, tat))`,
  ],
];

const CASCADE_MANY: readonly Row[] = [
  ['many tell more than may be told', `    if budget < 0 then break end\n`, ``],
  ['many are read by nobody', `readers, last[id] = readers + 1, i`, `last[id] = i`],
  [
    'many are read by who has ended meanwhile',
    `  return t and not F.isEnd(t.state)\n`,
    `  return t and true\n`,
  ],
  ['nobody goes on when many have ended', `    if t then Cascade.free({ at = now }, t) end\n`, ``],
  ['those that go on do so by the first end', `if last[id] == i then`, `if upstreams[id] then`],
  [
    'those whose dependents are left do not say so',
    `  t.left, t.inCascade = true, true\n`,
    `  t.left = true\n`,
  ],
];

const PROMOTE: readonly Row[] = [
  ['many that are due have no place', `struct.pack('<d', stamp + i)`, `struct.pack('<d', 0)`],
  [
    'many that are due are scheduled still',
    `  redis.call('ZREM', key, unpack(members, 1, n))\n`,
    ``,
  ],
  [
    'many that were started before lose their place',
    `string.sub(packed, 1, END.facts.releases) ~= SCHEDULED`,
    `false`,
  ],
  ['many that wait for others go on when they are due', `or #packed > SIZE.facts`, ``],
];

export const ODD_MUTANTS: readonly Mutant[] = [
  ...of('steps/dispatch-rich', DEAL_RICH),
  ...of('steps/settle-rich', [...SETTLE_RICH, ...COUNT_DOWN]),
  ...of('steps/retry-many', RETRY_MANY),
  ...of('ends/cascade-many', CASCADE_MANY),
  ...of('time/tick', PROMOTE),
];

function of(file: string, rows: readonly Row[]): readonly Mutant[] {
  return rows.map(([name, find, replace]) => ({
    name: `Lua, odd: ${name}`,
    file: `${LUA}/${file}.lua`,
    find,
    replace,
  }));
}
