/** Mutants of what a queue says of attempts and leases, and of whom a step looks at by the way. */
import type { Mutant } from '../mutants.ts';

export const QUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: 'a lease lasts as the worker says, whatever its queue does',
    file: 'src/backends/memory/lease.ts',
    find: `queue.settings.leaseMs ?? request.leaseMs`,
    replace: `request.leaseMs`,
  },
  {
    name: 'a worker hears of a queue only that it has retries',
    file: 'src/backends/memory/lease.ts',
    find: `retries === undefined && timeoutMs === undefined`,
    replace: `retries === undefined`,
  },
  {
    name: 'Lua: a lease lasts as the worker says, whatever its queue does',
    file: 'src/backends/redis/lua/lib/records/lease.lua',
    find: `(queue.config.leaseMs or request.leaseMs)`,
    replace: `request.leaseMs`,
  },
  {
    name: 'Lua: a worker hears of a queue only that it has retries',
    file: 'src/backends/redis/lua/lib/steps/lease-step.lua',
    find: `if config.leaseMs or config.retries or config.timeoutMs then`,
    replace: `if config.leaseMs or config.retries then`,
  },
  {
    name: 'Lua: whoever goes on or off a list is not looked at',
    file: 'src/backends/redis/lua/lib/records/lists.lua',
    find: `  F.reindex(u)\n`,
    replace: '',
  },
  {
    name: 'Lua: a worker that is never silent for a second is not heard',
    file: 'src/backends/redis/lua/lib/turns/seen.lua',
    find: `math.floor(now / 1000) ~= math.floor(worker.seen / 1000)`,
    replace: `now - worker.seen > 1000`,
  },
  {
    name: 'a debt in time outlives the work of its queue',
    file: 'src/backends/memory/step-end.ts',
    find: `counts.started > 0) return;`,
    replace: `counts.started > 0 || clock.v === 0) return;`,
  },
  {
    name: 'Lua: a debt in time outlives the work of its queue',
    file: 'src/backends/redis/lua/lib/steps/step.lua',
    find: `queue.counts.started > 0 then return end`,
    replace: `queue.counts.started > 0 or queue.virtual == 0 then return end`,
  },
  {
    name: 'engine: the queue goes before the definition',
    file: 'src/attempt/attempt-plan.ts',
    find: `options.retries === undefined ? attemptSettings.retries : undefined`,
    replace: `attemptSettings.retries`,
    first: 'worker/queue-settings.test.ts',
  },
  {
    name: 'engine: the defaults go before the queue',
    file: 'src/attempt/attempt-plan.ts',
    find: `timeoutMs: timeoutMs ?? plan.timeoutMs,\n  };\n}\n\nfunction joined`,
    replace: `timeoutMs: plan.timeoutMs,\n  };\n}\n\nfunction joined`,
    first: 'worker/queue-settings.test.ts',
  },
  {
    name: 'engine: nodes of a driven run do not hear what the queue says',
    file: 'src/runs/driven/producer.ts',
    find: `NO_OPTIONS, holder.lease.attemptSettings`,
    replace: `NO_OPTIONS, undefined`,
    first: 'worker/queue-settings.test.ts',
  },
  {
    name: 'engine: leases of all lengths are extended as the shortest one',
    file: 'src/worker/upkeep.ts',
    find: `.filter(({ lease }) => lengthOf(lease) === leaseMs)`,
    replace: '',
    first: 'worker/queue-settings.test.ts',
  },
];
