-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/steps/lease-step.lua
-- Returns  as in lib/steps/lease-step.lua
-- Cost     O(leases × log users)

local spec = F.remembered(ARGV[5], Lease.specOf)
F.beginUsual(spec.queues[1] or '', ARGV[1])
if not whole then
  local reply = Usual.step(NOTHING, spec)
  if reply then return reply end
end
F.readAll()
local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
local shares = Lease.shares(2, spec, worker)
redis.call('DEL', K.oom())
F.seen(worker)
return F.leaseStep(2, spec, worker, shares, {})
