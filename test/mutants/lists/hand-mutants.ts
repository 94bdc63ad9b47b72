/** Mutants of a lone task that is handed to a worker which waits. */
import type { Mutant } from '../mutants.ts';

/** File, name, what is found, and what stands there instead. */
type Row = readonly [file: string, name: string, find: string, replace: string];

const ROWS: readonly Row[] = [
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'while others are ready',
    `return queue.ready == 0 and queue.parked`,
    `return queue.parked`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'though the queue asks for more',
    ` and not next(queue.config)\n`,
    `\n`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'to a worker that was silent for long',
    `return head[1] and now - head[2] <= LIMIT.staleWaitMs and head[1] or nil`,
    `return head[1]`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'to a worker with lists',
    `not Line.stands(worker.line) or worker.scope then`,
    `not Line.stands(worker.line) then`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'for nothing',
    `  Fluid.advance(queue, 1, USUAL.weight)\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and looked for when its lease ends',
    `LIMIT.handMs)\n  redis.call('HSET'`,
    `INF)\n  redis.call('HSET'`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and said to be fetched',
    `  redis.call('LPOP', key)\n  return false\n`,
    `  return true\n`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and left in the list by a sweep',
    `  redis.call('LPOP', key)\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and found in place of another one',
    `if string.sub(redis.call('LINDEX', key, 0) or '', 1, #head) ~= head then return true end`,
    `if not redis.call('LINDEX', key, 0) then return true end`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and left where it is when the worker asks anew',
    `  for _, t in ipairs(F.latestLeases(worker.id, worker.last)) do F.comeBack(t, F.ownerOf(t), 0) end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and got by any worker that says so',
    `return worker.request == got end`,
    `return got ~= '' end`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hot-leases.lua',
    'and never looked for by a sweep',
    `return isHanded and math.min(till, leasedAt + LIMIT.handMs) or till`,
    `return till`,
  ],
  [
    'src/backends/redis/lua/lib/time/tick.lua',
    'and counted as lost',
    `    if not isFetched and not t.canceling then return F.comeBack(t, u, 0) end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/time/tick.lua',
    'and taken away though it was fetched',
    `if isFetched and t.leaseUntil > now then`,
    `if false then`,
  ],
  [
    'src/backends/redis/lua/lib/time/tick.lua',
    'and forgotten once it was looked for',
    `math.min(of.least, Tick.lose(t, F.ownerOf(t)) or INF)`,
    `math.min(of.least, Tick.lose(t, F.ownerOf(t)) and INF or INF)`,
  ],
  [
    'src/backends/redis/lua/tasks/extend.lua',
    'and told as unknown',
    `asked[t.id] ~= t.token and not t.isHanded`,
    `asked[t.id] ~= t.token`,
  ],
  [
    'src/backends/redis/lua/lib/steps/lease-step.lua',
    'and taken back though its worker has got it',
    `    elseif not Hand.hasGot(worker, Lease.gotOf(wait)) then\n`,
    `    else\n`,
  ],
  [
    'src/backends/redis/lua/lib/steps/usual.lua',
    'and left behind by a worker that finds nothing',
    `  if worker.line == LINE.handed and not Hand.hasGot(worker, Lease.gotOf(wait)) then return end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/steps/usual.lua',
    'though others must have the alarm',
    `if not taker or not isLast then return false end`,
    `if not taker then return false end`,
  ],
  [
    'src/backends/redis/lua/workers/unregister.lua',
    'and left by its worker',
    `if line == LINE.handed and not Hand.hasGot(known, ARGV[3]) then Hand.takeBack(known) end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/workers/register.lua',
    'and taken from one that may have died of it',
    `  if redis.call('EXISTS', K.wake(worker)) == 1 then Hand.takeBack(known) end\n`,
    `  Hand.takeBack(known)\n`,
  ],
  [
    'src/backends/redis/lua/workers/register.lua',
    'and of a worker that begins anew',
    `  known.line = false\nend`,
    `end`,
  ],
  ['src/worker/lease-loop.ts', 'twice', `      if (leased.has(lease)) continue;\n`, ``],
  [
    'src/worker/lease-loop.ts',
    'beyond the slots',
    `if (this.#freeSlots > 0) this.#take([lease]);\n      else `,
    `this.#take([lease]);\n      if (false) `,
  ],
  [
    'src/backends/redis/workers.ts',
    'and run though it was taken back',
    `if (requestOf(handed.token) === this.#request) this.#handed`,
    `this.#handed`,
  ],
  [
    'src/backends/redis/workers.ts',
    'and never said to have come',
    `          this.got = this.#request;\n`,
    ``,
  ],
  [
    'src/backends/redis/workers.ts',
    'and forgotten with a request that was lost',
    `    this.#request = requestId;\n    return this.got;`,
    `    this.#request = requestId;\n    const { got } = this;\n    this.got = '';\n    return got;`,
  ],
];

export const HAND_MUTANTS: readonly Mutant[] = ROWS.map(([file, name, find, replace]) => ({
  name: `handed over ${name}`,
  file,
  find,
  replace,
}));
