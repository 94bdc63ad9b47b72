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
    `if not head[1] or now - head[2] > LIMIT.staleWaitMs then return end`,
    `if not head[1] then return end`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'to a worker with lists',
    `or not Line.stands(worker.line) or worker.scope then`,
    `or not Line.stands(worker.line) then`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'for nothing',
    `  Fluid.advance(queue, 1, USUAL.weight)\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'for as long as any lease',
    `local till = now + math.min(leaseMs, LIMIT.handMs)`,
    `local till = now + leaseMs`,
  ],
  [
    'src/backends/redis/lua/lib/steps/hand.lua',
    'and taken back under any token',
    `if t and t.state == 'started' and t.isHanded and t.token == token then`,
    `if t then`,
  ],
  [
    'src/backends/redis/lua/lib/time/tick.lua',
    'and counted as lost',
    `  if t.isHanded and not t.canceling then return F.comeBack(t, u, 0) end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/tasks/extend.lua',
    'and told as unknown',
    `asked[t.id] ~= t.token and not t.isHanded`,
    `asked[t.id] ~= t.token`,
  ],
  [
    'src/backends/redis/lua/tasks/extend.lua',
    'and never confirmed',
    `t.leaseUntil, t.isHanded = now + leaseMs, false`,
    `t.leaseUntil = now + leaseMs`,
  ],
  [
    'src/backends/redis/lua/lib/steps/lease-step.lua',
    'and left behind by the next lease',
    `  if worker.line == LINE.handed and redis.call('EXISTS', K.wake(worker.id)) == 1 then return false end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/workers/unregister.lua',
    'and left by its worker',
    `if line == LINE.handed then Hand.takeBack(worker) end\n`,
    ``,
  ],
  [
    'src/backends/redis/lua/tasks/confirm.lua',
    'and confirmed under any token',
    `if not packed or string.sub(packed, -#token - 1) ~= '\\0' .. token\n  or`,
    `if not packed or`,
  ],
  [
    'src/worker/lease-loop.ts',
    'twice',
    `if (lease.leasedAt < since || leased.has(lease)) continue;`,
    `if (lease.leasedAt < since) continue;`,
  ],
  [
    'src/worker/lease-loop.ts',
    'though it was long on its way',
    `if (lease.leasedAt < since || leased.has(lease)) continue;`,
    `if (leased.has(lease)) continue;`,
  ],
  [
    'src/worker/lease-loop.ts',
    'beyond the slots',
    `if (this.#freeSlots > 0) this.#confirm(lease);\n      else `,
    `this.#confirm(lease);\n      if (false) `,
  ],
  [
    'src/worker/lease-loop.ts',
    'and never said to be held',
    `    backend.workers.confirm(worker, lease).then((isLeased) => isLeased || late(), late);\n`,
    ``,
  ],
];

export const HAND_MUTANTS: readonly Mutant[] = ROWS.map(([file, name, find, replace]) => ({
  name: `handed over ${name}`,
  file,
  find,
  replace,
}));
