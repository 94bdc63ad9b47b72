-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/lease-step.lua
-- Returns  as in lib/lease-step.lua
-- Cost     O(leases × log users)
-- @include lib/state.lua
-- @include lib/hot.lua
-- @include lib/choose.lua
-- @include lib/heads.lua
-- @include lib/seen.lua
-- @include lib/terms.lua
-- @include lib/lease.lua
-- @include lib/upstreams.lua
-- @include lib/lease-step.lua

local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
redis.call('DEL', K.oom())
F.seen(worker)
return F.leaseStep(2, worker)
