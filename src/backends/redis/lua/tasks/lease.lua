-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/lease-step.lua
-- Returns  as in lib/lease-step.lua
-- Cost     O(leases × log users)
-- @include lib/state.lua
-- @include lib/hot.lua
-- @include lib/hand.lua
-- @include lib/choose.lua
-- @include lib/heads.lua
-- @include lib/seen.lua
-- @include lib/lease.lua
-- @include lib/upstreams.lua
-- @include lib/lease-step.lua
-- @include lib/dispatch.lua
-- @include lib/dispatch-rich.lua
-- @include lib/skip.lua
-- @include lib/bring-back.lua
-- @include lib/usual.lua

local spec = F.remembered(ARGV[5], Lease.specOf)
F.beginUsual(spec.queues[1] or '', ARGV[1])
if not whole then
  local reply = Usual.step(NOTHING, spec)
  if reply then return reply end
end
F.beginStep()
local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
local shares = Lease.shares(2, spec, worker)
if not whole and not Lease.isUsual(2, spec, worker, shares) then F.readAll() end
redis.call('DEL', K.oom())
F.seen(worker)
return F.leaseStep(2, spec, worker, shares, {})
